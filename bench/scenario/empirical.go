package scenario

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/goccy/go-yaml/ast"

	"pollbench/bench/clock"
)

const (
	maxMeasured = 100_000 // delays of a file: every result folder carries them
	maxComplete = 5       // wrong lines that are reported, before they are only counted
)

// empirical reads the delays of a file. All its problems stand where the scenario names the file.
func (d *decoder) empirical(into *Distribution) reader {
	return func(path string, n ast.Node) {
		name, err := text(n)
		if err != nil {
			d.fail(path, start(n), "%s%v", prefix(path), err)
			return
		}
		source, err := d.open(name)
		if err != nil {
			d.fail(path, start(n), "%s%v", prefix(path), err)
			return
		}
		delays, problems := measured(source)
		for _, p := range problems {
			d.fail(path, start(n), "%s%s %s", prefix(path), quote(name), p)
		}
		into.Empirical = delays
	}
}

func (d *decoder) open(name string) ([]byte, error) {
	name = strings.TrimPrefix(name, "./")
	if !fs.ValidPath(name) || name == "." {
		return nil, fmt.Errorf("%s is not a file beside the scenario's or below: no absolute path, no \"..\"", quote(name))
	}
	if d.files == nil {
		return nil, fmt.Errorf("%s cannot be read: a scenario that does not come from a file has none beside it", quote(name))
	}
	source, err := d.files(name)
	if failed, ok := errors.AsType[*fs.PathError](err); ok {
		err = failed.Err // the rest of it is the name again
	}
	if err != nil {
		return nil, fmt.Errorf("%s cannot be read: %s", quote(name), printable(err.Error()))
	}
	return source, nil
}

// measured reads the first column of a CSV file and says what is wrong, line by line.
func measured(source []byte) (delays []clock.Seconds, problems []string) {
	// UTF-16 of plain text is UTF-8 with zeros, if it lacks its mark.
	if !utf8.Valid(source) || bytes.IndexByte(source, 0) >= 0 {
		return nil, []string{"is not UTF-8: save the file as UTF-8"}
	}
	lines := csv.NewReader(bytes.NewReader(bytes.TrimPrefix(source, []byte("\ufeff"))))
	lines.FieldsPerRecord = -1
	lines.Comment = '#'
	lines.ReuseRecord = true
	wrong, first := 0, true
	columns := 1 // that are known to be there
	complain := func(line int, what any) {
		if wrong++; wrong <= maxComplete {
			problems = append(problems, fmt.Sprintf("line %d: %v", line, what))
		}
	}
	for {
		record, err := lines.Read()
		if err == io.EOF {
			break
		}
		if failed, ok := errors.AsType[*csv.ParseError](err); ok {
			complain(failed.Line, failed.Err)
			break // a quote that is not closed has swallowed what follows
		}
		cell := strings.TrimSpace(record[0])
		if cell == "" && len(record) == 1 {
			continue
		}
		heading := first && isHeading(cell)
		first = false
		if heading {
			columns = len(record)
			continue
		}
		line, _ := lines.FieldPos(0)
		if len(record) > columns && decimalComma(cell, record[1]) {
			complain(line, fmt.Sprintf("%s may be one number or two: write %s.%s, or give the columns a heading", quote(cell+","+record[1]), cell, record[1]))
			continue
		}
		delay, err := parseMeasured(cell)
		if err != nil {
			complain(line, err)
			continue
		}
		if len(delays) == maxMeasured {
			complain(line, fmt.Sprintf("more than %d delays: take a sample of them", maxMeasured))
			break
		}
		delays = append(delays, delay)
	}
	switch {
	case wrong > maxComplete:
		problems = append(problems, fmt.Sprintf("has %d more lines that are wrong", wrong-maxComplete))
	case wrong == 0 && len(delays) == 0:
		problems = append(problems, "holds no delay: give it one a line, such as 1.5s")
	}
	return delays, problems
}

// decimalComma tells whether two cells may be the halves of one delay, which half of the world writes with a comma.
func decimalComma(whole, rest string) bool {
	return bareWhole.MatchString(whole) && bareRest.MatchString(rest)
}

var (
	bareWhole = regexp.MustCompile(`^[+-]?\d+$`)
	bareRest  = regexp.MustCompile(`^\d+(h|m|s|ms|us|µs|ns)?$`)
)

// isHeading tells a column's name from a delay, also from one that is written wrongly. A semicolon shows a file that is not separated by
// commas, whose decimals may be: its 1,5 would be read as 1.
func isHeading(cell string) bool {
	return !strings.Contains(cell, ";") && strings.IndexAny(cell, "0123456789.+-") != 0
}

func parseMeasured(cell string) (delay clock.Seconds, err error) {
	seconds, err := strconv.ParseFloat(cell, 64)
	switch {
	case err != nil:
		delay.Duration, err = parseDuration(cell)
	case math.Abs(seconds) <= MaxDelay: // else it might not fit a duration
		delay.Duration = time.Duration(math.Round(seconds * 1e9))
	}
	if err == nil && !validDelay(delay.Duration) {
		err = fmt.Errorf("%s: %s", quote(cell), delayLimits)
	}
	return delay, err
}

package scenario

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml/ast"

	"pollbench/bench/clock"
)

// decoder reads a syntax tree. Its readers report what is wrong and go on, so that one pass finds every problem.
type decoder struct {
	collector
	files Files
}

// reader reads the value of one path.
type reader func(path string, n ast.Node)

// field is one that a mapping may have.
type field struct {
	name string
	need need
	read reader
}

type need bool

const (
	required need = true
	optional need = false
)

// wrong is the message for a value of another kind than belongs there.
func wrong(n ast.Node, want string) error {
	return fmt.Errorf("%s where %s belongs", kind(n), want)
}

// mapping reads a mapping of the given fields and records where each value stands. It returns nil if n is none, else the keys that are there.
func (d *decoder) mapping(path string, n ast.Node, fields []field, hint func(key string) string) map[string]ast.Node {
	var names []string
	for _, f := range fields {
		names = append(names, f.name)
	}
	m, ok := n.(*ast.MappingNode)
	if !ok {
		d.fail(path, start(n), "%s%v", prefix(path), wrong(n, "a mapping with the fields "+strings.Join(names, ", ")))
		return nil
	}
	seen := map[string]ast.Node{}
	for _, v := range m.Values {
		name := v.Key.GetToken().Value
		if _, ok := v.Key.(*ast.StringNode); !ok {
			d.note(start(v.Key), "%s is no field: merge keys, tags and the like are not supported, valid are %s", quote(name), strings.Join(names, ", "))
			continue
		}
		if _, twice := seen[name]; twice {
			d.note(start(v.Key), "%s is there twice: remove one", quote(name))
			continue
		}
		seen[name] = v.Value
		d.field(path, v, fields, hint)
	}
	for _, f := range fields {
		if _, there := seen[f.name]; f.need == required && !there {
			d.fail(key(path, f.name), start(n), "%s lacks the field %q", subject(path), f.name)
		}
	}
	return seen
}

// field reads one entry of a mapping by the field of its name. The hint, if any, knows of slips that look like an unknown field.
func (d *decoder) field(path string, v *ast.MappingValueNode, fields []field, hint func(key string) string) {
	name := v.Key.GetToken().Value
	var names []string
	for _, f := range fields {
		if f.name == name {
			d.places[key(path, name)] = start(v.Value)
			f.read(key(path, name), v.Value)
			return
		}
		names = append(names, f.name)
	}
	message := unknown("field", name, names)
	if hint != nil && hint(name) != "" {
		message = hint(name)
	}
	d.note(start(v.Key), "%s", message)
}

// subject is what a message calls the value of a path, and prefix opens a message with it.
func subject(path string) string {
	if path == "" {
		return "the scenario"
	}
	return path[strings.LastIndex(path, ".")+1:]
}

func prefix(path string) string { return subject(path) + ": " }

// value makes the reader of a scalar.
func value[T any](d *decoder, into *T, parse func(ast.Node) (T, error)) reader {
	return func(path string, n ast.Node) {
		v, err := parse(n)
		if err != nil {
			d.fail(path, start(n), "%s%v", prefix(path), err)
			return
		}
		*into = v
	}
}

// list makes the reader of a list. An element that cannot be read still takes its place, so that paths keep their numbers.
func list[T any](d *decoder, into *[]T, want string, read func(path string, n ast.Node) T) reader {
	return func(path string, n ast.Node) {
		seq, ok := n.(*ast.SequenceNode)
		if !ok {
			d.fail(path, start(n), "%s%v", prefix(path), wrong(n, want))
			return
		}
		*into = nil
		for i, element := range seq.Values {
			at := item(path, i)
			d.places[at] = start(element)
			*into = append(*into, read(at, element))
		}
	}
}

// oneOrMore makes the reader of a list that may be written without brackets when it has a single element.
func oneOrMore[T any](d *decoder, into *[]T, what string, read func(path string, n ast.Node) T) reader {
	return func(path string, n ast.Node) {
		if _, ok := n.(*ast.SequenceNode); !ok {
			d.places[item(path, 0)] = start(n)
			*into = []T{read(item(path, 0), n)}
			return
		}
		list(d, into, "", read)(path, n)
		if len(*into) == 0 {
			d.fail(path, start(n), "no %s: give at least one, or leave the field out", what)
		}
	}
}

// oneOf reads a mapping of which exactly one field must be there, and returns those that are.
func (d *decoder) oneOf(path string, n ast.Node, fields []field, hint func(key string) string) (given []string) {
	seen := d.mapping(path, n, fields, hint)
	if seen == nil {
		return nil
	}
	var names []string
	for _, f := range fields {
		names = append(names, f.name)
		if _, there := seen[f.name]; there {
			given = append(given, f.name)
		}
	}
	switch len(given) {
	case 0:
		d.fail(path, start(n), "%sgive it one of %s", prefix(path), strings.Join(names, ", "))
	case 1:
	default:
		d.fail(path, start(n), "%s%s exclude each other: keep one", prefix(path), strings.Join(given, " and "))
	}
	return given
}

func text(n ast.Node) (string, error) {
	switch n := n.(type) {
	case *ast.StringNode:
		return n.Value, nil
	case *ast.LiteralNode:
		return strings.TrimSpace(n.Value.Value), nil
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode:
		return "", fmt.Errorf("%w: put it in quotes", wrong(n, "a text"))
	}
	return "", wrong(n, "a text")
}

func truth(n ast.Node) (bool, error) {
	if b, ok := n.(*ast.BoolNode); ok {
		return b.Value, nil
	}
	return false, wrong(n, "true or false")
}

// whole reads a number by the digits that the file shows, since the parser takes 010 for 8.
func whole(n ast.Node) (int, error) {
	if _, ok := n.(*ast.IntegerNode); !ok {
		return 0, wrong(n, "a whole number")
	}
	i, err := strconv.Atoi(n.GetToken().Value)
	if err != nil {
		return 0, wrong(n, "a whole number in plain decimal digits")
	}
	return i, nil
}

// natural reads a whole number of which zero stands for none, so that an explicit one is a slip.
func natural(n ast.Node) (int, error) {
	i, err := whole(n)
	if err == nil && i < 1 {
		err = wrong(n, "a whole number over 0")
	}
	return i, err
}

func seed(n ast.Node) (uint64, error) {
	u, err := strconv.ParseUint(n.GetToken().Value, 10, 64)
	if _, ok := n.(*ast.IntegerNode); !ok || err != nil {
		return 0, wrong(n, "a whole number from 0 to 18446744073709551615")
	}
	return u, nil
}

// duration reads a text such as 1.5s; of the numbers, 0 alone needs no unit.
func duration(n ast.Node) (clock.Seconds, error) {
	switch n.(type) {
	case *ast.StringNode, *ast.IntegerNode, *ast.FloatNode:
		d, err := parseDuration(n.GetToken().Value)
		return clock.Seconds{Duration: d}, err
	}
	return clock.Seconds{}, wrong(n, "a duration such as 10s or 500ms")
}

// positive reads a duration of which zero stands for none, so that an explicit one is a slip.
func positive(n ast.Node) (clock.Seconds, error) {
	s, err := duration(n)
	if err == nil && s.Duration <= 0 {
		err = fmt.Errorf("%v is not over 0: give more, or leave the field out", s)
	}
	return s, err
}

// number reads a plain decimal number, which is always finite.
func number(n ast.Node) (float64, error) {
	switch n.(type) {
	case *ast.IntegerNode, *ast.FloatNode:
		f, err := strconv.ParseFloat(n.GetToken().Value, 64)
		if f == 0 {
			f = 0 // not −0, which JSON would tell from 0
		}
		if err == nil {
			return f, nil
		}
	}
	return 0, wrong(n, "a decimal number")
}

var sizeForm = regexp.MustCompile(`^([0-9]+) ?(B|KiB|MiB)?$`)

// size reads a number of bytes, plain or with a unit.
func size(n ast.Node) (int, error) {
	switch n.(type) {
	case *ast.StringNode, *ast.IntegerNode:
		if bytes, ok := parseSize(n.GetToken().Value); ok {
			return bytes, nil
		}
	}
	return 0, wrong(n, "a size such as 200B, 2KiB or 1MiB")
}

func parseSize(text string) (bytes int, ok bool) {
	parts := sizeForm.FindStringSubmatch(text)
	if parts == nil {
		return 0, false
	}
	unit := map[string]int{"": 1, "B": 1, "KiB": 1 << 10, "MiB": 1 << 20}[parts[2]]
	number, err := strconv.Atoi(parts[1])
	if err != nil || number > math.MaxInt/unit {
		return 0, false
	}
	return number * unit, true
}

// rate reads bytes a second.
func rate(n ast.Node) (int, error) {
	if t, ok := n.(*ast.StringNode); ok {
		if bytes, err := ParseRate(t.Value); err == nil {
			return bytes, nil
		}
	}
	return 0, wrong(n, rateForms)
}

const rateForms = "a rate such as 256KiB/s or 1MiB/s, at least 1KiB/s,"

// ParseRate reads bytes per second, such as 256KiB/s. The least is 1 KiB/s: zero would stand for no limit.
func ParseRate(text string) (int, error) {
	amount, perSecond := strings.CutSuffix(text, "/s")
	if bytes, ok := parseSize(amount); ok && perSecond && bytes >= minBandwidth {
		return bytes, nil
	}
	return 0, fmt.Errorf("%s is not %s", quote(text), strings.TrimSuffix(rateForms, ","))
}

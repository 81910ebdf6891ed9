package analysis

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"pollbench/bench/record"
)

// mostCauses of failure are listed: the rarer ones tend to follow from these.
const mostCauses = 3

// causes says in a line each why trials failed, the most frequent first. Each trial counts once, by the first error that it recorded.
func causes(trials []record.Trial) []string {
	type cause struct {
		example string
		n       int
	}
	var all []*cause
	of := map[string]*cause{}
	for _, t := range trials {
		if t.Outcome == record.OK {
			continue
		}
		example := brief(cmp.Or(t.FirstError(), "no reason was recorded"))
		kind := unnumbered(example)
		if of[kind] == nil {
			of[kind] = &cause{example: example}
			all = append(all, of[kind])
		}
		of[kind].n++
	}
	slices.SortStableFunc(all, func(a, b *cause) int { return cmp.Compare(b.n, a.n) })
	var lines []string
	rest := 0
	for i, c := range all {
		if i < mostCauses {
			lines = append(lines, fmt.Sprintf("%d %s failed: %s", c.n, plural(c.n, "trial"), c.example))
		} else {
			rest += c.n
		}
	}
	if rest > 0 {
		lines = append(lines, fmt.Sprintf("%d %s failed for other reasons", rest, plural(rest, "trial")))
	}
	return lines
}

var (
	// page is an HTML document that came instead of an answer; its title says what it is.
	page  = regexp.MustCompile(`(?is)<(?:!doctype|html).*`)
	title = regexp.MustCompile(`(?is)<title>\s*(.*?)\s*</title>`)
	// long is what may be the id of a search: base64, or a UUID.
	long = regexp.MustCompile(`[A-Za-z0-9_-]{20,}=*`)
	// number is any, but the status of an answer is told from others.
	number = regexp.MustCompile(`status \d+|\d+`)
)

// brief makes an error one short line: of ids the first characters, of a page the title.
func brief(message string) string {
	const most, ofID = 140, 8
	message = page.ReplaceAllStringFunc(message, func(p string) string {
		if t := title.FindStringSubmatch(p); t != nil {
			return t[1]
		}
		return "a page of HTML"
	})
	message = long.ReplaceAllStringFunc(message, func(word string) string {
		if !strings.ContainsAny(word, "0123456789") { // the name of an exception
			return word
		}
		return word[:ofID] + "…"
	})
	line := []rune(strings.Join(strings.Fields(message), " "))
	if len(line) > most {
		return string(line[:most]) + "…"
	}
	return string(line)
}

// unnumbered is the same for errors that differ only by ids, ports and other numbers.
func unnumbered(line string) string {
	words := strings.FieldsFunc(line, func(r rune) bool { return strings.ContainsRune(" /:,;()\"", r) })
	for i, w := range words {
		if strings.HasSuffix(w, "…") {
			words[i] = "…"
		}
	}
	return number.ReplaceAllStringFunc(strings.Join(words, " "), func(n string) string {
		if strings.HasPrefix(n, "status") {
			return n
		}
		return ""
	})
}

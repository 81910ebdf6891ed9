package scenario

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Problem is one thing wrong with a scenario: where it stands, what is wrong and the way out.
type Problem struct {
	File string // as given to [Decode]; the scenario's name when [Scenario.With] found the problem
	// Line and Column count from 1, columns in characters. Both are 0 where there is no file to point into.
	Line, Column int
	Message      string
}

// String is FILE:LINE:COLUMN: MESSAGE, in the form that editors and terminals can jump to.
func (p Problem) String() string {
	if p.Line == 0 {
		return fmt.Sprintf("%s: %s", p.File, p.Message)
	}
	return fmt.Sprintf("%s:%d:%d: %s", p.File, p.Line, p.Column, p.Message)
}

// Problems is the error of [Decode] and [Scenario.With]: everything that is wrong, sorted by position, never empty.
type Problems []Problem

// Error prints one line for each problem.
func (ps Problems) Error() string {
	lines := make([]string, len(ps))
	for i, p := range ps {
		lines[i] = p.String()
	}
	return strings.Join(lines, "\n")
}

// place is a position in a file.
type place struct{ line, column int }

// collector gathers problems. A value is known by its path, such as dashboard.panels[0].count, which leads to its place.
type collector struct {
	file     string
	problems Problems
	places   map[string]place
	failed   []string // paths whose value could not be read
}

// note adds a problem that leaves every value usable.
func (c *collector) note(at place, format string, args ...any) {
	c.problems = append(c.problems, Problem{c.file, at.line, at.column, fmt.Sprintf(format, args...)})
}

// fail adds a problem and says that the value of this path is not what the author meant. Rules about it are then not judged: their
// complaints would be about our stand-in.
func (c *collector) fail(path string, at place, format string, args ...any) {
	c.note(at, format, args...)
	c.failed = append(c.failed, path)
}

// judge holds a scenario against the rules.
func (c *collector) judge(s Scenario) {
	for _, v := range violations(s) {
		if !slices.ContainsFunc(v.about, c.broken) {
			c.note(c.place(v.about[0]), "%s", v.message)
		}
	}
}

// broken tells whether the value of this path, a part of it or the whole that it belongs to could not be read.
func (c *collector) broken(path string) bool {
	return slices.ContainsFunc(c.failed, func(f string) bool { return within(path, f) || within(f, path) })
}

func within(path, whole string) bool {
	rest, ok := strings.CutPrefix(path, whole)
	return ok && (whole == "" || rest == "" || rest[0] == '.' || rest[0] == '[')
}

// place finds where a value stands. What the file leaves out stands where its nearest parent does.
func (c *collector) place(path string) place {
	for {
		at, ok := c.places[path]
		if ok || path == "" {
			return at
		}
		path = path[:max(0, strings.LastIndexAny(path, ".["))]
	}
}

// err is nil or the sorted [Problems].
func (c *collector) err() error {
	if len(c.problems) == 0 {
		return nil
	}
	slices.SortStableFunc(c.problems, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	return c.problems
}

// key and item extend a path.
func key(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

func item(path string, i int) string { return fmt.Sprintf("%s[%d]", path, i) }

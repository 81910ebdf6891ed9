package report

import (
	"strings"
	"unicode/utf8"
)

// table is rows of text under a header; the first column is aligned to the left, the others to the right.
type table struct {
	title  string
	header []string
	rows   [][]string
}

func (t *table) add(cells ...string) { t.rows = append(t.rows, cells) }

func (t table) widths() []int {
	widths := make([]int, len(t.header))
	for _, row := range append([][]string{t.header}, t.rows...) {
		for i, cell := range row {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	return widths
}

func (t table) text() string {
	var b strings.Builder
	widths := t.widths()
	for _, row := range append([][]string{t.header}, t.rows...) {
		var line strings.Builder
		for i, cell := range row {
			pad := strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell))
			if i == 0 {
				line.WriteString("  " + cell + pad)
			} else {
				line.WriteString("  " + pad + cell)
			}
		}
		b.WriteString(strings.TrimRight(line.String(), " ") + "\n")
	}
	return b.String()
}

func (t table) markdown() string {
	var b strings.Builder
	write := func(row []string) { b.WriteString("| " + strings.Join(row, " | ") + " |\n") }
	write(t.header)
	rule := make([]string, len(t.header))
	for i := range rule {
		rule[i] = "--:"
	}
	rule[0] = ":--"
	write(rule)
	for _, row := range t.rows {
		write(row)
	}
	return b.String()
}

package scenario

import (
	"fmt"
	"strconv"
	"strings"
)

// unknown says that a word is not among the valid ones, and names the one that was probably meant.
func unknown(what, word string, valid []string) string {
	guess := ""
	if near := Nearest(word, valid); near != "" {
		guess = fmt.Sprintf("did you mean %q? ", near)
	}
	return fmt.Sprintf("unknown %s %s: %svalid are %s", what, quote(word), guess, strings.Join(valid, ", "))
}

// Nearest is the valid word with the fewest edits, if they are few enough to be a slip: one in three letters. Empty: none is near.
func Nearest(word string, valid []string) string {
	if len(word) > 100 {
		return ""
	}
	best, fewest := "", len(word)/3+1
	for _, v := range valid {
		if n := edits(strings.ToLower(word), v); n < fewest {
			best, fewest = v, n
		}
	}
	return best
}

// edits is the Levenshtein distance, in bytes: our own words are ASCII.
func edits(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			diagonal, row[j+1] = row[j+1], min(row[j+1]+1, row[j]+1, diagonal+cost)
		}
	}
	return row[len(b)]
}

// quote shows what a file says: on one line, without control characters, and not all of it when it is long.
func quote(text string) string {
	const enough = 60
	if runes := []rune(text); len(runes) > enough {
		text = string(runes[:enough]) + "…"
	}
	return strconv.Quote(text)
}

package run

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	// instead is what stands where a secret was.
	instead = "(credentials)"
	// shortSecret is the length, in bytes, below which a secret is looked for as a whole word only: inside words it would be found by chance and half the text
	// would go. Elasticsearch's own users have passwords of at least so many.
	shortSecret = 6
	// cut marks where a text that was too long ends, here and in the packages that quote servers, perhaps amid a secret. What is left of that is known by
	// leastCut bytes: fewer tell nothing.
	cut      = "…"
	leastCut = 3
)

// redact takes the credentials out of what a server may have echoed, whole or cut off: the value of the header, what it holds decoded, and of that the password
// or the second half of the API key. The user's name and the API key's id are none.
func (t Target) redact(text string) string {
	if text == "" {
		return ""
	}
	for _, secret := range slices.Concat(t.Elasticsearch.secrets(), t.Dashboard.secrets()) {
		if len(secret) < shortSecret {
			text = replaceWord(text, secret)
		} else {
			text = strings.ReplaceAll(text, secret, instead)
		}
		if !strings.Contains(text, cut) {
			continue
		}
		for n := len(secret) - 1; n >= leastCut; n-- {
			text = strings.ReplaceAll(text, secret[:n]+cut, instead+cut)
		}
	}
	return text
}

// secrets are the texts that the credentials can be known by, the longest first, since one may hold another.
func (s Server) secrets() []string {
	_, encoded, _ := strings.Cut(s.Authorization, " ")
	unpadded := strings.TrimRight(encoded, "=")
	parts := []string{encoded, unpadded}
	if decoded, err := base64.RawStdEncoding.DecodeString(unpadded); err == nil && utf8.Valid(decoded) {
		parts = append(parts, string(decoded))
	}
	for _, part := range parts {
		if _, second, ok := strings.Cut(part, ":"); ok {
			parts = append(parts, second)
		}
	}
	for _, part := range parts { // as it is quoted on one line
		parts = append(parts, strings.Join(strings.Fields(part), " "))
	}
	var all []string
	for _, part := range parts {
		inJSON, _ := json.Marshal(part) // a text always can be
		for _, written := range []string{strconv.Quote(part), strconv.QuoteToASCII(part), string(inJSON)} {
			all = append(all, written[1:len(written)-1])
		}
		all = append(all, part)
	}
	all = slices.DeleteFunc(all, func(secret string) bool { return secret == "" })
	slices.SortFunc(all, func(a, b string) int { return cmp.Or(cmp.Compare(len(b), len(a)), cmp.Compare(a, b)) })
	return slices.Compact(all)
}

// replaceWord takes a secret out where neither letter nor digit stands beside it.
func replaceWord(text, secret string) string {
	var clean strings.Builder
	var done int
	for {
		at := strings.Index(text[done:], secret)
		if at < 0 {
			return clean.String() + text[done:]
		}
		begins, ends := done+at, done+at+len(secret)
		before, _ := utf8.DecodeLastRuneInString(text[:begins])
		after, _ := utf8.DecodeRuneInString(text[ends:])
		clean.WriteString(text[done:begins])
		if inWord(before) || inWord(after) {
			clean.WriteString(secret)
		} else {
			clean.WriteString(instead)
		}
		done = ends
	}
}

func inWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

// redacted is an error that tells no credentials.
type redacted struct {
	error
	text string
}

// Error implements error.
func (r redacted) Error() string { return r.text }

// Unwrap gives the error itself.
func (r redacted) Unwrap() error { return r.error }

func (t Target) redactError(err error) error {
	if err == nil {
		return nil
	}
	if text := t.redact(err.Error()); text != err.Error() {
		return redacted{err, text}
	}
	return err
}

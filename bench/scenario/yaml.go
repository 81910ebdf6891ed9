package scenario

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

// MaxSize bounds a file. The parser recurses and is quadratic in its depth: 32 KiB of opening brackets cost it a second, a
// megabyte its stack. A real scenario is a few hundred bytes.
const MaxSize = 32 << 10

// document parses a file that must hold one document and returns its root, or nil after saying why there is none.
func (d *decoder) document(source []byte) ast.Node {
	if len(source) > MaxSize {
		d.note(place{1, 1}, "the file has %d bytes, more than %d: this is no scenario", len(source), MaxSize)
		return nil
	}
	if at, ok := notUTF8(source); ok {
		d.note(at, "this is not UTF-8: save the file as UTF-8")
		return nil
	}
	// The parser takes a byte order mark for a part of the first key, and counts lines wrongly after some carriage returns.
	source = bytes.TrimPrefix(source, []byte("\ufeff"))
	source = bytes.ReplaceAll(source, []byte("\r\n"), []byte("\n"))
	file, err := parser.ParseBytes(source, 0, parser.AllowDuplicateMapKey()) // duplicates are ours to report, all of them
	if err != nil {
		d.syntax(err)
		return nil
	}
	docs := slices.DeleteFunc(file.Docs, func(doc *ast.DocumentNode) bool {
		_, directive := doc.Body.(*ast.DirectiveNode)
		return directive || doc.Body == nil && doc.Start == nil // a comment before the first --- counts as a document
	})
	if len(docs) > 1 {
		at := position(docs[1].Start)
		if docs[1].Start == nil {
			at = start(docs[1].Body)
		}
		d.note(at, "a second document begins here: give each scenario its own file")
		return nil
	}
	if len(docs) == 0 || docs[0].Body == nil {
		d.note(place{1, 1}, "the file holds no scenario: it needs at least a name and a dashboard")
		return nil
	}
	return docs[0].Body
}

func notUTF8(source []byte) (at place, bad bool) {
	at = place{1, 1}
	for len(source) > 0 {
		r, size := utf8.DecodeRune(source)
		if r == utf8.RuneError && size == 1 {
			return at, true
		}
		at.column++
		if r == '\n' {
			at = place{at.line + 1, 1}
		}
		source = source[size:]
	}
	return at, false
}

// wayOut tells, by a word of the parser's message, what a person can do about it.
var wayOut = []struct{ word, hint string }{
	{"reserved character", "put the text in quotes"},
	{"tab character", "indent with spaces"},
	{"cannot start any token", "indent with spaces"},
	{"not found", "close it"},
	{"could not find", "close it"},
	{"not allowed in this context", "check the indentation, and put a text with \": \" in quotes"},
	{"non-map value", "check the indentation"},
}

// syntax turns the parser's error, which would come with an excerpt in colours, into a problem like any other.
func (d *decoder) syntax(err error) {
	at, message := place{1, 1}, "it cannot be parsed"
	if known, ok := errors.AsType[yaml.Error](err); ok { // every error of the parser is one
		message = known.GetMessage()
		at = position(known.GetToken())
	}
	message = printable(message)
	for _, w := range wayOut {
		if strings.Contains(message, w.word) {
			message += ": " + w.hint
			break
		}
	}
	d.note(at, "this is not YAML: %s", message)
}

// printable puts another's message on one line, without control characters.
func printable(message string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, strings.ReplaceAll(message, "\t", `\t`))
}

// start is where a value begins. The parser's own token of a mapping is the colon after its first key.
func start(n ast.Node) place {
	if m, ok := n.(*ast.MappingNode); ok && !m.IsFlowStyle && len(m.Values) > 0 {
		return start(m.Values[0].Key)
	}
	return position(n.GetToken())
}

// position guards against what the parser leaves out or counts from 0.
func position(t *token.Token) place {
	if t == nil || t.Position == nil {
		return place{1, 1}
	}
	return place{max(1, t.Position.Line), max(1, t.Position.Column)}
}

// kind says what a value is, for a message.
func kind(n ast.Node) string {
	switch n := n.(type) {
	case *ast.MappingNode:
		return "a mapping"
	case *ast.SequenceNode:
		return "a list"
	case *ast.StringNode:
		return "the text " + quote(n.Value)
	case *ast.LiteralNode:
		return "a text"
	case *ast.IntegerNode, *ast.FloatNode, *ast.InfinityNode, *ast.NanNode:
		return "the number " + n.GetToken().Value
	case *ast.BoolNode:
		return n.GetToken().Value
	case *ast.NullNode:
		return "nothing"
	case *ast.AnchorNode, *ast.AliasNode:
		return "an anchor or alias (not supported: write the value out)"
	case *ast.TagNode:
		return "a tag (not supported: leave it out)"
	}
	return "something"
}

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
type decoder struct{ collector }

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

var sizeForm = regexp.MustCompile(`^([0-9]+) ?(B|KiB|MiB)?$`)

// size reads a number of bytes, plain or with a unit.
func size(n ast.Node) (int, error) {
	err := wrong(n, "a size such as 200B, 2KiB or 1MiB")
	switch n.(type) {
	case *ast.StringNode, *ast.IntegerNode:
	default:
		return 0, err
	}
	parts := sizeForm.FindStringSubmatch(n.GetToken().Value)
	if parts == nil {
		return 0, err
	}
	unit := map[string]int{"": 1, "B": 1, "KiB": 1 << 10, "MiB": 1 << 20}[parts[2]]
	number, parseErr := strconv.Atoi(parts[1])
	if parseErr != nil || number > math.MaxInt/unit {
		return 0, err
	}
	return number * unit, nil
}

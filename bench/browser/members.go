package browser

import (
	"bytes"
	"errors"
)

// errCut says that a body is not one whole JSON object.
var errCut = errors.New("body is not a whole JSON object")

// members calls f with each member of a JSON object: the name between its quotes, and the value as it stands. It tells whole objects from truncated
// ones and knows where a value ends, but does not check what is inside values that nobody looks at: a page reads thousands of
// answers, and of each three small members count.
func members(object []byte, f func(name, value []byte)) error {
	b := bytes.TrimSpace(object)
	if len(b) < 2 || b[0] != '{' || b[len(b)-1] != '}' {
		return errCut
	}
	b = bytes.TrimSpace(b[1 : len(b)-1])
	for len(b) > 0 {
		n := stringEnd(b)
		if n < 0 {
			return errCut
		}
		name := b[1 : n-1]
		b = bytes.TrimSpace(b[n:])
		if len(b) == 0 || b[0] != ':' {
			return errCut
		}
		b = bytes.TrimSpace(b[1:])
		if n = valueEnd(b); n <= 0 {
			return errCut
		}
		f(name, b[:n])
		b = bytes.TrimSpace(b[n:])
		switch {
		case len(b) == 0:
			return nil
		case b[0] != ',' || len(b) == 1:
			return errCut
		}
		b = bytes.TrimSpace(b[1:])
	}
	return nil
}

// stringEnd is the length of the string that b begins with, quotes included; -1 if there is none or it does not end.
func stringEnd(b []byte) int {
	if len(b) == 0 || b[0] != '"' {
		return -1
	}
	for i := 1; i < len(b); i++ {
		switch b[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return -1
}

// valueEnd is the length of the value that b begins with; -1 if it does not end.
func valueEnd(b []byte) int {
	if len(b) == 0 {
		return -1
	}
	switch b[0] {
	case '"':
		return stringEnd(b)
	case '{', '[':
	default:
		if n := bytes.IndexAny(b, ", \t\r\n}]:\""); n >= 0 {
			return n
		}
		return len(b)
	}
	var open []byte
	for i := 0; i < len(b); i++ {
		switch b[i] {
		case '"':
			n := stringEnd(b[i:])
			if n < 0 {
				return -1
			}
			i += n - 1
		case '{', '[':
			open = append(open, b[i]+2) // in ASCII each closing bracket is two after its opening one
		case '}', ']':
			if len(open) == 0 || open[len(open)-1] != b[i] {
				return -1
			}
			if open = open[:len(open)-1]; len(open) == 0 {
				return i + 1
			}
		}
	}
	return -1
}

package wire

import (
	"net/http"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/net/http/httpguts"
)

// begin writes down the handler's part of the head. The fields that depend on the body wait for completeHead.
func (w *answering) begin() {
	out := w.buffers()
	h := out.header
	if values := h["Content-Length"]; len(values) > 0 && !w.bodiless() {
		// A length that is none is ignored, as by net/http.
		if n, err := strconv.ParseInt(strings.TrimSpace(values[0]), 10, 64); err == nil && n >= 0 {
			w.declared = n
		}
	}
	if values := h["Connection"]; len(values) > 0 {
		w.connection = values[0]
		w.closing = w.closing || httpguts.HeaderValuesContainsToken(values, "close")
	}
	_, typed := h["Content-Type"]
	w.typed = typed || h.Get("Content-Encoding") != ""
	_, w.dated = h["Date"]
	if w.status == http.StatusSwitchingProtocols {
		// There is no way to hand the connection over.
		w.closing = true
	}
	w.appendStatus(w.status)
	w.appendFields()
}

// inform sends an informational answer, which HTTP/1.0 does not know.
func (w *answering) inform(status int) {
	if w.old {
		return
	}
	if status == http.StatusContinue {
		w.c.settle()
	}
	out := w.buffers()
	w.appendStatus(status)
	w.appendFields()
	b := append(out.head, "\r\n"...)
	out.head = b[:0]
	w.transmit(b, nil, "")
}

func (w *answering) appendStatus(status int) {
	b := append(w.out.head, "HTTP/1.1 "...)
	if w.old {
		b[len(b)-len("1 ")] = '0'
	}
	b = strconv.AppendInt(b, int64(status), 10)
	b = append(b, ' ')
	if text := http.StatusText(status); text != "" {
		b = append(b, text...)
	} else {
		b = append(b, "status code "...)
		b = strconv.AppendInt(b, int64(status), 10)
	}
	w.out.head = append(b, "\r\n"...)
}

// appendFields appends the handler's fields, sorted so that equal answers are equal bytes.
func (w *answering) appendFields() {
	names := w.out.names[:0]
	for name := range w.out.header {
		switch name {
		case "Content-Length", "Transfer-Encoding", "Connection", "Trailer":
		default:
			if httpguts.ValidHeaderFieldName(name) {
				names = append(names, name)
			}
		}
	}
	slices.Sort(names)
	for _, name := range names {
		for _, value := range w.out.header[name] {
			w.out.head = appendField(w.out.head, name, value)
		}
	}
	w.out.names = names
}

// appendField appends a field. A line break in the value, which would begin another field, becomes a space.
func appendField(b []byte, name, value string) []byte {
	b = append(b, name...)
	b = append(b, ": "...)
	start := len(b)
	b = append(b, strings.TrimSpace(value)...)
	for i, v := range b[start:] {
		if v == '\r' || v == '\n' {
			b[start+i] = ' '
		}
	}
	return append(b, "\r\n"...)
}

// completeHead appends what depends on the body, of which more bytes follow those that are held back, and on what is left of the request.
func (w *answering) completeHead(more int, last bool) {
	if w.exchange.body.expects {
		w.c.settle()
	}
	// A peer that sends all of its request before it reads would wait for us, and we for it. And only now can it be told that the
	// connection will be closed.
	if !w.closing && !w.exchange.body.drain() {
		w.closing = true
	}
	b := w.out.head
	if !w.dated {
		b = append(b, "Date: "...)
		b = append(b, w.c.server.dateText()...)
		b = append(b, "\r\n"...)
	}
	if !w.bodiless() {
		if !w.typed && len(w.out.body) > 0 {
			b = appendField(b, "Content-Type", http.DetectContentType(w.out.body))
		}
		b = w.appendLength(b, more, last)
	}
	switch {
	case w.closing:
		b = append(b, "Connection: close\r\n"...)
	case w.connection != "":
		b = appendField(b, "Connection", w.connection)
	case w.old:
		b = append(b, "Connection: keep-alive\r\n"...)
	}
	w.out.head = append(b, "\r\n"...)
}

// appendLength tells where the body will end. The head of an answer to HEAD does so only as far as that is known.
func (w *answering) appendLength(b []byte, more int, last bool) []byte {
	length := w.declared
	switch {
	case length >= 0:
	case w.head && (!last || w.written == 0):
		return b
	case w.head:
		length = w.written
	case last:
		length = int64(len(w.out.body) + more)
	case w.old:
		w.closing = true
		return b
	default:
		w.chunked = true
		return append(b, "Transfer-Encoding: chunked\r\n"...)
	}
	b = append(b, "Content-Length: "...)
	b = strconv.AppendInt(b, length, 10)
	return append(b, "\r\n"...)
}

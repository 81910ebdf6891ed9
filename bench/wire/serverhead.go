package wire

import (
	"net/http"
	"strconv"
	"strings"

	"golang.org/x/net/http/httpguts"
)

// begin writes down the handler's part of the head. The fields that depend on the body wait for completeHead.
func (w *answering) begin(status int) {
	w.decide(status)
	if values := w.out.header["Connection"]; len(values) > 0 {
		w.connection = values[0]
		w.closing = w.closing || httpguts.HeaderValuesContainsToken(values, "close")
	}
	if status == http.StatusSwitchingProtocols {
		// There is no way to hand the connection over.
		w.closing = true
	}
	w.appendStatus(status)
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

// appendFields appends the handler's fields.
func (w *answering) appendFields() {
	for _, name := range w.out.sorted() {
		switch name {
		case "Content-Length", "Transfer-Encoding", "Connection", "Trailer":
			continue
		}
		if !httpguts.ValidHeaderFieldName(name) {
			continue
		}
		for _, value := range w.out.header[name] {
			w.out.head = appendField(w.out.head, name, value)
		}
	}
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

// completeHead appends what depends on the body and on what is left of the request.
func (w *answering) completeHead(last bool) {
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
		if mediaType := w.mediaType(); mediaType != "" {
			b = appendField(b, "Content-Type", mediaType)
		}
		b = w.appendLength(b, last)
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

// appendLength tells where the body will end.
func (w *answering) appendLength(b []byte, last bool) []byte {
	length := w.length(last)
	switch {
	case length >= 0:
	case w.head:
		return b
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

package wire_test

import (
	"context"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/http2"

	"pollbench/bench/wire"
)

// TestH2BadAnswers: what is wrong with one answer ends that request, and no other.
func TestH2BadAnswers(t *testing.T) {
	body := func(s *script, id uint32, end bool, text string) { s.must(s.WriteData(id, end, []byte(text))) }
	for _, test := range []struct {
		name, want string
		answer     func(s *script, id uint32)
	}{
		{"short body", "after 3 of 10", func(s *script, id uint32) {
			s.answer(id, false, ":status", "200", "content-length", "10")
			body(s, id, true, "abc")
		}},
		{"no body", "after 0 of 10", func(s *script, id uint32) { s.answer(id, true, ":status", "200", "content-length", "10") }},
		{"short body with trailer", "after 3 of 10", func(s *script, id uint32) {
			s.answer(id, false, ":status", "200", "content-length", "10")
			body(s, id, false, "abc")
			s.answer(id, true, "x-sum", "1")
		}},
		{"long body", "longer", func(s *script, id uint32) {
			s.answer(id, false, ":status", "200", "content-length", "2")
			body(s, id, false, "abc")
		}},
		{"two lengths", "content-length", func(s *script, id uint32) {
			s.answer(id, false, ":status", "200", "content-length", "2", "content-length", "3")
		}},
		{"negative length", "content-length", func(s *script, id uint32) { s.answer(id, false, ":status", "200", "content-length", "-1") }},
		{"no status", "status", func(s *script, id uint32) { s.answer(id, false, "server", "x") }},
		{"empty header", "status", func(s *script, id uint32) { s.answer(id, false) }},
		{"long status", "status", func(s *script, id uint32) { s.answer(id, false, ":status", "0200") }},
		{"signed status", "status", func(s *script, id uint32) { s.answer(id, false, ":status", "+20") }},
		{"two statuses", ":status", func(s *script, id uint32) { s.answer(id, false, ":status", "200", ":status", "200") }},
		{"upper case", "Server", func(s *script, id uint32) { s.answer(id, false, ":status", "200", "Server", "x") }},
		{"end with 1xx", "103", func(s *script, id uint32) { s.answer(id, true, ":status", "103") }},
		{"body first", "before", func(s *script, id uint32) { body(s, id, false, "abc") }},
		{"header twice", "after", func(s *script, id uint32) {
			s.answer(id, false, ":status", "200")
			s.answer(id, false, ":status", "200")
		}},
		{"window opened by nothing", "window", func(s *script, id uint32) {
			s.must(s.WriteRawFrame(http2.FrameWindowUpdate, 0, id, make([]byte, 4)))
		}},
		{"window opened too far", "window", func(s *script, id uint32) { s.must(s.WriteWindowUpdate(id, 1<<31-1)) }},
	} {
		t.Run(test.name, func(t *testing.T) {
			s, c := pretend(t)
			_, bad := send(t, c, get("/bad"))
			_, good := send(t, c, get("/good"))
			test.answer(s, 1)
			if a := <-bad; a.err == nil || !strings.Contains(a.err.Error(), test.want) || a.Status != 0 {
				t.Errorf("error %v, want one about %q", a.err, test.want)
			}
			s.answer(3, true, ":status", "200")
			if a := <-good; a.err != nil {
				t.Error(a.err)
			}
			s.expect("HEADERS 1 /bad END")
			s.expect("HEADERS 3 /good END")
			f, err := s.ReadFrame()
			s.must(err)
			if got := describe(f); !strings.HasPrefix(got, "RST_STREAM 1 ") {
				t.Errorf("client sent %s, want RST_STREAM", got)
			}
		})
	}
}

// TestH2Garbage: what is wrong with the connection ends it, with the reason that RFC 9113 has for it.
func TestH2Garbage(t *testing.T) {
	for _, test := range []struct {
		name string
		raw  string // the head of a frame, and its payload
		code http2.ErrCode
	}{
		{"HTTP/1.1", "HTTP/1.1 400 Bad Request\r\n\r\n", http2.ErrCodeFrameSize},
		{"large frame", "\x00\x40\x01\x00\x00\x00\x00\x00\x01", http2.ErrCodeFrameSize},
		{"DATA for no stream", "\x00\x00\x00\x00\x00\x00\x00\x00\x00", http2.ErrCodeProtocol},
		{"DATA for a stream to come", "\x00\x00\x00\x00\x00\x00\x00\x00\x03", http2.ErrCodeProtocol},
		{"DATA without padding's length", "\x00\x00\x00\x00\x08\x00\x00\x00\x01", http2.ErrCodeFrameSize},
		{"DATA with much padding", "\x00\x00\x02\x00\x08\x00\x00\x00\x01\x02x", http2.ErrCodeProtocol},
		{"HEADERS for the server's stream", "\x00\x00\x00\x01\x04\x00\x00\x00\x02", http2.ErrCodeProtocol},
		{"HEADERS with much padding", "\x00\x00\x02\x01\x0c\x00\x00\x00\x01\x02x", http2.ErrCodeProtocol},
		{"HEADERS without its priority", "\x00\x00\x02\x01\x24\x00\x00\x00\x01xx", http2.ErrCodeFrameSize},
		{"HEADERS not in HPACK", "\x00\x00\x01\x01\x04\x00\x00\x00\x01\x80", http2.ErrCodeCompression},
		{"HEADERS cut off", "\x00\x00\x02\x01\x04\x00\x00\x00\x01\x40\x05", http2.ErrCodeCompression},
		{"frame inside a header", "\x00\x00\x00\x01\x00\x00\x00\x00\x01\x00\x00\x08\x06\x00\x00\x00\x00\x0012345678", http2.ErrCodeProtocol},
		{"CONTINUATION of nothing", "\x00\x00\x00\x09\x04\x00\x00\x00\x01", http2.ErrCodeProtocol},
		{"RST_STREAM short", "\x00\x00\x03\x03\x00\x00\x00\x00\x01xxx", http2.ErrCodeFrameSize},
		{"RST_STREAM for no stream", "\x00\x00\x04\x03\x00\x00\x00\x00\x00xxxx", http2.ErrCodeProtocol},
		{"SETTINGS for a stream", "\x00\x00\x00\x04\x00\x00\x00\x00\x01", http2.ErrCodeProtocol},
		{"SETTINGS odd", "\x00\x00\x05\x04\x00\x00\x00\x00\x00xxxxx", http2.ErrCodeFrameSize},
		{"SETTINGS ACK with some", "\x00\x00\x06\x04\x01\x00\x00\x00\x00xxxxxx", http2.ErrCodeFrameSize},
		{"window too large", "\x00\x00\x06\x04\x00\x00\x00\x00\x00\x00\x04\x80\x00\x00\x00", http2.ErrCodeFlowControl},
		{"window of a stream too large", "\x00\x00\x04\x08\x00\x00\x00\x00\x01\x7f\xff\x00\x00" + // exactly as large as can be
			"\x00\x00\x06\x04\x00\x00\x00\x00\x00\x00\x04\x00\x01\x00\x00", http2.ErrCodeFlowControl},
		{"frames too small", "\x00\x00\x06\x04\x00\x00\x00\x00\x00\x00\x05\x00\x00\x3f\xff", http2.ErrCodeProtocol},
		{"PUSH_PROMISE", "\x00\x00\x04\x05\x04\x00\x00\x00\x01\x00\x00\x00\x02", http2.ErrCodeProtocol},
		{"PING short", "\x00\x00\x01\x06\x00\x00\x00\x00\x00x", http2.ErrCodeFrameSize},
		{"PING for a stream", "\x00\x00\x08\x06\x00\x00\x00\x00\x0112345678", http2.ErrCodeProtocol},
		{"GOAWAY short", "\x00\x00\x07\x07\x00\x00\x00\x00\x00xxxxxxx", http2.ErrCodeFrameSize},
		{"WINDOW_UPDATE of nothing", "\x00\x00\x04\x08\x00\x00\x00\x00\x00\x00\x00\x00\x00", http2.ErrCodeProtocol},
		{"WINDOW_UPDATE too far", "\x00\x00\x04\x08\x00\x00\x00\x00\x00\x7f\xff\xff\xff", http2.ErrCodeFlowControl},
	} {
		t.Run(test.name, func(t *testing.T) {
			s, c := pretend(t)
			_, first := send(t, c, get("/"))
			if _, err := io.WriteString(s.conn, test.raw); err != nil {
				t.Fatal(err)
			}
			a := <-first
			if a.err == nil || !strings.Contains(a.err.Error(), test.code.String()) || c.Err() != a.err {
				t.Errorf("error %v, want %v; then %v", a.err, test.code, c.Err())
			}
			s.expect("HEADERS 1 / END")
			s.expect("GOAWAY " + test.code.String())
			if f, err := s.ReadFrame(); err != io.EOF {
				t.Errorf("client went on with %v, %v", f, err)
			}
		})
	}
}

// TestH2HugeHeader repeats one field of 4 kB, each time in one byte, as it is in the table.
func TestH2HugeHeader(t *testing.T) {
	s, c := pretend(t)
	_, results := send(t, c, get("/"))
	long := strings.Repeat("x", 4000)
	fields := []string{":status", "200"}
	for range 100 {
		fields = append(fields, "a", long)
	}
	s.answer(1, true, fields...)
	if a := <-results; a.err == nil || !strings.Contains(a.err.Error(), "262144") {
		t.Error(a.err)
	}
}

func TestH2BadBeginning(t *testing.T) {
	for name, raw := range map[string]string{
		"HTTP/1.1":     "HTTP/1.1 400 Bad Request\r\n\r\n",
		"PING":         "\x00\x00\x08\x06\x00\x00\x00\x00\x0012345678",
		"SETTINGS ACK": "\x00\x00\x00\x04\x01\x00\x00\x00\x00",
		"nothing":      "",
		"half a frame": "\x00\x00\x06\x04\x00\x00\x00\x00\x00\x00",
	} {
		near, far := net.Pipe()
		go func() {
			_, _ = io.ReadFull(far, make([]byte, 64)) // the preface, SETTINGS, and WINDOW_UPDATE: 24 + 9+3*6 + 13
			_, _ = io.WriteString(far, raw)
			_ = far.Close()
		}()
		if _, err := wire.NewH2(t.Context(), near, time.Now); err == nil {
			t.Errorf("%s: taken for a server's greeting", name)
		}
	}
}

// FuzzH2 has a server that says anything. However that ends, every request gets exactly one answer.
func FuzzH2(f *testing.F) {
	settings := "\x00\x00\x00\x04\x00\x00\x00\x00\x00"
	header := "\x00\x00\x01\x01\x04\x00\x00\x00\x01\x88" // status 200
	f.Add([]byte(settings))
	f.Add([]byte(settings + header + "\x00\x00\x02\x00\x01\x00\x00\x00\x01{}"))
	f.Add([]byte(settings + "\x00\x00\x01\x01\x05\x00\x00\x00\x03\x88" + "\x00\x00\x04\x03\x00\x00\x00\x00\x01\x00\x00\x00\x02"))
	f.Add([]byte(settings + "\x00\x00\x04\x08\x00\x00\x00\x00\x00\x00\x01\x00\x00" + "\x00\x00\x04\x08\x00\x00\x00\x00\x05\x00\x01\x00\x00"))
	f.Add([]byte("\x00\x00\x0c\x04\x00\x00\x00\x00\x00\x00\x04\x00\x00\x00\x01\x00\x01\x00\x00\x00\x00" + "\x00\x00\x08\x06\x00\x00\x00\x00\x0012345678"))
	f.Add([]byte(settings + "\x00\x00\x0a\x07\x00\x00\x00\x00\x00\x00\x00\x00\x01\x00\x00\x00\x00hi" + header))
	f.Add([]byte(settings + "\x00\x00\x05\x01\x08\x00\x00\x00\x01\x02\x88\x40xx" + "\x00\x00\x04\x09\x04\x00\x00\x00\x01\x01a\x01b"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		near, far := net.Pipe()
		go func() { _, _ = io.Copy(io.Discard, far) }()
		go func() {
			_, _ = far.Write(raw)
			_ = far.Close()
		}()
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		c, err := wire.NewH2(ctx, near, time.Now)
		if err != nil {
			if ctx.Err() != nil {
				t.Fatal("no greeting, and no end")
			}
			return
		}
		answers, sent := make(chan result, 10), 0
		for _, r := range []wire.Request{get("/1"), {Method: "HEAD"}, post("/5", 100000)} {
			if _, err := c.Send(r, func(a wire.Answer, err error) { answers <- result{a, err} }); err == nil {
				sent++
			}
		}
		for range sent {
			select {
			case a := <-answers:
				if (a.err == nil) != (a.Status >= 200) {
					t.Errorf("status %d with error %v", a.Status, a.err)
				}
			case <-ctx.Done():
				t.Fatal("a request got no answer")
			}
		}
		_ = c.Close()
		if len(answers) > 0 {
			t.Error("more answers than requests")
		}
	})
}

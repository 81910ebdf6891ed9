package wire_test

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"testing"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"pollbench/bench/wire"
	"pollbench/fixtures/network"
)

// script is a server whose frames a test states one by one. Its frames are written and read by golang.org/x/net, which knows
// nothing of this package.
type script struct {
	*http2.Framer
	t     *testing.T
	conn  net.Conn
	block bytes.Buffer
	hpack *hpack.Encoder
}

// pretend connects a client to a script that has greeted it.
func pretend(t *testing.T, settings ...http2.Setting) (*script, *wire.H2) {
	t.Helper()
	memory := &network.Memory{}
	l, err := memory.Listen()
	if err != nil {
		t.Fatal(err)
	}
	accepted := make(chan net.Conn)
	go func() {
		conn, _ := l.Accept()
		accepted <- conn
	}()
	near, err := memory.Dial(t.Context(), "tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	return greet(t, near, <-accepted, settings...)
}

// greet makes a script of one end of a connection, and a client of the other.
func greet(t *testing.T, near, far net.Conn, settings ...http2.Setting) (*script, *wire.H2) {
	t.Helper()
	// A test that waits for a frame in vain shall say where.
	if err := far.SetReadDeadline(time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	s := &script{Framer: http2.NewFramer(far, far), t: t, conn: far}
	s.hpack = hpack.NewEncoder(&s.block)
	s.ReadMetaHeaders = hpack.NewDecoder(4096, nil)
	clients := make(chan *wire.H2)
	go func() {
		c, err := wire.NewH2(t.Context(), near, time.Now)
		if err != nil {
			t.Error(err)
		}
		clients <- c
	}()
	hello := make([]byte, len(http2.ClientPreface))
	if _, err := io.ReadFull(far, hello); err != nil || string(hello) != http2.ClientPreface {
		t.Fatalf("preface %q, %v", hello, err)
	}
	s.expect("SETTINGS [ENABLE_PUSH = 0] [INITIAL_WINDOW_SIZE = 4194304] [MAX_HEADER_LIST_SIZE = 262144]")
	s.expect("WINDOW_UPDATE 0 67043329") // 64 MiB less the 65535 bytes that it is to begin with
	s.must(s.WriteSettings(settings...))
	s.expect("SETTINGS ACK")
	c := <-clients
	if c == nil {
		t.FailNow()
	}
	t.Cleanup(func() { _ = c.Close(); _ = far.Close() })
	return s, c
}

func (s *script) must(err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
}

// expect reads a frame from the client.
func (s *script) expect(want string) {
	s.t.Helper()
	f, err := s.ReadFrame()
	if err != nil {
		s.t.Fatalf("%v instead of %s", err, want)
	}
	if got := describe(f); got != want {
		s.t.Fatalf("client sent %s, want %s", got, want)
	}
}

// describe gives a frame on one line: bodies by their size, headers by their path or status.
func describe(f http2.Frame) string {
	name, end := fmt.Sprint(f.Header().Type, " ", f.Header().StreamID), ""
	if f.Header().Flags.Has(http2.FlagDataEndStream) {
		end = " END"
	}
	switch f := f.(type) {
	case *http2.MetaHeadersFrame:
		return fmt.Sprint(name, " ", f.PseudoValue("path")+f.PseudoValue("status"), end)
	case *http2.DataFrame:
		return fmt.Sprint(name, " ", len(f.Data()), end)
	case *http2.WindowUpdateFrame:
		return fmt.Sprint(name, " ", f.Increment)
	case *http2.RSTStreamFrame:
		return fmt.Sprint(name, " ", f.ErrCode)
	case *http2.GoAwayFrame:
		return fmt.Sprint("GOAWAY ", f.ErrCode)
	case *http2.PingFrame:
		return fmt.Sprintf("PING %q ACK=%v", f.Data[:], f.IsAck())
	case *http2.SettingsFrame:
		if f.IsAck() {
			return "SETTINGS ACK"
		}
		all := "SETTINGS"
		for i := range f.NumSettings() {
			all += " " + f.Setting(i).String()
		}
		return all
	}
	return name
}

// header encodes the header of an answer: names and values in turn.
func (s *script) header(fields ...string) []byte {
	s.block.Reset()
	for i := 0; i < len(fields); i += 2 {
		s.must(s.hpack.WriteField(hpack.HeaderField{Name: fields[i], Value: fields[i+1]}))
	}
	return s.block.Bytes()
}

// answer sends the header of an answer.
func (s *script) answer(stream uint32, end bool, fields ...string) {
	s.t.Helper()
	s.must(s.WriteHeaders(http2.HeadersFrameParam{StreamID: stream, EndHeaders: true, EndStream: end, BlockFragment: s.header(fields...)}))
}

func setting(id http2.SettingID, value uint32) http2.Setting {
	return http2.Setting{ID: id, Val: value}
}

func post(path string, size int) wire.Request {
	return wire.Request{Method: "POST", Authority: "example.com", Path: path, Body: make([]byte, size)}
}

// later is send for a connection whose other end takes the request only when the test reads it.
func later(t *testing.T, c *wire.H2, r wire.Request) <-chan result {
	results := make(chan result, 1)
	go func() {
		if _, err := c.Send(r, func(a wire.Answer, err error) { results <- result{a, err} }); err != nil {
			t.Error(err)
		}
	}()
	return results
}

package wire_test

import (
	"bytes"
	"io"
	"net"
	"net/http"
	"testing"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"pollbench/bench/wire"
)

// FuzzServerH2 has a client that says anything after the preface. However that is taken, the connection ends, and what came back are frames
// that a client can read.
func FuzzServerH2(f *testing.F) {
	var block bytes.Buffer
	fields := hpack.NewEncoder(&block)
	request := func(path string) []byte {
		block.Reset()
		for _, field := range [][2]string{{":method", "POST"}, {":scheme", "http"}, {":authority", "h"}, {":path", path}} {
			_ = fields.WriteField(hpack.HeaderField{Name: field[0], Value: field[1]})
		}
		return block.Bytes()
	}
	for _, play := range []func(*http2.Framer){
		func(p *http2.Framer) {
			_ = p.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, EndHeaders: true, BlockFragment: request("/echo")})
			_ = p.WriteDataPadded(1, true, []byte("abc"), []byte{0})
			_ = p.WriteHeaders(http2.HeadersFrameParam{StreamID: 3, EndHeaders: true, EndStream: true, BlockFragment: request("/flushed")})
		},
		func(p *http2.Framer) {
			_ = p.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: request("/unsized/9000/3")[:10]})
			_ = p.WriteContinuation(1, true, block.Bytes()[10:])
			_ = p.WriteWindowUpdate(1, 7)
			_ = p.WriteRSTStream(1, http2.ErrCodeCancel)
			_ = p.WritePing(false, [8]byte{})
		},
		func(p *http2.Framer) {
			_ = p.WriteSettings(http2.Setting{ID: http2.SettingInitialWindowSize}, http2.Setting{ID: http2.SettingHeaderTableSize})
			_ = p.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, EndHeaders: true, EndStream: true, BlockFragment: request("/short")})
			_ = p.WriteGoAway(1, 0, nil)
		},
	} {
		var raw bytes.Buffer
		p := http2.NewFramer(&raw, nil)
		_ = p.WriteSettings()
		play(p)
		f.Add(raw.Bytes())
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		server := &wire.Server{H2Streams: 3, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			switch r.URL.Path {
			case "/echo", "/early", "/status/204", "/flushed", "/short", "/abort", "/unsized/9000/3":
				different(w, r)
			}
		})}
		c := &recording{said: bytes.NewReader(append([]byte(http2.ClientPreface), raw...)), closed: make(chan struct{})}
		l := once{make(chan net.Conn, 1)}
		l.conns <- c
		close(l.conns)
		if err := server.Serve(l); err != net.ErrClosed {
			t.Fatal(err)
		}
		select {
		case <-c.closed:
		case <-time.After(time.Minute):
			t.Fatal("the connection goes on")
		}
		p := http2.NewFramer(io.Discard, c.answer())
		p.ReadMetaHeaders = hpack.NewDecoder(4096, nil)
		for {
			if _, err := p.ReadFrame(); err == io.EOF || err == io.ErrUnexpectedEOF {
				return
			} else if err != nil {
				t.Fatal(err)
			}
		}
	})
}

package wire_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

// peer opens an HTTP/2 connection of which the test plays the client's end, frame by frame.
func (s *hosted) peer(settings ...http2.Setting) *script {
	s.t.Helper()
	conn := s.dial()
	p := &script{Framer: http2.NewFramer(conn, conn), t: s.t.(*testing.T), conn: conn}
	p.hpack = hpack.NewEncoder(&p.block)
	p.ReadMetaHeaders = hpack.NewDecoder(4096, nil)
	p.AllowIllegalWrites = true
	_, err := io.WriteString(conn, http2.ClientPreface)
	p.must(err)
	if settings == nil {
		settings = []http2.Setting{}
	}
	p.must(p.WriteSettings(settings...))
	p.expect("SETTINGS [MAX_CONCURRENT_STREAMS = 2] [INITIAL_WINDOW_SIZE = 262144] [MAX_HEADER_LIST_SIZE = 1048576]")
	p.expect("WINDOW_UPDATE 0 983041") // 1 MiB less the 65535 bytes that it is to begin with
	p.expect("SETTINGS ACK")
	return p
}

// begin sends the head of a request: more names and values in turn.
func (s *script) begin(stream uint32, end bool, method, path string, more ...string) {
	s.t.Helper()
	fields := append([]string{":method", method, ":scheme", "http", ":authority", "h", ":path", path}, more...)
	s.must(s.WriteHeaders(http2.HeadersFrameParam{StreamID: stream, EndHeaders: true, EndStream: end, BlockFragment: s.header(fields...)}))
}

// TestServerH2Frames plays clients that do as they may, and clients that do not. Wanted are the frames in answer, as RFC 9113 has them, or the
// end of the connection.
func TestServerH2Frames(t *testing.T) {
	const gone = "gone"
	for _, c := range []struct {
		name string
		play func(p *script)
		want []string
	}{
		{"a get", func(p *script) { p.begin(1, true, "GET", "/status/404") }, []string{"HEADERS 1 404", "DATA 1 4 END"}},
		{"no body", func(p *script) { p.begin(1, true, "GET", "/") }, []string{"HEADERS 1 200 END"}},
		{"head", func(p *script) { p.begin(1, true, "HEAD", "/status/404") }, []string{"HEADERS 1 404 END"}},
		{"no content", func(p *script) { p.begin(1, true, "GET", "/status/204") }, []string{"HEADERS 1 204 END"}},
		{"early hints", func(p *script) { p.begin(1, true, "GET", "/early") }, []string{"HEADERS 1 103", "HEADERS 1 200 END"}},
		{"flushed", func(p *script) { p.begin(1, true, "GET", "/flushed") }, []string{"HEADERS 1 200", "DATA 1 3", "DATA 1 3 END"}},
		{"of a length, in one write", func(p *script) { p.begin(1, true, "GET", "/sized/20000/1") },
			[]string{"HEADERS 1 200", "DATA 1 16384", "DATA 1 3616 END"}},
		{"too short", func(p *script) { p.begin(1, true, "GET", "/short") }, []string{"HEADERS 1 200", "DATA 1 5", "RST_STREAM 1 INTERNAL_ERROR"}},
		{"body unread", func(p *script) { p.begin(1, false, "POST", "/status/404") },
			[]string{"HEADERS 1 404", "DATA 1 4 END", "RST_STREAM 1 NO_ERROR"}},
		{"padded", func(p *script) {
			p.begin(1, false, "POST", "/echo", "content-length", "3")
			p.must(p.WriteDataPadded(1, true, []byte("abc"), make([]byte, 10)))
		}, []string{"HEADERS 1 200", "DATA 1 3 END"}},
		{"trailer", func(p *script) {
			p.begin(1, false, "POST", "/echo")
			p.must(p.WriteData(1, false, []byte("abc")))
			p.must(p.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, EndHeaders: true, EndStream: true, BlockFragment: p.header("x-t", "1")}))
		}, []string{"HEADERS 1 200", "DATA 1 3 END"}},
		{"continued head", func(p *script) {
			block := p.header(":method", "GET", ":scheme", "http", ":authority", "h", ":path", "/", "x", strings.Repeat("y", 100))
			p.must(p.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, EndStream: true, BlockFragment: block[:50]}))
			p.must(p.WriteContinuation(1, true, block[50:]))
		}, []string{"HEADERS 1 200 END"}},
		{"continue", func(p *script) {
			p.begin(1, false, "POST", "/echo", "expect", "100-continue")
			p.expect("HEADERS 1 100")
			p.must(p.WriteData(1, true, []byte("abc")))
		}, []string{"HEADERS 1 200", "DATA 1 3 END"}},
		{"continue, as the handler likes", func(p *script) {
			p.begin(1, false, "POST", "/proceed", "expect", "100-continue")
			p.expect("HEADERS 1 100")
			p.must(p.WriteData(1, true, []byte("abc")))
		}, []string{"HEADERS 1 200", "DATA 1 3 END"}},
		{"continue, behind the head of the answer", func(p *script) {
			p.begin(1, false, "POST", "/flushed", "expect", "100-continue", "content-length", "3")
			p.expect("HEADERS 1 200")
			p.expect("DATA 1 3")
			p.expect("DATA 1 3")
			synctest.Wait() // the handler reads
			p.must(p.WriteData(1, true, []byte("abc")))
		}, []string{"DATA 1 3 END"}},
		{"end within less than no window", func(p *script) {
			p.begin(1, false, "POST", "/unechoed")
			p.expect("HEADERS 1 200")
			p.expect("DATA 1 3")
			p.must(p.WriteSettings(setting(http2.SettingInitialWindowSize, 0))) // 0 less the 3 bytes, by section 6.9.2
			p.expect("SETTINGS ACK")
			p.must(p.WriteData(1, true, nil))
		}, []string{"DATA 1 0 END"}},
		{"no table of fields", func(p *script) {
			p.must(p.WriteSettings(setting(http2.SettingHeaderTableSize, 0)))
			p.expect("SETTINGS ACK")
			p.ReadMetaHeaders = hpack.NewDecoder(0, nil)
			for stream := range uint32(3) {
				p.begin(2*stream+1, true, "GET", "/fields")
				p.expect(fmt.Sprint("HEADERS ", 2*stream+1, " 200"))
				p.expect(fmt.Sprint("DATA ", 2*stream+1, " 4 END"))
			}
		}, nil},
		{"ping", func(p *script) { p.must(p.WritePing(false, [8]byte{1})) }, []string{fmt.Sprintf("PING %q ACK=true", "\x01\x00\x00\x00\x00\x00\x00\x00")}},
		{"what changes nothing", func(p *script) {
			p.must(p.WritePing(true, [8]byte{1}))
			p.must(p.WriteSettingsAck())
			p.must(p.WritePriority(9, http2.PriorityParam{}))
			p.must(p.WriteRawFrame(0x77, 0, 0, []byte("unknown")))
			p.must(p.WriteGoAway(0, 0, nil))
			p.begin(1, true, "GET", "/")
		}, []string{"HEADERS 1 200 END"}},
		{"late frames", func(p *script) {
			p.begin(1, false, "POST", "/echo")
			p.must(p.WriteRSTStream(1, http2.ErrCodeCancel))
			p.must(p.WriteRSTStream(1, http2.ErrCodeCancel))
			p.must(p.WriteData(1, false, []byte("late")))
			p.must(p.WriteWindowUpdate(1, 1))
			p.must(p.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, EndHeaders: true, EndStream: true, BlockFragment: p.header("x-t", "1")}))
			p.begin(3, true, "GET", "/")
		}, []string{"HEADERS 3 200 END"}},
		{"too many", func(p *script) {
			for stream := range uint32(3) {
				p.begin(2*stream+1, false, "POST", "/echo")
			}
			p.must(p.WriteRSTStream(1, http2.ErrCodeCancel))
			p.begin(7, true, "GET", "/")
		}, []string{"RST_STREAM 5 REFUSED_STREAM", "HEADERS 7 200 END"}},
		{"window of a body", func(p *script) {
			p.begin(1, false, "POST", "/echo")
			for range 8 { // frames of 16 KiB, whose padding counts
				p.must(p.WriteDataPadded(1, false, make([]byte, 16384-256), make([]byte, 255)))
			}
			p.expect("WINDOW_UPDATE 1 131072") // half of it has been read
			p.must(p.WriteRSTStream(1, http2.ErrCodeCancel))
		}, nil},
		{"window of padding", func(p *script) {
			p.begin(1, false, "POST", "/echo")
			for range 512 { // frames of 256 bytes
				p.must(p.WriteDataPadded(1, false, nil, make([]byte, 255)))
			}
			p.expect("WINDOW_UPDATE 1 131072")
			p.must(p.WriteData(1, true, []byte("abc")))
		}, []string{"HEADERS 1 200", "DATA 1 3 END"}},

		{"other frame first", nil, []string{"GOAWAY PROTOCOL_ERROR", gone}},
		{"even stream", func(p *script) { p.begin(2, true, "GET", "/") }, []string{"GOAWAY PROTOCOL_ERROR", gone}},
		{"backwards", func(p *script) {
			p.begin(3, false, "POST", "/echo")
			p.begin(1, true, "GET", "/")
			p.begin(2, true, "GET", "/")
		}, []string{"GOAWAY PROTOCOL_ERROR", gone}},
		{"push", func(p *script) {
			p.must(p.WritePushPromise(http2.PushPromiseParam{StreamID: 1, PromiseID: 2, EndHeaders: true, BlockFragment: p.header("a", "b")}))
		}, []string{"GOAWAY PROTOCOL_ERROR", gone}},
		{"body of nothing", func(p *script) { p.must(p.WriteData(1, true, []byte("abc"))) }, []string{"GOAWAY PROTOCOL_ERROR", gone}},
		{"reset of nothing", func(p *script) { p.must(p.WriteRSTStream(1, 0)) }, []string{"GOAWAY PROTOCOL_ERROR", gone}},
		{"window of nothing", func(p *script) { p.must(p.WriteWindowUpdate(1, 1)) }, []string{"GOAWAY PROTOCOL_ERROR", gone}},
		{"window of nothing, opened by nothing", func(p *script) {
			p.begin(1, true, "GET", "/")
			p.expect("HEADERS 1 200 END")
			p.must(p.WriteWindowUpdate(101, 0))
		}, []string{"GOAWAY PROTOCOL_ERROR", gone}},
		{"bad head of an even stream", func(p *script) { p.begin(2, true, "GET", "/", "X-Y", "z") }, []string{"GOAWAY PROTOCOL_ERROR", gone}},
		{"too large a frame", func(p *script) { p.must(p.WriteRawFrame(http2.FrameData, 0, 1, make([]byte, 16385))) },
			[]string{"GOAWAY FRAME_SIZE_ERROR", gone}},
		{"too wide a window", func(p *script) { p.must(p.WriteWindowUpdate(0, 1<<31-1)) }, []string{"GOAWAY FLOW_CONTROL_ERROR", gone}},
		{"too wide windows", func(p *script) {
			p.begin(1, false, "POST", "/echo")
			p.must(p.WriteWindowUpdate(1, 1<<31-1-65535))
			p.must(p.WriteSettings(setting(http2.SettingInitialWindowSize, 65536)))
		}, []string{"GOAWAY FLOW_CONTROL_ERROR", gone}},
		{"no window", func(p *script) { p.must(p.WriteSettings(setting(http2.SettingInitialWindowSize, 1<<31))) },
			[]string{"GOAWAY FLOW_CONTROL_ERROR", gone}},
		{"broken compression", func(p *script) {
			p.must(p.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, EndHeaders: true, BlockFragment: []byte{0xff, 0xff, 0xff, 0xff, 0xff}}))
		}, []string{"GOAWAY COMPRESSION_ERROR", gone}},

		{"stream's too wide window", func(p *script) {
			p.begin(1, false, "POST", "/echo")
			p.must(p.WriteWindowUpdate(1, 1<<31-1))
		}, []string{"RST_STREAM 1 FLOW_CONTROL_ERROR"}},
		{"window opened by nothing", func(p *script) {
			p.begin(1, false, "POST", "/echo")
			p.must(p.WriteWindowUpdate(1, 0))
		}, []string{"RST_STREAM 1 PROTOCOL_ERROR"}},
		{"more body than announced", func(p *script) {
			p.begin(1, false, "POST", "/echo", "content-length", "2")
			p.must(p.WriteData(1, true, []byte("abc")))
		}, []string{"RST_STREAM 1 PROTOCOL_ERROR"}},
		{"less body than announced", func(p *script) {
			p.begin(1, false, "POST", "/echo", "content-length", "4")
			p.must(p.WriteData(1, true, []byte("abc")))
		}, []string{"RST_STREAM 1 PROTOCOL_ERROR"}},
		{"none of the body announced", func(p *script) { p.begin(1, true, "POST", "/echo", "content-length", "4") }, []string{"RST_STREAM 1 PROTOCOL_ERROR"}},
		{"no length", func(p *script) { p.begin(1, true, "POST", "/echo", "content-length", "x") }, []string{"RST_STREAM 1 PROTOCOL_ERROR"}},
		{"two lengths", func(p *script) { p.begin(1, true, "GET", "/", "content-length", "0", "content-length", "0") },
			[]string{"RST_STREAM 1 PROTOCOL_ERROR"}},
		{"HTTP/1.1's field", func(p *script) { p.begin(1, true, "GET", "/", "connection", "close") }, []string{"RST_STREAM 1 PROTOCOL_ERROR"}},
		{"upper case", func(p *script) { p.begin(1, true, "GET", "/", "X-Y", "z") }, []string{"RST_STREAM 1 PROTOCOL_ERROR"}},
		{"no path", func(p *script) { p.begin(1, true, "GET", "") }, []string{"RST_STREAM 1 PROTOCOL_ERROR"}},
		{"no method", func(p *script) { p.begin(1, true, "", "/") }, []string{"RST_STREAM 1 PROTOCOL_ERROR"}},
		{"bad host", func(p *script) { p.begin(1, true, "GET", "/", ":authority", "b") }, []string{"RST_STREAM 1 PROTOCOL_ERROR"}},
		{"after a bad one", func(p *script) {
			p.begin(1, false, "GET", "/", "X-Y", "z")
			p.must(p.WriteData(1, true, []byte("its body")))
			p.begin(3, true, "GET", "/")
		}, []string{"RST_STREAM 1 PROTOCOL_ERROR", "HEADERS 3 200 END"}},
		{"body after its end", func(p *script) {
			p.begin(1, false, "POST", "/held")
			p.must(p.WriteData(1, true, []byte("abc")))
			p.must(p.WriteData(1, true, []byte("abc")))
		}, []string{"RST_STREAM 1 STREAM_CLOSED"}},
		{"second head", func(p *script) {
			p.begin(1, false, "POST", "/held")
			p.begin(1, false, "POST", "/held")
		}, []string{"RST_STREAM 1 PROTOCOL_ERROR"}},
		{"body beyond its window", func(p *script) {
			p.begin(1, false, "POST", "/held")
			for range 17 {
				p.must(p.WriteData(1, false, make([]byte, 16384)))
			}
		}, []string{"RST_STREAM 1 FLOW_CONTROL_ERROR"}},
		{"too large a head", func(p *script) {
			fields := []string{":method", "GET", ":scheme", "http", ":authority", "h", ":path", "/"}
			for range 300 { // of 4,035 bytes each, and one in the table
				fields = append(fields, "x-x", strings.Repeat("x", 4000))
			}
			p.must(p.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, EndHeaders: true, EndStream: true, BlockFragment: p.header(fields...)}))
		}, []string{"RST_STREAM 1 ENHANCE_YOUR_CALM"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := host(t, func(w http.ResponseWriter, r *http.Request) {
					switch r.URL.Path {
					case "/held":
						<-r.Context().Done()
					case "/proceed":
						w.WriteHeader(http.StatusContinue)
						_, _ = io.Copy(w, r.Body)
					case "/unechoed":
						_, _ = io.WriteString(w, "one")
						w.(http.Flusher).Flush()
						_, _ = io.Copy(io.Discard, r.Body)
					default:
						different(w, r)
					}
				}).multiplex(2)
				if c.play == nil {
					conn := s.dial()
					p := &script{Framer: http2.NewFramer(conn, conn), t: t, conn: conn}
					_, _ = io.WriteString(conn, http2.ClientPreface)
					p.must(p.WritePing(false, [8]byte{}))
					for range 2 {
						if _, err := p.ReadFrame(); err != nil {
							t.Fatal(err)
						}
					}
					p.wants(c.want)
					return
				}
				p := s.peer()
				c.play(p)
				p.wants(c.want)
			})
		})
	}
}

// wants reads the frames that are to come, and sees that the connection goes on unless it is to be gone.
func (s *script) wants(frames []string) {
	s.t.Helper()
	for _, want := range frames {
		if want != "gone" {
			s.expect(want)
			continue
		}
		if f, err := s.ReadFrame(); err == nil {
			s.t.Errorf("%s after the end", describe(f))
		}
		return
	}
	synctest.Wait()
	s.must(s.WritePing(false, [8]byte{'a', 'l', 'i', 'v', 'e'}))
	s.expect(`PING "alive\x00\x00\x00" ACK=true`)
}

// TestServerH2Windows: an answer's body comes as far as both windows allow, whoever opens them and in whichever order.
func TestServerH2Windows(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := host(t, different).multiplex(2)
		p := s.peer(setting(http2.SettingInitialWindowSize, 10))
		p.begin(1, true, "GET", "/sized/100000/1")
		p.begin(3, true, "GET", "/sized/10/1")
		frames := map[string]bool{}
		for range 4 {
			f, err := p.ReadFrame()
			p.must(err)
			frames[describe(f)] = true
		}
		for _, want := range []string{"HEADERS 1 200", "DATA 1 10", "HEADERS 3 200", "DATA 3 10 END"} {
			if !frames[want] {
				t.Errorf("no %s but %v", want, frames)
			}
		}
		p.must(p.WriteWindowUpdate(1, 5))
		p.expect("DATA 1 5")
		p.must(p.WriteSettings(setting(http2.SettingInitialWindowSize, 110)))
		p.expect("SETTINGS ACK")
		p.expect("DATA 1 100")
		p.must(p.WriteWindowUpdate(1, 1<<20)) // 65535 for the connection less 10, 10, 5 and 100 are left
		for _, want := range []string{"DATA 1 16384", "DATA 1 16384", "DATA 1 16384", "DATA 1 16258"} {
			p.expect(want)
		}
		p.must(p.WriteSettings(setting(http2.SettingInitialWindowSize, 0)))
		p.expect("SETTINGS ACK")
		p.must(p.WriteWindowUpdate(0, 1<<20)) // 100000 - 10 - 5 - 100 - 65410 = 34475
		for _, want := range []string{"DATA 1 16384", "DATA 1 16384", "DATA 1 1707 END"} {
			p.expect(want)
		}
	})
}

// TestServerH2Unread: what a peer does not read is not piled up for it, whatever its windows allow.
func TestServerH2Unread(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const piece = 10_000
		var written, ended atomic.Int64
		s := host(t, func(w http.ResponseWriter, r *http.Request) {
			for range 1000 {
				if _, err := w.Write(make([]byte, piece)); err != nil {
					ended.Add(1)
					return
				}
				written.Add(piece)
			}
		}).multiplex(2)
		p := s.peer(setting(http2.SettingInitialWindowSize, 1<<31-1))
		p.must(p.WriteWindowUpdate(0, 1<<30))
		p.begin(1, true, "GET", "/")
		p.begin(3, true, "GET", "/")
		synctest.Wait()
		// The network holds 256 KiB. Of 64 KiB and a frame, some may be being written, and as much appended before both have to wait.
		if n := written.Load(); n < 256<<10 || n > 256<<10+2*(64<<10+16<<10)+2*piece {
			t.Errorf("%d bytes written", n)
		}
		_ = p.conn.Close()
		synctest.Wait()
		if ended.Load() != 2 {
			t.Error("a handler goes on")
		}
	})
}

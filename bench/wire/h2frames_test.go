package wire_test

import (
	"errors"
	"io"
	"math"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"pollbench/bench/wire"
)

func TestH2Ping(t *testing.T) {
	s, _ := pretend(t)
	s.must(s.WritePing(false, [8]byte([]byte("pingpong"))))
	s.expect(`PING "pingpong" ACK=true`)
	s.must(s.WritePing(true, [8]byte{})) // an answer to nothing is none of ours
	s.must(s.WritePing(false, [8]byte([]byte("12345678"))))
	s.expect(`PING "12345678" ACK=true`)
}

func TestH2StreamsFollow(t *testing.T) {
	s, c := pretend(t)
	if c.Streams() != math.MaxInt32 {
		t.Errorf("%d streams without a limit", c.Streams())
	}
	for _, step := range []struct {
		limit uint32
		want  int
	}{{1, 1}, {math.MaxUint32, math.MaxInt32}, {0, 0}} {
		s.must(s.WriteSettings(setting(http2.SettingMaxConcurrentStreams, step.limit)))
		s.expect("SETTINGS ACK")
		if c.Streams() != step.want {
			t.Errorf("%d streams, want %d", c.Streams(), step.want)
		}
	}
	if _, err := c.Send(get("/"), nil); err != wire.ErrFull {
		t.Errorf("request to a server that allows none: %v", err)
	}
}

// TestH2StreamWindow: 10 bytes may be sent, then 5 more than at first, then 10 fewer, which leaves -10.
func TestH2StreamWindow(t *testing.T) {
	s, c := pretend(t, setting(http2.SettingInitialWindowSize, 10))
	send(t, c, post("/", 25))
	s.expect("HEADERS 1 /")
	s.expect("DATA 1 10")
	s.must(s.WriteSettings(setting(http2.SettingInitialWindowSize, 15)))
	s.expect("SETTINGS ACK")
	s.expect("DATA 1 5")
	s.must(s.WriteSettings(setting(http2.SettingInitialWindowSize, 5)))
	s.expect("SETTINGS ACK")
	s.must(s.WriteWindowUpdate(1, 10)) // 0
	s.must(s.WriteWindowUpdate(1, 2))
	s.expect("DATA 1 2")
	s.must(s.WriteWindowUpdate(1, 100))
	s.expect("DATA 1 8 END")
	_, results := send(t, c, post("/", 5))
	s.expect("HEADERS 3 /")
	s.expect("DATA 3 5 END")
	s.answer(3, true, ":status", "200")
	if a := <-results; a.err != nil {
		t.Error(a.err)
	}
}

// TestH2ConnectionWindow: a connection begins with 65535 bytes, whatever streams may take.
func TestH2ConnectionWindow(t *testing.T) {
	s, c := pretend(t, setting(http2.SettingInitialWindowSize, 1<<20), setting(http2.SettingMaxFrameSize, 1<<20))
	send(t, c, post("/1", 40000))
	s.expect("HEADERS 1 /1")
	s.expect("DATA 1 16384")
	s.expect("DATA 1 16384")
	s.expect("DATA 1 7232 END")
	second, _ := send(t, c, post("/3", 40000))
	s.expect("HEADERS 3 /3")
	s.expect("DATA 3 16384")
	s.expect("DATA 3 9151")
	_, third := send(t, c, post("/5", 100))
	s.expect("HEADERS 5 /5")
	s.must(s.WriteWindowUpdate(3, 1)) // does not help
	s.must(s.WritePing(false, [8]byte([]byte("no frame"))))
	s.expect(`PING "no frame" ACK=true`)
	s.must(s.WriteWindowUpdate(0, 1))
	s.expect("DATA 3 1")
	second.Cancel(io.EOF)
	s.expect("RST_STREAM 3 CANCEL")
	s.must(s.WriteWindowUpdate(0, 100))
	s.expect("DATA 5 100 END")
	s.answer(5, true, ":status", "200")
	if a := <-third; a.err != nil {
		t.Error(a.err)
	}
}

// TestH2LongBody has a body that is larger than what is copied at once, and windows that take it whole.
func TestH2LongBody(t *testing.T) {
	s, c := pretend(t, setting(http2.SettingInitialWindowSize, 1<<20))
	s.must(s.WriteWindowUpdate(0, 1<<20))
	s.must(s.WritePing(false, [8]byte([]byte("windows?"))))
	s.expect(`PING "windows?" ACK=true`)
	send(t, c, post("/", 12<<14+1))
	s.expect("HEADERS 1 /")
	for range 12 {
		s.expect("DATA 1 16384")
	}
	s.expect("DATA 1 1 END")
}

func TestH2EarlyAnswer(t *testing.T) {
	s, c := pretend(t, setting(http2.SettingInitialWindowSize, 10))
	_, results := send(t, c, post("/", 25))
	s.expect("HEADERS 1 /")
	s.expect("DATA 1 10")
	s.answer(1, true, ":status", "413")
	if a := <-results; a.err != nil || a.Status != 413 {
		t.Errorf("status %d, %v", a.Status, a.err)
	}
	s.expect("RST_STREAM 1 CANCEL")
	s.must(s.WriteWindowUpdate(1, 100))
	s.must(s.WriteRSTStream(1, http2.ErrCodeNo))
	send(t, c, get("/next"))
	s.expect("HEADERS 3 /next END")
}

// TestH2TableSize: what the server's decoder does not keep, the client may not refer to. The script's decoder fails if it does.
func TestH2TableSize(t *testing.T) {
	s, c := pretend(t)
	r := get("/")
	r.Header = []wire.Field{{Name: "kbn-xsrf", Value: "true"}}
	for _, size := range []uint32{4096, 0, 100, 1 << 20} {
		s.must(s.WriteSettings(setting(http2.SettingHeaderTableSize, size)))
		s.expect("SETTINGS ACK")
		s.ReadMetaHeaders.SetAllowedMaxDynamicTableSize(size)
		s.ReadMetaHeaders.SetMaxDynamicTableSize(min(size, 4096)) // which drops what is beyond
		for range 2 {
			send(t, c, r)
			f, err := s.ReadFrame()
			s.must(err)
			if h := f.(*http2.MetaHeadersFrame); len(h.Fields) != 5 || h.Fields[4] != (hpack.HeaderField{Name: "kbn-xsrf", Value: "true"}) {
				t.Errorf("table of %d: fields %v", size, h.Fields)
			}
		}
	}
}

// TestH2Continuation splits a header in three at every two places.
func TestH2Continuation(t *testing.T) {
	s, c := pretend(t)
	n := 1
	for i, stream := 0, uint32(1); i <= n; i++ {
		for j := i; j <= n; j++ {
			_, results := send(t, c, get("/"))
			block := s.header(":status", "404", "x-one", "eins", "x-one", "zwei")
			n = len(block)
			s.must(s.WriteHeaders(http2.HeadersFrameParam{StreamID: stream, EndStream: true, BlockFragment: block[:i]}))
			s.must(s.WriteContinuation(stream, false, block[i:min(j, n)]))
			s.must(s.WriteContinuation(stream, true, block[min(j, n):]))
			if a := <-results; a.err != nil || a.Status != 404 || strings.Join(a.Header["X-One"], " ") != "eins zwei" {
				t.Fatalf("split at %d and %d: %+v", i, j, a)
			}
			stream += 2
		}
	}
}

// TestH2Padding has an answer with everything that says nothing: padding, priorities, unknown frames, a 1xx header and a trailer.
func TestH2Padding(t *testing.T) {
	s, c := pretend(t)
	_, results := send(t, c, get("/"))
	s.answer(1, false, ":status", "103", "link", "</a>")
	s.must(s.WritePriority(1, http2.PriorityParam{Weight: 3}))
	s.must(s.WriteRawFrame(0x42, 0xff, 1, make([]byte, 5000)))
	s.must(s.WriteHeaders(http2.HeadersFrameParam{
		StreamID: 1, EndHeaders: true, PadLength: 200, Priority: http2.PriorityParam{StreamDep: 7, Weight: 9}, BlockFragment: s.header(":status", "200"),
	}))
	s.must(s.WriteDataPadded(1, false, []byte("bo"), make([]byte, 255)))
	s.must(s.WriteDataPadded(1, false, nil, []byte{}))
	s.must(s.WriteData(1, false, []byte("dy")))
	s.answer(1, true, "x-sum", "1")
	if a := <-results; a.err != nil || a.Status != 200 || string(a.Body) != "body" || len(a.Header) != 0 {
		t.Errorf("%+v", a)
	}
}

// TestH2Late: what arrives for a cancelled request is passed by, but its header still counts for the table of fields.
func TestH2Late(t *testing.T) {
	s, c := pretend(t)
	cancelled, results := send(t, c, get("/"))
	cancelled.Cancel(io.EOF)
	<-results
	_, results = send(t, c, get("/"))
	s.answer(1, false, ":status", "200", "x-new", "in the table from now on")
	s.must(s.WriteData(1, true, []byte("body")))
	s.answer(3, true, ":status", "200", "x-new", "in the table from now on")
	if a := <-results; a.err != nil || a.Header.Get("X-New") != "in the table from now on" {
		t.Errorf("%+v", a)
	}
}

func TestH2GoAway(t *testing.T) {
	s, c := pretend(t)
	_, first := send(t, c, get("/1"))
	_, second := send(t, c, get("/3"))
	_, third := send(t, c, get("/5"))
	s.must(s.WriteGoAway(3, http2.ErrCodeEnhanceYourCalm, []byte("too much")))
	a := <-third
	if !errors.Is(a.err, wire.ErrUnprocessed) || !strings.Contains(a.err.Error(), `ENHANCE_YOUR_CALM: "too much"`) {
		t.Errorf("request above the last: %v", a.err)
	}
	if c.Err() == nil {
		t.Error("more requests could be sent")
	}
	s.answer(1, true, ":status", "200")
	if a := <-first; a.err != nil {
		t.Error(a.err)
	}
	s.must(s.WriteGoAway(1, http2.ErrCodeNo, nil)) // it may still change its mind
	if a := <-second; !errors.Is(a.err, wire.ErrUnprocessed) {
		t.Error(a.err)
	}
	for _, want := range []string{"HEADERS 1 /1 END", "HEADERS 3 /3 END", "HEADERS 5 /5 END"} {
		s.expect(want)
	}
	if f, err := s.ReadFrame(); err != io.EOF { // nobody waits any more
		t.Errorf("client went on with %v, %v", f, err)
	}
}

// TestH2GoAwayCancel: the connection also ends with a last request that is cancelled.
func TestH2GoAwayCancel(t *testing.T) {
	s, c := pretend(t)
	last, results := send(t, c, get("/"))
	s.expect("HEADERS 1 / END")
	s.must(s.WriteGoAway(1, http2.ErrCodeNo, nil))
	for c.Err() == nil {
		time.Sleep(time.Millisecond)
	}
	last.Cancel(io.EOF)
	<-results
	s.expect("RST_STREAM 1 CANCEL")
	if f, err := s.ReadFrame(); err != io.EOF {
		t.Errorf("client went on with %v, %v", f, err)
	}
}

func TestH2ResetCodes(t *testing.T) {
	s, c := pretend(t)
	stream := uint32(1)
	for code := http2.ErrCodeNo; code <= 20; code++ {
		_, results := send(t, c, get("/"))
		s.must(s.WriteRSTStream(stream, code))
		want := code.String()
		if strings.HasPrefix(want, "unknown") {
			want = "error code 0x"
		}
		a := <-results
		if a.err == nil || !strings.Contains(a.err.Error(), want) || errors.Is(a.err, wire.ErrUnprocessed) != (code == http2.ErrCodeRefusedStream) {
			t.Errorf("%v: %v", code, a.err)
		}
		stream += 2
	}
	if c.Err() != nil {
		t.Error(c.Err())
	}
}

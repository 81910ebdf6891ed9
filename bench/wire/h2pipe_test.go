package wire_test

import (
	"errors"
	"io"
	"net"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/net/http2"
)

// counting counts what a client writes.
type counting struct {
	net.Conn
	writes atomic.Int32
}

func (c *counting) Write(b []byte) (int, error) {
	c.writes.Add(1)
	return c.Conn.Write(b)
}

func TestH2OneWrite(t *testing.T) {
	near, far := net.Pipe()
	counted := &counting{Conn: near}
	s, c := greet(t, counted, far, setting(http2.SettingInitialWindowSize, 1<<20))
	before := counted.writes.Load()
	later(t, c, post("/", 5000))
	s.expect("HEADERS 1 /")
	s.expect("DATA 1 5000 END")
	if n := counted.writes.Load() - before; n != 1 {
		t.Errorf("%d writes", n)
	}
}

// TestH2NoReader has a server that reads nothing before it has got rid of its answer. On a pipe a write lasts until it is read.
func TestH2NoReader(t *testing.T) {
	near, far := net.Pipe()
	counted := &counting{Conn: near}
	s, c := greet(t, counted, far)
	first := later(t, c, get("/1"))
	s.expect("HEADERS 1 /1 END")
	before := counted.writes.Load()
	later(t, c, get("/3"))
	for counted.writes.Load() == before {
		time.Sleep(time.Millisecond)
	}
	s.must(far.SetWriteDeadline(time.Now().Add(time.Minute)))
	s.must(s.WritePing(false, [8]byte([]byte("12345678"))))
	s.must(s.WriteSettings())
	s.answer(1, false, ":status", "200")
	for range 300 { // enough for the client to want to open its windows
		s.must(s.WriteData(1, false, make([]byte, 1<<14)))
	}
	s.must(s.WriteData(1, true, nil))
	if a := <-first; a.err != nil || len(a.Body) != 300<<14 {
		t.Errorf("%d bytes, %v", len(a.Body), a.err)
	}
	s.expect("HEADERS 3 /3 END")
	s.expect(`PING "12345678" ACK=true`)
	s.expect("SETTINGS ACK")
	s.expect("WINDOW_UPDATE 1 2097152")
}

// TestH2Windows: the windows are opened again when half of them has been used.
func TestH2Windows(t *testing.T) {
	near, far := net.Pipe()
	s, c := greet(t, near, far)
	later(t, c, get("/1"))
	s.expect("HEADERS 1 /1 END")
	s.answer(1, false, ":status", "200")
	half := func(window int) {
		for range window / 2 >> 14 {
			s.must(s.WriteData(1, false, make([]byte, 1<<14)))
		}
	}
	half(4 << 20)
	s.expect("WINDOW_UPDATE 1 2097152")
	half(4 << 20)
	s.expect("WINDOW_UPDATE 1 2097152")
	s.must(s.WriteData(1, true, nil))
	half(64<<20 - 8<<20) // for a stream that has ended
	s.expect("WINDOW_UPDATE 0 33554432")
}

func TestH2Flood(t *testing.T) {
	near, far := net.Pipe()
	s, c := greet(t, near, far)
	// The client ends the connection, and so the writes. That it does not is a deadline's to tell, far longer than a machine stalls.
	s.must(far.SetWriteDeadline(time.Now().Add(time.Minute)))
	var err error
	for err == nil {
		err = s.WritePing(false, [8]byte{})
	}
	if errors.Is(err, os.ErrDeadlineExceeded) {
		t.Fatal("the client neither reads nor ends")
	}
	for c.Err() == nil {
		time.Sleep(time.Millisecond)
	}
	if !strings.Contains(c.Err().Error(), "ENHANCE_YOUR_CALM") {
		t.Error(c.Err())
	}
}

// TestH2SaysWhyAfterWhatItWrites: a client that finds the connection broken in the midst of a write finishes that, says why, and ends; but it waits for a
// second only.
func TestH2SaysWhyAfterWhatItWrites(t *testing.T) {
	for _, reads := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			near, far := net.Pipe()
			s, c := greet(t, near, far)
			first := later(t, c, get("/"))
			synctest.Wait() // until it writes
			begun := time.Now()
			s.must(s.WriteRawFrame(http2.FrameSettings, 0, 1, nil)) // for a stream, which may not be
			if a := <-first; a.err == nil || !strings.Contains(a.err.Error(), "PROTOCOL_ERROR") || !time.Now().Equal(begun) {
				t.Errorf("error %v after %v", a.err, time.Since(begun))
			}
			if reads {
				s.expect("HEADERS 1 / END")
				s.expect("GOAWAY PROTOCOL_ERROR")
			} else {
				time.Sleep(time.Second)
				synctest.Wait()
			}
			if f, err := s.ReadFrame(); err != io.EOF {
				t.Errorf("client went on with %v, %v", f, err)
			}
		})
	}
}

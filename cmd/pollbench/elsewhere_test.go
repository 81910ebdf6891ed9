package main

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"golang.org/x/net/dns/dnsmessage"

	"pollbench/bench/clock"
	"pollbench/fixtures/elastic"
)

// elsewhere is a name of this machine that does not look like one.
const elsewhere = "elsewhere.test"

// knowElsewhere has this process know the name, by a resolver of its own: nobody is asked.
func knowElsewhere(t *testing.T) {
	t.Helper()
	before := net.DefaultResolver
	t.Cleanup(func() { net.DefaultResolver = before })
	net.DefaultResolver = &net.Resolver{PreferGo: true, Dial: func(context.Context, string, string) (net.Conn, error) {
		near, far := net.Pipe()
		go func() {
			defer far.Close()
			for resolve(far) == nil {
			}
		}()
		return near, nil
	}}
}

// resolve answers one question, as over TCP: with 127.0.0.1 if it is for an IPv4 address, and with nothing if not.
func resolve(c net.Conn) error {
	var length uint16
	if err := binary.Read(c, binary.BigEndian, &length); err != nil {
		return err
	}
	question := make([]byte, length)
	if _, err := io.ReadFull(c, question); err != nil {
		return err
	}
	var m dnsmessage.Message
	if err := m.Unpack(question); err != nil {
		return err
	}
	m.Response, m.Additionals = true, nil
	if q := m.Questions[0]; q.Type == dnsmessage.TypeA && q.Name.String() == elsewhere+"." {
		m.Answers = []dnsmessage.Resource{{
			Header: dnsmessage.ResourceHeader{Name: q.Name, Class: q.Class, TTL: 1},
			Body:   &dnsmessage.AResource{A: [4]byte{127, 0, 0, 1}},
		}}
	}
	answer, err := m.AppendPack([]byte{0, 0})
	if err != nil {
		return err
	}
	binary.BigEndian.PutUint16(answer, uint16(len(answer)-2))
	_, err = c.Write(answer)
	return err
}

// watched is what the program writes, and how many requests there had been when it wrote first that such go to another machine.
type watched struct {
	bytes.Buffer
	asked  *atomic.Int64
	before int64 // -1: it has not
}

func (w *watched) Write(p []byte) (int, error) {
	if w.before < 0 && bytes.Contains(p, []byte("requests go to "+elsewhere)) {
		w.before = w.asked.Load()
	}
	return w.Buffer.Write(p)
}

// Another machine is asked for nothing before it has been told how much that will be, for nothing at all if that is not allowed, and for no more than was told.
func TestAnotherMachineIsAnnounced(t *testing.T) {
	knowElsewhere(t)
	server := elastic.New(elastic.Options{Clock: clock.Standard()})
	defer server.Close()
	var asked atomic.Int64
	there := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		server.ServeHTTP(w, r)
	}))
	defer there.Close()
	at, err := url.Parse(there.URL)
	if err != nil {
		t.Fatal(err)
	}
	to := "http://" + elsewhere + ":" + at.Port()
	for _, c := range []struct {
		args string
		code int
		want string
		told bool // that requests go there
	}{
		{"", exitUsage, "that is another machine: say --allow-remote", false},
		{"--allow-remote --max-rate 1", exitUsage, "allow it with --max-rate", true},
		{"--allow-remote", exitDone, "result in ", true},
	} {
		asked.Store(0)
		w := watched{asked: &asked, before: -1}
		args := append([]string{"run", write(t, short), "--elasticsearch", to, "--protocols", "h2", "--progress", "none", "--out", filepath.Join(t.TempDir(), "result")}, strings.Fields(c.args)...)
		code := run(t.Context(), args, io.Discard, &w)
		if code != c.code || !strings.Contains(w.String(), c.want) {
			t.Errorf("%s: exit %d, no %q in %s", c.args, code, c.want, w.String())
		}
		if c.told != (w.before == 0) {
			t.Errorf("%s: %d requests before it was told", c.args, w.before)
		}
		if c.code != exitDone {
			if n := asked.Load(); n > 0 {
				t.Errorf("%s: %d requests have gone there", c.args, n)
			}
			continue
		}
		var upTo int64
		if _, err := fmt.Sscanf(w.String(), "short: up to about %d requests", &upTo); err != nil || asked.Load() > upTo || asked.Load() < upTo/4 {
			t.Errorf("%d requests, and it told of %d, %v: %s", asked.Load(), upTo, err, w.String())
		}
	}
}

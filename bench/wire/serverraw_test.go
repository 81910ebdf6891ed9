package wire_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
)

const (
	hostField = " HTTP/1.1\r\nHost: h\r\n"
	end       = "GET /close" + hostField + "\r\n"
	closed    = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n" // the answer to end
	plainText = "Content-Type: text/plain; charset=utf-8\r\n"
)

func ok(body string) string {
	return fmt.Sprintf("HTTP/1.1 200 OK\r\n%sContent-Length: %d\r\n\r\n%s", plainText, len(body), body)
}

func refused(status string) string {
	return fmt.Sprintf("HTTP/1.1 %s\r\n%sContent-Length: %d\r\nConnection: close\r\n\r\n%s", status, plainText, len(status), status)
}

// TestServerBytes fixes what goes over the connection, apart from the date. All of a request is there before the server reads it, so a server
// that reads too much or too little of one answers the next one wrongly.
func TestServerBytes(t *testing.T) {
	s := host(t, different)
	chunked := "POST /echo" + hostField + "Transfer-Encoding: chunked\r\n\r\n"
	sized := "POST /echo" + hostField + "Content-Length: 3\r\n\r\nabc"
	for _, c := range []struct{ name, sent, want string }{
		{"pipelined", sized + strings.Repeat(sized, 9) + end, strings.Repeat(ok("abc"), 10) + closed},
		{"chunked", chunked + "2\r\nab\r\n1;x=y\r\nc\r\n0\r\n\r\n" + end, ok("abc") + closed},
		{"trailer", chunked + "3\r\nabc\r\n0\r\nX-T: 1\r\n\r\n" + end, ok("abc") + closed},
		{"empty line between", sized + "\r\n" + end, ok("abc") + closed},
		{"HTTP/1.0", "GET /status/200 HTTP/1.0\r\n\r\n" + end,
			"HTTP/1.0 200 OK\r\n" + plainText + "Content-Length: 4\r\nConnection: close\r\n\r\nbody"},
		{"HTTP/1.0 kept", "GET /status/200 HTTP/1.0\r\nConnection: keep-alive\r\n\r\n" + end,
			"HTTP/1.0 200 OK\r\n" + plainText + "Content-Length: 4\r\nConnection: keep-alive\r\n\r\nbody" + closed},
		{"HTTP/1.0 of unknown length", "GET /flushed HTTP/1.0\r\nConnection: keep-alive\r\n\r\n" + end,
			"HTTP/1.0 200 OK\r\n" + plainText + "Connection: close\r\n\r\nonetwo"},
		{"HTTP/1.0 knows no 1xx", "GET /early HTTP/1.0\r\n\r\n", "HTTP/1.0 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"},
		{"close asked for", "GET /status/200" + hostField + "Connection: close\r\n\r\n" + end,
			"HTTP/1.1 200 OK\r\n" + plainText + "Content-Length: 4\r\nConnection: close\r\n\r\nbody"},
		{"flushed", "GET /flushed" + hostField + "\r\n" + end,
			"HTTP/1.1 200 OK\r\n" + plainText + "Transfer-Encoding: chunked\r\n\r\n3\r\none\r\n3\r\ntwo\r\n0\r\n\r\n" + closed},
		{"HEAD", "HEAD /flushed" + hostField + "\r\n" + end, "HTTP/1.1 200 OK\r\n" + plainText + "\r\n" + closed},
		{"HEAD of a length", "HEAD /status/200" + hostField + "\r\n" + end, "HTTP/1.1 200 OK\r\n" + plainText + "Content-Length: 4\r\n\r\n" + closed},
		{"204", "GET /status/204" + hostField + "\r\n" + end, "HTTP/1.1 204 No Content\r\n\r\n" + closed},
		{"304", "GET /status/304" + hostField + "\r\n" + end, "HTTP/1.1 304 Not Modified\r\n\r\n" + closed},
		{"unknown status", "GET /status/299" + hostField + "\r\n" + end,
			"HTTP/1.1 299 status code 299\r\n" + plainText + "Content-Length: 4\r\n\r\nbody" + closed},
		{"103", "GET /early" + hostField + "\r\n" + end,
			"HTTP/1.1 103 Early Hints\r\nLink: </style>\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n" + closed},
		{"fields", "GET /fields" + hostField + "\r\n" + end,
			"HTTP/1.1 200 OK\r\nDate: today\r\nX-Many: 1\r\nX-Many: 2  X-Smuggled: 3\r\nContent-Length: 4\r\n\r\ntext" + closed},
		{"too short", "GET /short" + hostField + "\r\n" + end, "HTTP/1.1 200 OK\r\n" + plainText + "Content-Length: 10\r\n\r\nshort"},
		{"abort", "GET /abort" + hostField + "\r\n" + end, ""},
		{"unread", "POST /status/200" + hostField + "Content-Length: 262144\r\n\r\n" + strings.Repeat("x", 256<<10) + end, ok("body") + closed},
		{"unread in chunks", "POST /status/200" + hostField + "Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n" + end, ok("body") + closed},
		{"too much unread", "POST /status/200" + hostField + "Content-Length: 262145\r\n\r\n" + strings.Repeat("x", 256<<10+1) + end,
			"HTTP/1.1 200 OK\r\n" + plainText + "Content-Length: 4\r\nConnection: close\r\n\r\nbody"},
		{"too much unread in chunks", "POST /status/200" + hostField + "Transfer-Encoding: chunked\r\n\r\n40001\r\n" +
			strings.Repeat("x", 256<<10+1) + "\r\n0\r\n\r\n" + end,
			"HTTP/1.1 200 OK\r\n" + plainText + "Content-Length: 4\r\nConnection: close\r\n\r\nbody"},
		{"bad chunk unread", "POST /status/200" + hostField + "Transfer-Encoding: chunked\r\n\r\nno\r\n" + end,
			"HTTP/1.1 200 OK\r\n" + plainText + "Content-Length: 4\r\nConnection: close\r\n\r\nbody"},
		{"bad chunk read", chunked + "no\r\n" + end, ""},
		{"no body to wait for", "GET /status/200" + hostField + "Expect: 100-continue\r\n\r\n" + end, ok("body") + closed},
		{"no request line", "hello\r\n\r\n", refused("400 Bad Request")},
		{"after another", sized + "hello\r\n\r\n", ok("abc") + refused("400 Bad Request")},
		{"no host", "GET / HTTP/1.1\r\n\r\n", refused("400 Bad Request")},
		{"bad host", "GET / HTTP/1.1\r\nHost: a b\r\n\r\n", refused("400 Bad Request")},
		{"bad length", "POST /echo" + hostField + "Content-Length: x\r\n\r\n", refused("400 Bad Request")},
		{"two ends of the body", "POST /echo" + hostField + "Transfer-Encoding: gzip, chunked\r\n\r\n", refused("400 Bad Request")},
		{"bad name", "GET /" + hostField + "X Y: 1\r\n\r\n", refused("400 Bad Request")},
		{"bad value", "GET /" + hostField + "X: \x01\r\n\r\n", refused("400 Bad Request")},
		{"HTTP/2", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", refused("505 HTTP Version Not Supported")},
		{"other expectation", "GET /" + hostField + "Expect: peace\r\n\r\n", refused("417 Expectation Failed")},
		{"large head", "GET /status/200" + hostField + "X: " + strings.Repeat("x", 1<<20-100) + "\r\n\r\n" + end, ok("body") + closed},
		{"too large head", "GET /" + hostField + "X: " + strings.Repeat("x", 1<<20) + "\r\n\r\n" + end, refused("431 Request Header Fields Too Large")},
		{"too large request line", "GET /" + strings.Repeat("x", 1<<20), refused("431 Request Header Fields Too Large")},
	} {
		t.Run(c.name, func(t *testing.T) {
			s.t = t
			if answer := s.talk(c.sent); answer != c.want {
				t.Errorf("answered\n%.500q\nwant\n%.500q", answer, c.want)
			}
		})
	}
	s.t = t
}

// TestServerContinue: a client that waits for 100 Continue is told when somebody reads, and only then.
func TestServerContinue(t *testing.T) {
	s := host(t, different)
	head := hostField + "Expect: 100-continue\r\nContent-Length: 3\r\n\r\n"
	proceed := "HTTP/1.1 100 Continue\r\n\r\n"

	c := s.dial()
	_, _ = io.WriteString(c, "POST /echo"+head)
	got := make([]byte, len(proceed))
	if _, err := io.ReadFull(c, got); err != nil || string(got) != proceed {
		t.Fatalf("%q, %v", got, err)
	}
	_, _ = io.WriteString(c, "abc"+end)
	rest, err := io.ReadAll(c)
	if want := ok("abc") + closed; err != nil || undated(string(rest)) != want {
		t.Errorf("%q, %v", rest, err)
	}

	// Nobody knows whether a body follows, so that no other request can.
	want := "HTTP/1.1 200 OK\r\n" + plainText + "Content-Length: 4\r\nConnection: close\r\n\r\nbody"
	if answer := s.talk("POST /status/200" + head); answer != want {
		t.Errorf("%q", answer)
	}

	// After the answer's head it would be taken for a part of the answer.
	answer := s.talk("POST /flushed" + strings.Replace(head, "Expect", "Connection: close\r\nExpect", 1) + "abc")
	if strings.Contains(answer, "100") || !strings.HasSuffix(answer, "3\r\nabc\r\n0\r\n\r\n") {
		t.Errorf("%q", answer)
	}
}

// TestServerLate: the body is out of reach once the head has been sent, and the answer once the handler has returned.
func TestServerLate(t *testing.T) {
	var late http.ResponseWriter
	s := host(t, func(w http.ResponseWriter, r *http.Request) {
		late = w
		w.WriteHeader(200)
		w.WriteHeader(500)
		w.(http.Flusher).Flush()
		if _, err := r.Body.Read(make([]byte, 1)); r.Method == "POST" && err != http.ErrBodyReadAfterClose {
			t.Errorf("body after head: %v", err)
		}
	})
	answer := s.talk("POST /" + hostField + "Content-Length: 3\r\n\r\nabc" + "GET /" + hostField + "Connection: close\r\n\r\n")
	want := "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"
	if answer != want+strings.Replace(want, "\r\n\r\n", "\r\nConnection: close\r\n\r\n", 1) {
		t.Errorf("%q", answer)
	}
	s.close()
	late.Header().Set("X", "1")
	late.WriteHeader(500)
	late.(http.Flusher).Flush()
	if _, err := late.Write([]byte("x")); err == nil {
		t.Error("written after the handler returned")
	}
}

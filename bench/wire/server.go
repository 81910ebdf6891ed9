package wire

import (
	"errors"
	"log"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// acceptPause is how long accepting rests when the system has no descriptors left: long enough for some to be given back, short enough
// that nobody who connects gives up.
const acceptPause = 5 * time.Millisecond

// Server serves HTTP/1.1 (and 1.0, and HTTP/2 if asked to) with one goroutine and 2 KiB of buffers for each connection; an answer's buffers are borrowed from its first
// byte to its last. Requests are parsed by net/http. An answer of up to 4 KiB, or one whose handler sets Content-Length and writes it at once,
// leaves with its head in one write.
//
// It differs from net/http's server in what a handler seldom needs:
//
//   - The peer's disconnect is watched for from the first call of Done of the request's context on, which costs a second goroutine until the
//     handler returns. Contexts derived from it call Done. A handler that does not call it learns of a disconnect when it reads or writes.
//   - The ResponseWriter is an [http.Flusher] and nothing else. Transfer-Encoding is the server's to set, trailers are not sent, and a
//     second WriteHeader does nothing.
//   - A ResponseWriter and its Header must not be used once the handler has returned: the map goes to another answer.
//   - There are no timeouts, and no TLS.
//
// As with net/http, a request's body cannot be read any more once the answer's head has been sent.
type Server struct {
	// Handler answers the requests; it must be set.
	Handler http.Handler
	// H2Streams is how many requests a connection may have open at once that speaks HTTP/2 in cleartext and with prior knowledge, on the same
	// listeners. A request that waits is then one goroutine, and a connection one more. A handler that panics ends its connection, as over HTTP/1.1, and
	// not only its stream. With 0 there is no HTTP/2.
	H2Streams int
	// Refused makes the answer to a request over HTTP/1.x that no handler sees, since its head is wrong: why is net/http's error, or nil where its parser
	// found none. The connection is closed after it. Without this function, or with a body of nil, the answer is a line of text.
	Refused func(status int, why error) (header http.Header, body []byte)
	// ErrorLog is told of handlers that panic other than with [http.ErrAbortHandler]; log's standard logger if nil.
	ErrorLog *log.Logger

	mu        sync.Mutex
	closed    atomic.Bool // set with mu held
	listeners map[*net.Listener]struct{}
	conns     map[*served]struct{}
	date      atomic.Pointer[date]
}

// Serve accepts connections until Close, and then returns [http.ErrServerClosed]. It closes the listener in any case.
func (s *Server) Serve(l net.Listener) error {
	listening := s.listen(&l)
	defer s.silence(&l)
	if !listening {
		return http.ErrServerClosed
	}
	for {
		conn, err := l.Accept()
		switch {
		case err == nil:
			s.start(conn)
		case s.closed.Load():
			return http.ErrServerClosed
		case passing(err):
			time.Sleep(acceptPause)
		default:
			return err
		}
	}
}

// passing tells whether accepting may go well later, as when the process has too many files open.
func passing(err error) bool {
	errno := syscall.Errno(0)
	return errors.As(err, &errno) && errno.Temporary()
}

// listen is false if the server has been closed.
func (s *Server) listen(l *net.Listener) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed.Load() {
		return false
	}
	if s.listeners == nil {
		s.listeners, s.conns = map[*net.Listener]struct{}{}, map[*served]struct{}{}
	}
	s.listeners[l] = struct{}{}
	return true
}

func (s *Server) silence(l *net.Listener) {
	s.mu.Lock()
	delete(s.listeners, l)
	s.mu.Unlock()
	// After Close it is closed already.
	_ = (*l).Close()
}

func (s *Server) start(conn net.Conn) {
	c := newServed(s, conn)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed.Load() {
		_ = conn.Close()
		return
	}
	s.conns[c] = struct{}{}
	go c.serve()
}

func (s *Server) forget(c *served) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.conns, c)
}

// Close closes the listeners and all connections at once. The contexts of the handlers that run end; it does not wait for the handlers to return.
func (s *Server) Close() error {
	s.mu.Lock()
	s.closed.Store(true)
	listeners, conns := s.listeners, s.conns
	s.listeners, s.conns = nil, nil
	s.mu.Unlock()
	var failed []error
	for l := range listeners {
		failed = append(failed, (*l).Close())
	}
	for c := range conns {
		c.abort()
	}
	return errors.Join(failed...)
}

// logf tells what went wrong in a handler.
func (s *Server) logf(format string, args ...any) {
	if s.ErrorLog != nil {
		s.ErrorLog.Printf(format, args...)
		return
	}
	log.Printf(format, args...)
}

// date is the Date field of every answer within a second.
type date struct {
	second int64
	text   string
}

func (s *Server) dateText() string {
	now := time.Now()
	d := s.date.Load()
	if d == nil || d.second != now.Unix() {
		d = &date{now.Unix(), now.UTC().Format(http.TimeFormat)}
		s.date.Store(d)
	}
	return d.text
}

// Package wire carries HTTP over single connections, with as few goroutines as can be: [Conn] is the client's end of an HTTP/1.1 connection,
// one exchange after the other on the goroutine of whoever asks; [H2] that of an HTTP/2 one, with a goroutine that reads; [Server] serves HTTP/1.1
// with a goroutine for each connection, and cleartext HTTP/2 with one more for each request.
//
// net/http has two goroutines and some 15 KiB for each connection at either end, and two more for a request that waits over h2. That is no matter
// for most programs, but here thousands of requests wait at once, in the process that also measures them: their stacks were a
// quarter of its memory, the garbage collector's work on them held loads up by tenths of a second, and each answer went through goroutines that it
// did not need. HTTP/1.1's heads are written and parsed by net/http all the same.
package wire

import (
	"bufio"
	"context"
	"net"
	"net/http"
	"sync/atomic"
	"time"
)

// bufferSize holds a poll with its head and the head of its answer. Bodies that are larger pass the buffers by.
const bufferSize = 1 << 10

// Conn is one connection. It may be used by one exchange at a time: Send, Await, Receive, and the body read to its end. After an error
// it is broken.
type Conn struct {
	conn   net.Conn
	read   *bufio.Reader
	write  *bufio.Writer
	broken atomic.Bool
}

// New takes over an open connection.
func New(conn net.Conn) *Conn {
	return &Conn{conn: conn, read: bufio.NewReaderSize(conn, bufferSize), write: bufio.NewWriterSize(conn, bufferSize)}
}

// Watch breaks the connection off when the context ends, so that whoever reads or writes returns. The function ends the watch
// and reports whether that was in time.
func (c *Conn) Watch(ctx context.Context) (stop func() bool) {
	return context.AfterFunc(ctx, func() {
		c.broken.Store(true)
		// An instant long past: whatever blocks returns at once. It fails only on a closed connection.
		_ = c.conn.SetDeadline(time.Unix(1, 0))
	})
}

// Send writes the whole request.
func (c *Conn) Send(r *http.Request) error {
	err := r.Write(c.write)
	if err == nil {
		err = c.write.Flush()
	}
	return c.check(err)
}

// Await returns with the first byte of the answer, which stays unread.
func (c *Conn) Await() error {
	_, err := c.read.Peek(1)
	return c.check(err)
}

// Receive reads the head of the answer. The connection is free again once the body has been read to its end.
func (c *Conn) Receive(r *http.Request) (*http.Response, error) {
	for {
		response, err := http.ReadResponse(c.read, r)
		if c.check(err) != nil {
			return nil, err
		}
		if response.StatusCode >= 200 {
			if response.Close {
				c.broken.Store(true)
			}
			return response, nil
		}
	}
}

func (c *Conn) check(err error) error {
	if err != nil {
		c.broken.Store(true)
	}
	return err
}

// Break marks the connection as not to be used again, as after a body that was not read to its end.
func (c *Conn) Break() { c.broken.Store(true) }

// Usable tells whether another exchange may follow.
func (c *Conn) Usable() bool { return !c.broken.Load() }

// Close closes the connection.
func (c *Conn) Close() error { return c.conn.Close() }

package wire

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"math"
	"net"
	"net/http"
	"sync"
	"time"

	"golang.org/x/net/http2/hpack"
)

const (
	preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"

	// The server may send this much ahead of us. Bodies are taken up as they arrive, so the windows need not hold anything back; they are
	// larger than what can be on a fast network's way, so that they never close and few frames are spent on opening them again.
	receiveConnection = 64 << 20
	receiveStream     = 4 << 20

	// initialWindow is what the protocol has both sides begin with.
	initialWindow = 1<<16 - 1

	// readSize holds some answers of long polls at once, with their heads. Larger bodies pass it by.
	readSize = 2 << 10

	// tableSize is the protocol's default for the table of header fields, in either direction.
	tableSize = 4 << 10

	// mostHeader is by far more than an answer's head has. It keeps a broken server from filling the memory.
	mostHeader = 256 << 10
)

var (
	// ErrFull tells that the server allows no further request before another one has ended.
	ErrFull = errors.New("h2: as many requests are open as the server allows")
	// ErrUnprocessed tells that the server has not begun with the request, so that it may be sent again over another connection.
	ErrUnprocessed = errors.New("the server did not process the request")
	// ErrClosed is why requests fail after Close.
	ErrClosed = errors.New("h2: connection closed")
)

// H2 is the client's end of an HTTP/2 connection. It has one goroutine, which reads; a request that waits for its answer is an entry in a map.
// Its methods may be called from any goroutine.
//
// The goroutine that reads never writes and never waits for somebody who does, because that could go round in a circle: the server might not read
// until it has got rid of what it writes, which we would have to read. Whatever is to be sent is appended to a buffer under a lock that is held
// for no longer than that takes, never while writing and never during a callback. The goroutine that appends also writes, together
// with whatever others append meanwhile; only when the reader itself has something to send (acknowledgements, windows, the rest of a body)
// and nobody is writing does a goroutine start for as long as that takes. So the reader goes on reading while the network takes nothing,
// a server that waits for it to read proceeds, and then so do our writes.
type H2 struct {
	conn   net.Conn
	read   *bufio.Reader
	now    func() time.Time
	scheme string

	// What follows belongs to the goroutine that reads.

	decode   *hpack.Decoder
	block    block
	fields   []hpack.HeaderField
	peeked   int // bytes of the read buffer that have been used but not discarded yet
	consumed int // bytes of DATA that the server's view of the connection's window does not have back yet

	// mu guards everything below, and the sending half of each stream.
	mu       sync.Mutex
	encode   *hpack.Encoder // writes to out: header blocks have to be sent in the order in which they were encoded
	out      *buffer        // frames to be sent; nil for none
	writing  bool           // a goroutine is writing what was in out, and will look again
	err      error          // why no more requests can be sent
	drained  bool           // the server went away: the connection ends with its last request
	finished bool           // nothing more is read: the connection ends with what is to be written
	streams  map[uint32]*Stream
	next     uint32    // the next stream's id
	most     int       // how many streams the server allows
	window   int       // how many bytes of bodies the server takes at present
	initial  int       // that, for a stream that begins
	blocked  []*Stream // those whose body has not been sent to its end, oldest first
}

// Field is a header field. Its name is in lower case.
type Field struct{ Name, Value string }

// Request is what to ask. The header must not have content-length, which follows from the body, nor fields that belong to an HTTP/1.1
// connection, such as host.
type Request struct {
	Method, Authority, Path string
	Header                  []Field
	Body                    []byte // must not change before the answer
}

// Answer is a whole answer. Trailers are not kept.
type Answer struct {
	Status    int
	Header    http.Header
	Body      []byte
	FirstByte time.Time // when the HEADERS frame had been read
	Done      time.Time // when the last frame had been read
}

// NewH2 takes over an open connection on which HTTP/2 has been agreed. It returns when the server's settings are known, or closes
// the connection when the context ends before that. The clock is what answers are timed with.
func NewH2(ctx context.Context, conn net.Conn, now func() time.Time) (*H2, error) {
	c := &H2{
		conn:    conn,
		read:    bufio.NewReaderSize(conn, readSize),
		now:     now,
		scheme:  "http",
		streams: map[uint32]*Stream{},
		next:    1,
		most:    math.MaxInt32,
		window:  initialWindow,
		initial: initialWindow,
	}
	if _, ok := conn.(interface{ ConnectionState() tls.ConnectionState }); ok {
		c.scheme = "https"
	}
	c.encode = hpack.NewEncoder((*outWriter)(c))
	c.decode = hpack.NewDecoder(tableSize, c.field)
	c.decode.SetMaxStringLength(mostHeader)

	// An instant long past makes whoever reads or writes return at once.
	stop := context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })
	err := c.greet()
	if !stop() {
		err = context.Cause(ctx)
	}
	if err != nil {
		_ = conn.Close()
		return nil, fmt.Errorf("h2: begin connection: %w", err)
	}
	go c.loop()
	return c, nil
}

// greet exchanges the settings.
func (c *H2) greet() error {
	hello := append([]byte(preface), appendHead(nil, frame{length: 3 * 6, kind: frameSettings})...)
	hello = appendSetting(hello, settingPush, 0)
	hello = appendSetting(hello, settingInitialWindow, receiveStream)
	hello = appendSetting(hello, settingHeaderSize, mostHeader)
	hello = appendNumber(hello, frameWindowUpdate, 0, receiveConnection-initialWindow)
	if _, err := c.conn.Write(hello); err != nil {
		return err
	}
	f, err := c.readHead()
	if err != nil {
		return err
	}
	if f.kind != frameSettings || f.flags&flagAck != 0 {
		return violates(codeProtocol, "first frame is not SETTINGS but of type %d", f.kind)
	}
	return c.settings(f)
}

// Streams returns how many requests the server allows at once. It may change at any time.
func (c *H2) Streams() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.most
}

// Err tells why no more requests can be sent. It is nil while they can.
func (c *H2) Err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.err
}

// Leaving tells whether no more requests can be sent while those under way go on: the server has sent GOAWAY, or the connection has had all that it can have.
// It ends with the last of them.
func (c *H2) Leaving() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.drained
}

// Close ends the connection. Requests that wait fail soon after.
func (c *H2) Close() error {
	c.mu.Lock()
	c.broken(ErrClosed)
	c.mu.Unlock()
	return c.conn.Close()
}

// broken notes why the connection cannot be used any more. The lock is held.
func (c *H2) broken(cause error) {
	switch {
	case c.err == nil:
		c.err = cause
	case c.drained:
		c.err = fmt.Errorf("%w (%w)", cause, c.err)
	}
	c.drained = false
}

package wire

import (
	"encoding/binary"
	"fmt"
	"sync"
)

// Frame types, flags, settings and error codes have the numbers of RFC 9113, sections 6 and 7.
const (
	frameData         = 0x0
	frameHeaders      = 0x1
	framePriority     = 0x2
	frameReset        = 0x3
	frameSettings     = 0x4
	framePushPromise  = 0x5
	framePing         = 0x6
	frameGoAway       = 0x7
	frameWindowUpdate = 0x8
	frameContinuation = 0x9

	flagAck        = 0x1
	flagEndStream  = 0x1
	flagEndHeaders = 0x4
	flagPadded     = 0x8
	flagPriority   = 0x20

	settingTableSize     = 0x1
	settingPush          = 0x2
	settingStreams       = 0x3
	settingInitialWindow = 0x4
	settingFrameSize     = 0x5
	settingHeaderSize    = 0x6
)

const (
	headSize   = 9
	mostWindow = 1<<31 - 1

	// frameSize is both the largest frame that is accepted, which is what the protocol assumes unless told otherwise, and the largest one
	// that is sent. Every server has to take that much. Some would take more, but TLS cuts at 16 KiB anyway.
	frameSize = 1 << 14
)

type errorCode uint32

const (
	codeNone        errorCode = 0x0
	codeProtocol    errorCode = 0x1
	codeInternal    errorCode = 0x2
	codeFlowControl errorCode = 0x3
	codeFrameSize   errorCode = 0x6
	codeRefused     errorCode = 0x7
	codeCancel      errorCode = 0x8
	codeCompression errorCode = 0x9
	codeCalm        errorCode = 0xb
)

var codeNames = [...]string{
	"NO_ERROR", "PROTOCOL_ERROR", "INTERNAL_ERROR", "FLOW_CONTROL_ERROR", "SETTINGS_TIMEOUT", "STREAM_CLOSED", "FRAME_SIZE_ERROR",
	"REFUSED_STREAM", "CANCEL", "COMPRESSION_ERROR", "CONNECT_ERROR", "ENHANCE_YOUR_CALM", "INADEQUATE_SECURITY", "HTTP_1_1_REQUIRED",
}

func (c errorCode) String() string {
	if int(c) < len(codeNames) {
		return codeNames[c]
	}
	return fmt.Sprintf("error code %#x", uint32(c))
}

// violation is what a server did against the protocol such that the whole connection cannot go on.
type violation struct {
	code   errorCode
	reason string
}

func (v violation) Error() string {
	return fmt.Sprintf("server broke the protocol (%v): %s", v.code, v.reason)
}

func violates(code errorCode, format string, args ...any) error {
	return violation{code, fmt.Sprintf(format, args...)}
}

// frame is the head of a frame.
type frame struct {
	length int
	kind   byte
	flags  byte
	stream uint32
}

func parseHead(b []byte) frame {
	return frame{
		length: int(b[0])<<16 | int(b[1])<<8 | int(b[2]),
		kind:   b[3],
		flags:  b[4],
		stream: binary.BigEndian.Uint32(b[5:]) & mostWindow, // the highest bit has no meaning
	}
}

func appendHead(b []byte, f frame) []byte {
	b = append(b, byte(f.length>>16), byte(f.length>>8), byte(f.length), f.kind, f.flags)
	return binary.BigEndian.AppendUint32(b, f.stream)
}

// appendNumber adds a frame whose payload is one number: RST_STREAM or WINDOW_UPDATE.
func appendNumber(b []byte, kind byte, stream, number uint32) []byte {
	return binary.BigEndian.AppendUint32(appendHead(b, frame{length: 4, kind: kind, stream: stream}), number)
}

// appendGoAway has the other side know why the connection ends, and up to which of its streams it was listened to.
func appendGoAway(b []byte, last uint32, code errorCode) []byte {
	b = binary.BigEndian.AppendUint32(appendHead(b, frame{length: 8, kind: frameGoAway}), last)
	return binary.BigEndian.AppendUint32(b, uint32(code))
}

func appendSetting(b []byte, id uint16, value uint32) []byte {
	return binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint16(b, id), value)
}

// unpad takes the padding off a payload, and the priority that may precede a header block.
func unpad(f frame, p []byte) ([]byte, error) {
	pad := 0
	if f.flags&flagPadded != 0 {
		if len(p) == 0 {
			return nil, violates(codeFrameSize, "padded frame without the length of its padding")
		}
		pad, p = int(p[0]), p[1:]
	}
	if f.kind == frameHeaders && f.flags&flagPriority != 0 {
		if len(p) < 5 {
			return nil, violates(codeFrameSize, "HEADERS frame too short for its priority")
		}
		p = p[5:]
	}
	if pad > len(p) {
		return nil, violates(codeProtocol, "padding of %d bytes in a frame that has %d", pad, len(p))
	}
	return p[:len(p)-pad], nil
}

// buffer holds frames on their way out. Buffers are shared by all connections: one that waits needs none.
type buffer struct{ b []byte }

var buffers = sync.Pool{New: func() any { return new(buffer) }}

// mostKept keeps the odd large body from making the pool's buffers large for good.
const mostKept = 1 << 14

func (b *buffer) release() {
	if cap(b.b) <= mostKept {
		b.b = b.b[:0]
		buffers.Put(b)
	}
}

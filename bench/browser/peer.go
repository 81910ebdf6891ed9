package browser

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"

	"pollbench/bench/scenario"
)

// peer is the server as a connection's requests name it, and what each of them carries.
type peer struct {
	authority string
	basePath  string
	plain     []header
	withBody  []header
}

// header is one of a request's, with its name in the forms of HTTP/1.1 and h2.
type header struct{ canonical, lower, value string }

// A script's requests to Kibana carry kbn-xsrf. The internal routes want a version, and those of Kibana 9 to be told that they are Kibana's own.
var (
	headers = []header{
		{"Kbn-Xsrf", "kbn-xsrf", "pollbench"},
		{"Elastic-Api-Version", "elastic-api-version", "1"},
		{"X-Elastic-Internal-Origin", "x-elastic-internal-origin", "Kibana"},
	}
	contentType = header{"Content-Type", "content-type", "application/json"}
)

// Headers are those of a script's request with a body, credentials apart.
func Headers() http.Header {
	all := http.Header{}
	for _, h := range append([]header{contentType}, headers...) {
		all.Set(h.canonical, h.value)
	}
	return all
}

func newPeer(o Options) peer {
	p := peer{authority: o.host(), basePath: o.BasePath, plain: headers}
	usual := ":443"
	if o.TLS == nil {
		usual = ":80"
	}
	p.authority = strings.TrimSuffix(p.authority, usual)
	if o.Authorization != "" {
		p.plain = append(slices.Clone(headers), header{"Authorization", "authorization", o.Authorization})
	}
	p.withBody = append([]header{contentType}, p.plain...)
	return p
}

func (p peer) headers(c call) []header {
	if c.body == nil {
		return p.plain
	}
	return p.withBody
}

// host is the server's name, with its port where that is told.
func (o Options) host() string {
	if o.Host != "" {
		return o.Host
	}
	return o.Address
}

// dial opens a connection that speaks that protocol. As a browser does, one that wants h2 offers HTTP/1.1 beside it; a server that then chooses that is
// no server to measure h2 with.
func dial(ctx context.Context, o Options, protocol string) (net.Conn, error) {
	raw, err := o.Dial(ctx, "tcp", o.Address)
	if err != nil || o.TLS == nil {
		return raw, err
	}
	config := o.TLS.Clone()
	config.NextProtos = []string{protocol}
	if protocol == "h2" {
		config.NextProtos = []string{"h2", "http/1.1"}
	}
	if config.ServerName == "" {
		config.ServerName = hostname(o.host())
	}
	conn := tls.Client(raw, config)
	err = conn.HandshakeContext(ctx)
	chosen := conn.ConnectionState().NegotiatedProtocol
	switch {
	case err != nil && strings.Contains(err.Error(), "no application protocol"): // an alert, which has no type of its own
		err = fmt.Errorf("the server does not speak %s", protocol)
	case err == nil && protocol == "h2" && chosen != protocol:
		err = errors.New("the server speaks HTTP/1.1 only: measure it with http1; a Kibana speaks h2 with server.protocol: http2, its default with TLS since 9.0")
	}
	if err != nil {
		_ = raw.Close() // why is known
		return nil, err
	}
	return conn, nil
}

// otherProtocol adds a way out to a failure that may come from a server of h2 alone: those written in Go shake hands with who offers HTTP/1.1, and then
// end the connection without a word.
func (b *Browser) otherProtocol(err error) error {
	if b.options.Protocol == scenario.HTTP1 && b.options.TLS != nil && errors.Is(err, io.EOF) {
		return fmt.Errorf("%w: if the server speaks h2 only, measure it with h2", err)
	}
	return err
}

// hostname is the name that a certificate must have for a host with or without a port.
func hostname(host string) string {
	if name, _, err := net.SplitHostPort(host); err == nil {
		return name
	}
	return strings.Trim(host, "[]")
}

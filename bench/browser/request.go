package browser

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"pollbench/bench/clock"
	"pollbench/bench/record"
)

// call is one request that the page makes.
type call struct {
	method, path string
	body         []byte
	wait         time.Duration // that the server may hold it for
}

// answer is what came back.
type answer struct {
	status int
	header http.Header
	body   []byte
}

// send makes the request when the ticket's turn comes, and records it. The ticket is used up.
func (p *Page) send(ctx context.Context, t *ticket, queued time.Time, c call) (answer, record.Request, error) {
	if err := p.slots.wait(ctx, t); err != nil {
		return answer{}, record.Request{Queued: p.since(queued)}, err
	}
	return p.sendNow(ctx, t, queued, c)
}

// sendNow makes the request with a ticket that has its slot. The record is as complete as the exchange was, also after an error.
func (p *Page) sendNow(ctx context.Context, t *ticket, queued time.Time, c call) (answer, record.Request, error) {
	seen := record.Request{Queued: p.since(queued), Wait: clock.Seconds{Duration: c.wait}}
	defer p.slots.release(t)
	seen.Slot = p.since(p.options.Clock.Now())
	conn, err := p.connection(ctx, t.slot)
	if err != nil {
		return answer{}, seen, err
	}
	seen.Connection = conn.number()
	r, err := p.request(ctx, c)
	if err != nil {
		return answer{}, seen, err
	}
	var at stamps
	response, body, err := conn.exchange(r, &at)
	seen.Sent, seen.FirstByte, seen.Done = p.since(at.sent), p.since(at.firstByte), p.since(at.done)
	if err != nil {
		return answer{}, seen, fmt.Errorf("%s %s: %w", c.method, c.path, err)
	}
	seen.Status = response.StatusCode
	seen.Protocol = protocolSeen(response)
	err = p.dashboardTimes(&seen, response.Header)
	if err == nil && response.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s %s: %s: %s", c.method, c.path, response.Status, reason(body))
	}
	return answer{response.StatusCode, response.Header, body}, seen, err
}

// request makes the HTTP request. A script's requests to Kibana carry kbn-xsrf; the internal routes want a version.
func (p *Page) request(ctx context.Context, c call) (*http.Request, error) {
	r, err := http.NewRequestWithContext(ctx, c.method, "https://"+p.options.Address+c.path, bytes.NewReader(c.body))
	if err != nil {
		return nil, err
	}
	if c.body != nil {
		r.Header["Content-Type"] = []string{"application/json"}
	}
	r.Header["Kbn-Xsrf"] = []string{"pollbench"}
	r.Header["Elastic-Api-Version"] = []string{"1"}
	r.Header["X-Elastic-Internal-Origin"] = []string{"Kibana"}
	return r, nil
}

// dashboardTimes takes over when the dashboard server got the request and when it began to answer.
func (p *Page) dashboardTimes(seen *record.Request, h http.Header) error {
	instants, err := clock.Instants(h)
	if err != nil {
		return err
	}
	if in, ok := instants[clock.DashboardIn]; ok {
		seen.DashboardIn = p.since(in.Time())
	}
	if out, ok := instants[clock.DashboardOut]; ok {
		seen.DashboardOut = p.since(out.Time())
	}
	seen.SocketWait.Duration = time.Duration(instants[clock.SocketWait]) * time.Microsecond
	return nil
}

// protocolSeen is the protocol by the answer itself, in the names of nextHopProtocol.
func protocolSeen(r *http.Response) string {
	if r.ProtoMajor == 2 {
		return "h2"
	}
	return fmt.Sprintf("http/%d.%d", r.ProtoMajor, r.ProtoMinor)
}

// reason is the message of a Kibana error, or the beginning of whatever answered.
func reason(body []byte) string {
	var e struct{ Message string }
	if json.Unmarshal(body, &e) == nil && e.Message != "" {
		return e.Message
	}
	const enough = 200
	return string(body[:min(len(body), enough)])
}

package browser

import (
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
	wait         time.Duration // for which the server may hold it
	sleep        time.Duration // that the strategy wanted before it
}

// header is one of a request's, with its name in the forms of HTTP/1.1 and h2.
type header struct{ canonical, lower, value string }

// A script's requests to Kibana carry kbn-xsrf; the internal routes want a version.
var (
	headers = []header{
		{"Kbn-Xsrf", "kbn-xsrf", "pollbench"},
		{"Elastic-Api-Version", "elastic-api-version", "1"},
		{"X-Elastic-Internal-Origin", "x-elastic-internal-origin", "Kibana"},
	}
	headersWithBody = append([]header{{"Content-Type", "content-type", "application/json"}}, headers...)
)

func (c call) headers() []header {
	if c.body == nil {
		return headers
	}
	return headersWithBody
}

// answer is what came back.
type answer struct {
	status   int
	protocol string // that it came over, in the names of nextHopProtocol
	header   http.Header
	body     []byte
	instants map[string]clock.Instant // of the servers, from the header
}

// send queues the request for a slot, sends it when its turn comes, and tells done what came of it; the record is as complete as
// the exchange was, also after an error. The function returned takes the request out of the queue: it reports whether it was still there, and then
// done is not called.
func (p *Page) send(ctx context.Context, c call, done func(answer, record.Request, error)) (abandon func() bool) {
	seen := record.Request{
		Queued: p.since(p.options.Clock.Now()),
		Sleep:  clock.Seconds{Duration: c.sleep},
		Wait:   clock.Seconds{Duration: c.wait},
	}
	t := p.slots.queue(func(t *ticket) {
		seen.Slot = p.since(p.options.Clock.Now())
		conn, err := p.connection(ctx, t.slot)
		if err != nil {
			p.slots.release(t)
			done(answer{}, seen, err)
			return
		}
		seen.Connection = conn.number()
		conn.exchange(c, func(a answer, at stamps, err error) {
			p.slots.release(t)
			seen.Sent, seen.FirstByte, seen.Done = p.since(at.sent), p.since(at.firstByte), p.since(at.done)
			if err != nil {
				if ctx.Err() != nil {
					err = context.Cause(ctx)
				}
				err = fmt.Errorf("%s %s: %w", c.method, c.path, err)
			} else {
				err = p.note(&seen, c, &a)
			}
			done(a, seen, err)
		})
	})
	return func() bool { return p.slots.leave(t) }
}

// note takes over what the answer says, and makes an error of one that is none.
func (p *Page) note(seen *record.Request, c call, a *answer) error {
	seen.Status, seen.Protocol = a.status, a.protocol
	instants, err := clock.Instants(a.header)
	if err != nil {
		return err
	}
	a.instants = instants
	if in, ok := instants[clock.DashboardIn]; ok {
		seen.DashboardIn = p.since(in.Time())
	}
	if out, ok := instants[clock.DashboardOut]; ok {
		seen.DashboardOut = p.since(out.Time())
	}
	seen.SocketWait.Duration = time.Duration(instants[clock.SocketWait]) * time.Microsecond
	if a.status != http.StatusOK {
		return fmt.Errorf("%s %s: status %d: %s", c.method, c.path, a.status, reason(a.body))
	}
	return nil
}

// reason is the message of a Kibana error, or the beginning of whatever answered.
func reason(body []byte) string {
	var e struct{ Message string }
	if json.Unmarshal(body, &e) == nil && e.Message != "" {
		return e.Message
	}
	return beginning(body)
}

// beginning is enough of a body to know it by.
func beginning(body []byte) string { return string(body[:min(len(body), 300)]) }

package browser

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"

	"pollbench/bench/clock"
	"pollbench/bench/record"
)

// head is the part of Elasticsearch's answer that a page looks at.
type head struct {
	id               string
	running, partial bool
	failed, timedOut bool
	failedShards     bool
}

// readHead reads it from the answer to a plain search, which is the response, or to an async one, which holds it.
func readHead(body []byte) (head, error) {
	var h head
	var inner error
	var read func(name, value []byte)
	read = func(name, value []byte) {
		switch string(name) {
		case "id":
			h.id = string(bytes.Trim(value, `"`)) // base64: nothing in it is escaped
		case "is_running":
			h.running = string(value) == "true"
		case "is_partial":
			h.partial = string(value) == "true"
		case "timed_out":
			h.timedOut = string(value) == "true"
		case "error":
			h.failed = true
		case "_shards":
			var shards struct{ Failed int }
			h.failedShards = json.Unmarshal(value, &shards) != nil || shards.Failed > 0
		case "response":
			if !h.running { // which is said before: Elasticsearch's keys have an order
				inner = members(value, read)
			}
		}
	}
	err := members(body, read)
	return h, cmp.Or(err, inner)
}

// complete checks that the server told when the search started and was ready: without these its time cannot be split.
func (s *search) complete() error {
	if s.seen.Start == 0 || s.seen.Ready == 0 {
		return errors.New("answer has no Server-Timing with the search's start and ready")
	}
	return nil
}

// read takes over what the answer says of the search.
func (s *search) read(a answer, seen *record.Request) (done bool, err error) {
	h, err := readHead(a.body)
	if err != nil {
		return false, passing{fmt.Errorf("read answer: %w: %s", err, beginning(a.body))}
	}
	if start, ok := a.instants[clock.SearchStart]; ok {
		s.seen.Start = s.page.since(start.Time())
	}
	if ready, ok := a.instants[clock.SearchReady]; ok {
		s.seen.Ready = s.page.since(ready.Time())
	}
	if h.id != "" {
		s.id = h.id
	}
	seen.Running = h.running
	switch {
	case h.running && s.id == "":
		return false, errors.New("search runs on, but its answer has no id")
	case h.running:
		return false, nil
	case h.failed, h.partial, h.timedOut, h.failedShards:
		return true, fmt.Errorf("search failed: %s", beginning(a.body))
	}
	return true, nil
}

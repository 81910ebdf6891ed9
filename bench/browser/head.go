package browser

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	"pollbench/bench/record"
)

// head is the part of an answer that a page looks at.
type head struct {
	id               string
	running, partial bool
	failed, timedOut bool
	failedShards     bool
	nowhere          bool // no shard was searched

	// In milliseconds, since 1970 but for took; zero and untold if the answer does not have them.
	started, completed int64
	took               int64
}

// Nowhere is the error of a search that has searched nothing, and so was not delayed.
const Nowhere = "no shard was searched: somebody has removed the index"

// untold stands where an answer does not tell how long its search took.
const untold = -1

// readHead reads it from Elasticsearch's answer to a plain search, which is the response, or to an async one, which holds it; or from Kibana's own form of
// either, which holds the response or, if there is none, what was there instead. One search may be told of in both forms, by turns.
func readHead(body []byte) (head, error) {
	h := head{took: untold}
	var response []byte
	read := func(name, value []byte) {
		switch string(name) {
		case "id":
			h.id = string(bytes.Trim(value, `"`)) // base64: nothing in it is escaped
		case "is_running", "isRunning":
			h.running = string(value) == "true"
		case "is_partial", "isPartial":
			h.partial = string(value) == "true"
		case "timed_out":
			h.timedOut = string(value) == "true"
		case "error":
			h.failed = true
		case "_shards":
			var shards struct {
				Total  *int
				Failed int
			}
			h.failedShards = json.Unmarshal(value, &shards) != nil || shards.Failed > 0
			h.nowhere = shards.Total != nil && *shards.Total == 0
		case "start_time_in_millis":
			h.started = number(value, 0)
		case "completion_time_in_millis":
			h.completed = number(value, 0)
		case "took":
			h.took = number(value, untold)
		case "response", "rawResponse":
			response = value
		}
	}
	if err := members(body, read); err != nil {
		return h, err
	}
	if h.running || response == nil {
		return h, nil
	}
	return h, members(response, read)
}

// number is a whole one, or what stands for none.
func number(value []byte, none int64) int64 {
	if n, err := strconv.ParseInt(string(value), 10, 64); err == nil {
		return n
	}
	return none
}

// read takes over what the answer says of the search.
func (s *search) read(a answer, seen *record.Request) (done bool, err error) {
	h, err := readHead(a.body)
	if err != nil {
		return false, passing{fmt.Errorf("read answer: %w: %s", err, beginning(a.body))}
	}
	s.take(a.instants)
	if h.id != "" {
		s.identify(h.id)
	}
	seen.Running = h.running
	switch {
	case h.running && s.id == "":
		return false, errors.New("search runs on, but its answer has no id")
	case h.running:
		return false, unheld(seen)
	case h.failed, h.partial, h.timedOut, h.failedShards:
		return true, fmt.Errorf("search failed: %s", beginning(a.body))
	case h.nowhere:
		return true, errors.New(Nowhere)
	}
	s.result = h
	return true, nil
}

func (s *search) identify(id string) {
	if s.id == "" && s.page.options.Identified != nil {
		s.page.options.Identified(id)
	}
	s.id = id
}

// longPoll is the shortest wait that is long. Shorter ones a server may pass over without changing much.
const longPoll = time.Second

// unheld makes an error of an answer that should have been held and was not, though the search runs on: to ask again at once, as continuous polling does, would
// be another strategy than the one that is measured.
func unheld(seen *record.Request) error {
	wait, held := seen.Wait.Duration, time.Duration(seen.FirstByte-seen.Sent)*time.Microsecond
	if wait < longPoll || held > wait/2 {
		return nil
	}
	return fmt.Errorf("the server does not hold long polls: asked to wait %v, it answered after %v that the search still runs; "+
		"early versions 8 of Kibana do so, and can be measured only with strategies that do not wait", wait, held.Round(time.Millisecond))
}

package browser

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"time"
)

// passing is a failure after which a search may go on: there was no answer, or none that could be read. Asked again, by the search's
// id, the server may well give the result.
type passing struct{ error }

// Unwrap gives the failure itself.
func (p passing) Unwrap() error { return p.error }

// refused is an answer with another status than 200.
type refused struct {
	error
	retryAfter time.Duration
	mayPass    bool
}

// refusal makes the error of such an answer. What passes is what HTTP calls so, 429 and a server's trouble; but not the status of a search that has
// failed, which it has for good.
func refusal(c call, a *answer) error {
	var told struct {
		Message    string
		Attributes struct{ Error struct{ Type string } }
	}
	reason := beginning(a.body)
	if json.Unmarshal(a.body, &told) == nil && told.Message != "" {
		reason = told.Message
	}
	r := refused{error: fmt.Errorf("%s %s: status %d: %s", c.method, c.path, a.status, reason)}
	r.mayPass = (a.status == http.StatusTooManyRequests || a.status >= 500) && told.Attributes.Error.Type != searchFailed
	if after, err := strconv.Atoi(a.header.Get("Retry-After")); err == nil && after > 0 {
		r.retryAfter = time.Duration(min(after, maxRetryAfter)) * time.Second
	}
	return r
}

// searchFailed is the type of Elasticsearch's error where an async search has ended badly, whatever the cause and its status were.
const searchFailed = "status_exception"

// maxRetryAfter bounds, in seconds, what a server may ask for.
const maxRetryAfter = 600

// mayPass tells whether asking again makes sense after this failure, and how long the server wants to be left alone before.
func mayPass(err error) (ok bool, retryAfter time.Duration) {
	switch e := err.(type) {
	case passing:
		return true, 0
	case refused:
		return e.mayPass, e.retryAfter
	}
	return false, 0
}

package main

import (
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

var (
	errEmpty  = errors.New("the address is empty")
	errSecret = errors.New("the address holds a user or a password, for everybody to see: give it without")
)

// serverURL reads a server's URL, which begins with one of these schemes. What is wrong with it is told without quoting it, for it may hold a secret.
func serverURL(text string, schemes ...string) (*url.URL, error) {
	at, err := url.Parse(text)
	switch {
	case text == "":
		return nil, errEmpty
	case err == nil && at.User != nil:
		return nil, errSecret
	case err != nil, !slices.Contains(schemes, at.Scheme), at.Hostname() == "":
		return nil, fmt.Errorf("not a URL of the form %s://HOST:PORT", strings.Join(schemes, "://HOST:PORT or "))
	}
	if port := at.Port(); port != "" || strings.HasSuffix(at.Host, ":") {
		if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
			return nil, fmt.Errorf("its port is %q: one is from 1 to 65535", port)
		}
	}
	return at, nil
}

// loopback tells whether a server is on this machine. Names are not looked up, since that would ask others.
func loopback(at *url.URL) bool {
	if strings.EqualFold(at.Hostname(), "localhost") {
		return true
	}
	ip, err := netip.ParseAddr(at.Hostname())
	return err == nil && ip.Unmap().IsLoopback()
}

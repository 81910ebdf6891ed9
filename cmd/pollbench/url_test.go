package main

import (
	"strings"
	"testing"
)

// What is no server's URL is told apart, and never quoted: it may hold a secret.
func TestServerURL(t *testing.T) {
	for text, want := range map[string]string{
		"":                                "the address is empty",
		"127.0.0.1:9200":                  "not a URL of the form",
		"localhost":                       "not a URL of the form",
		"ftp://127.0.0.1":                 "not a URL of the form",
		"http://":                         "not a URL of the form",
		"http://:9200":                    "not a URL of the form",
		"http:127.0.0.1":                  "not a URL of the form",
		"http://me:secret@127.0.0.1":      "holds a user or a password",
		"http://secret@127.0.0.1":         "holds a user or a password",
		"ftp://me:secret@127.0.0.1":       "holds a user or a password",
		"http://me:secret@127.0.0.1:http": "not a URL of the form", // which is read as no URL at all
		"http://127.0.0.1:":               `its port is ""`,
		"http://127.0.0.1:0":              `its port is "0"`,
		"http://127.0.0.1:65536":          `its port is "65536"`,
		"http://127.0.0.1:-1":             "not a URL of the form",
	} {
		if _, err := serverURL(text, "http", "https"); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
	for _, text := range []string{"http://127.0.0.1", "https://es.example:65535/path?query", "HTTP://[::1]:1"} {
		if at, err := serverURL(text, "http", "https"); err != nil || at.String() != strings.Replace(text, "HTTP", "http", 1) {
			t.Errorf("%s: %v, %v", text, at, err)
		}
	}
	if _, err := serverURL("http://127.0.0.1", "https"); err == nil || err.Error() != "not a URL of the form https://HOST:PORT" {
		t.Errorf("the wrong scheme: %v", err)
	}
}

func TestLoopback(t *testing.T) {
	for text, want := range map[string]bool{
		"http://127.0.0.1": true, "http://127.9.9.9:1": true, "http://[::1]:9200": true, "http://LocalHost": true, "http://[::ffff:127.0.0.1]": true,
		"http://es.example": false, "http://[::2]": false, "http://localhost.example": false, "http://192.0.2.1": false,
	} {
		at, err := serverURL(text, "http")
		if err != nil || loopback(at) != want {
			t.Errorf("%s: %v, %v", text, !want, err)
		}
	}
}

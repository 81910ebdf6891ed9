package main

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pollbench/bench/clock"
	"pollbench/fixtures/elastic"
)

// indiscreet is an Elasticsearch that quotes credentials, as they came and decoded, where it is asked for what has the mark in its address or body.
func indiscreet(t *testing.T, mark string) (url string) {
	t.Helper()
	server := elastic.New(elastic.Options{Clock: clock.Standard()})
	there := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		r.Body = io.NopCloser(bytes.NewReader(body))
		if !strings.Contains(r.URL.Path+"$"+string(body), mark) {
			server.ServeHTTP(w, r)
			return
		}
		_, encoded, _ := strings.Cut(r.Header.Get("Authorization"), " ")
		decoded, err := base64.StdEncoding.DecodeString(encoded)
		if err != nil || len(decoded) == 0 {
			t.Errorf("no credentials in %q", r.Header.Get("Authorization"))
		}
		_, second, _ := strings.Cut(string(decoded), ":")
		// Nearly enough for one to be cut off where a text is too long to be shown.
		reason := strings.Join([]string{second, string(decoded), r.Header.Get("Authorization"), strings.Repeat("-", 20), string(decoded), second, second, encoded, second, encoded}, " ")
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("X-Elastic-Product", "Elasticsearch")
		w.WriteHeader(http.StatusUnauthorized)
		why := map[string]any{"type": "security_exception", "reason": reason}
		_ = json.NewEncoder(w).Encode(map[string]any{"error": map[string]any{"type": "security_exception", "reason": reason, "root_cause": []any{why}}, "status": 401})
	}))
	t.Cleanup(func() {
		there.Close()
		_ = server.Close() // never fails
	})
	return there.URL
}

// A server that quotes the credentials which it does not take is no reason to tell them: neither at once nor in a result.
func TestNoSecretIsTold(t *testing.T) {
	key := base64.StdEncoding.EncodeToString([]byte("id42:zebra-quagga"))
	for name, c := range map[string]struct {
		env     map[string]string
		secrets []string // parts of the secrets, each enough to know it by
	}{
		"user": {map[string]string{userVariable: "me", passwordVariable: `zebra"quagga\x`}, []string{"zebra", "quagga", base64.StdEncoding.EncodeToString([]byte("me:zebra"))[:8]}},
		"key":  {map[string]string{apiKeyVariable: key}, []string{"zebra", "quagga", key[:8]}},
	} {
		for where, mark := range map[string]string{"probe": "/$", "search": `"250ms"`} {
			t.Run(name+" "+where, func(t *testing.T) {
				for variable, value := range c.env {
					t.Setenv(variable, value)
				}
				dir := filepath.Join(t.TempDir(), "result")
				code, stdout, stderr := call(t, "run", write(t, short), "--protocols", "http1", "--elasticsearch", indiscreet(t, mark), "--out", dir)
				told := stdout + stderr
				_ = filepath.WalkDir(dir, func(path string, _ os.DirEntry, _ error) error {
					text, _ := os.ReadFile(path)
					told += string(text)
					return nil
				})
				if code != exitFailed || !strings.Contains(told, "401") || !strings.Contains(told, "(credentials)") {
					t.Errorf("exit %d, and the server's words are not told: %s", code, stderr)
				}
				for _, secret := range c.secrets {
					if before, after, ok := strings.Cut(told, secret); ok {
						t.Errorf("told: …%s%s%s…", before[max(0, len(before)-80):], secret, after[:min(len(after), 80)])
					}
				}
			})
		}
	}
}

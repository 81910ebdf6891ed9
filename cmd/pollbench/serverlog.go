package main

import (
	"fmt"
	"os"
	"path/filepath"
	"sync"
)

// serverLog keeps the last part of what a server that was started says, for when it fails.
type serverLog struct {
	mu   sync.Mutex
	text []byte
}

const (
	serverLogFile = "elasticsearch.log"
	keptLog       = 1 << 20 // bytes
)

// Write implements io.Writer.
func (l *serverLog) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.text = append(l.text, b...)
	if len(l.text) > 2*keptLog {
		l.text = append([]byte(nil), l.text[len(l.text)-keptLog:]...)
	}
	return len(b), nil
}

// begin forgets what another server has said.
func (l *serverLog) begin() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.text = nil
}

// keep writes it into the result's folder. The error tells where it is.
func (l *serverLog) keep(dir string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.text) == 0 {
		return nil
	}
	path := filepath.Join(dir, serverLogFile)
	if err := os.WriteFile(path, l.text, 0o644); err != nil {
		return fmt.Errorf("keep Elasticsearch's log: %w", err)
	}
	return fmt.Errorf("the log of Elasticsearch is in %s", path)
}

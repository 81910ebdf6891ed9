package browser

import (
	"strings"
	"testing"
)

// Of a long body only the beginning is told, and that it goes on.
func TestBeginning(t *testing.T) {
	whole := strings.Repeat("x", 300)
	if got := beginning([]byte(whole)); got != whole {
		t.Errorf("of 300 bytes: %q", got)
	}
	if got := beginning([]byte(whole + "y")); got != whole+"…" {
		t.Errorf("of 301 bytes: %q", got)
	}
}

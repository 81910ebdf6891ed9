package run

import "testing"

// What a server says goes into a message of one line.
func TestBeginning(t *testing.T) {
	if got := (reply{said: "<html>\n<title>Hello\t</title>\n"}).beginning(); got != "<html> <title>Hello </title>" {
		t.Errorf("%q", got)
	}
}

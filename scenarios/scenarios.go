// Package scenarios holds the scenario files that pollbench ships, and the files of delays that these name, embedded in the binary.
//
// Each file begins with the question it answers and how long it takes, and is called by its scenario's name. The format is that of
// scenario.Decode.
package scenarios

import (
	"embed"
	"slices"
)

// The pattern means *.yaml and *.csv; one for *.csv alone would not compile while there is none.
//
//go:embed *.[cy]*
var files embed.FS

// Names lists the shipped scenarios in the order in which they are shown: the main one first, the one for tests last.
func Names() []string {
	return []string{
		"sawtooth", "sawtooth-fine", "http1-vice", "last-hop", "crowded-browser", "network", "mixed-dashboard", "idle-proxy", "saturated-node", "smoke",
	}
}

// Source returns the YAML of a shipped scenario; ok is false when there is none of that name.
func Source(name string) (source []byte, ok bool) {
	if !slices.Contains(Names(), name) {
		return nil, false
	}
	source, err := files.ReadFile(name + ".yaml")
	return source, err == nil
}

// File returns a file that a shipped scenario names.
func File(name string) ([]byte, error) { return files.ReadFile(name) }

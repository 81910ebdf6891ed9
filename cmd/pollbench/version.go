package main

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"pollbench/bench/record"
)

// version is the release; between releases it names the next one.
const version = "0.1.0-dev"

// commit is set by the linker where the go command does not stamp binaries, as under `go run`.
var commit string

func newVersion() *cobra.Command {
	return &cobra.Command{
		Use:     "version",
		Short:   "Print the version",
		Example: "  pollbench version",
		Args:    noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			v := versions()
			_, err := fmt.Fprintf(cmd.OutOrStdout(), "pollbench %s (commit %s, %s)\n", v.Pollbench, v.Commit, v.Go)
			return err
		},
	}
}

func versions() record.Versions {
	v := record.Versions{Pollbench: version, Commit: commit, Go: runtime.Version()}
	if info, ok := debug.ReadBuildInfo(); ok && v.Commit == "" {
		for _, s := range info.Settings {
			switch {
			case s.Key == "vcs.revision":
				v.Commit = s.Value + v.Commit
			case s.Key == "vcs.modified" && s.Value == "true":
				v.Commit += "+changes"
			}
		}
	}
	if v.Commit == "" {
		v.Commit = "unknown"
	}
	return v
}

package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"pollbench/bench/scenario"
)

// Exit codes, part of the contract.
const (
	exitDone        = 0
	exitFailed      = 1
	exitUsage       = 2
	exitInterrupted = 130
)

// errUsage marks what the caller can mend on the command line or in a scenario file.
var errUsage = errors.New("usage")

// errInterrupted says that the run was ended before its time and its results kept.
var errInterrupted = errors.New("interrupted")

// usage marks an error as the caller's, without changing what it says.
func usage(err error) error { return &usageError{err} }

type usageError struct{ error }

func (e *usageError) Unwrap() []error { return []error{e.error, errUsage} }

// run is the whole program; it returns the exit code.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	root := newRoot()
	root.SetArgs(args)
	root.SetOut(stdout)
	root.SetErr(stderr)
	err := root.ExecuteContext(ctx)
	if err != nil {
		fmt.Fprintf(stderr, "pollbench: %v\n", err)
	}
	return exitCode(err)
}

func exitCode(err error) int {
	var problems scenario.Problems
	switch {
	case err == nil:
		return exitDone
	case errors.Is(err, errInterrupted):
		return exitInterrupted
	case errors.Is(err, errUsage), errors.As(err, &problems):
		return exitUsage
	}
	return exitFailed
}

func newRoot() *cobra.Command {
	root := &cobra.Command{
		Use:   "pollbench",
		Short: "Measure how much of a slow dashboard's load time is spent waiting for nothing",
		Long: `pollbench plays dashboards whose panels each run one slow Elasticsearch async search, waits for them with
competing strategies over HTTP/1.1 and h2, and shows how much of the load time each of them wastes.`,
		Example:       "  pollbench run sawtooth",
		SilenceUsage:  true,
		SilenceErrors: true,
		Args:          noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return cmd.Help()
		},
	}
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return usage(fmt.Errorf("%w (see '%s --help')", err, cmd.CommandPath()))
	})
	root.AddCommand(newRun(), newList(), newPlan(), newSimulate(), newReport(), newPlot(), newPublish(), newServe(), newHealth(), newClean(), newVersion())
	return root
}

// noArguments and exactly are cobra's checks as errors of usage. A first argument of the root that is no command ends here too.
func noArguments(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return usage(fmt.Errorf("unknown command or argument %q for %q (see '%s --help')", args[0], cmd.CommandPath(), cmd.CommandPath()))
	}
	return nil
}

func exactly(n int, what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) != n || args[0] == "" {
			return usage(fmt.Errorf("%s wants %s, got %d arguments (see '%s --help')", cmd.CommandPath(), what, len(args), cmd.CommandPath()))
		}
		return nil
	}
}

func atMostOne(cmd *cobra.Command, args []string) error {
	if len(args) > 1 {
		return usage(fmt.Errorf("%s wants one scenario at the most, got %d (see '%s --help')", cmd.CommandPath(), len(args), cmd.CommandPath()))
	}
	return nil
}

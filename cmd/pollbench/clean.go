package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"pollbench/fixtures/containers"
)

// cleaning is one call of the clean command.
type cleaning struct {
	images bool
	force  bool
	dryRun bool
}

func newClean() *cobra.Command {
	var c cleaning
	cmd := &cobra.Command{
		Use:   "clean",
		Short: "Remove the containers that a killed run has left behind",
		Long: `Remove what pollbench has left in Docker when it was killed: containers, with all that they have written, networks and volumes. A run that ends in
any other way removes them itself. Each is listed, with what was done about it.

What belongs to a run that is still alive is kept, and so is what was started on another machine, in another container or before this machine was last
started, where nobody can tell: --force removes both.

Images are kept too, for they only save time: what --images removes, "make node-image" builds again. It removes those named pollbench/… and those that have lost
that name to a newer one. Nothing is touched that is not pollbench's own, nor what "make up" has started: "make down" removes that.`,
		Example: "  pollbench clean --dry-run\n  pollbench clean\n  pollbench clean --images",
		Args:    noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return c.run(cmd.Context(), cmd.OutOrStdout())
		},
	}
	f := cmd.Flags()
	f.BoolVar(&c.images, "images", false, "remove images too")
	f.BoolVar(&c.force, "force", false, "remove also what belongs to a run that is alive, or may be")
	f.BoolVar(&c.dryRun, "dry-run", false, "remove nothing, only list")
	return cmd
}

func (c cleaning) run(ctx context.Context, stdout io.Writer) error {
	found, err := containers.Leftovers(ctx)
	if err != nil {
		return err
	}
	if len(found) == 0 {
		_, err := fmt.Fprintln(stdout, "nothing of pollbench's is in Docker")
		return err
	}
	w := tabwriter.NewWriter(stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "KIND\tNAME\tAGE\tSIZE\tITS RUN\t")
	var failed []error
	for _, l := range found {
		done := c.keeps(l)
		if done == "" {
			var err error
			if done, err = c.remove(ctx, l); err != nil {
				failed = append(failed, err)
			}
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\n", l.Kind, l.Name, age(time.Since(l.Made)), size(l.Size), whose(l), done)
	}
	return errors.Join(append(failed, w.Flush())...)
}

// keeps tells why something is kept; empty if it is not.
func (c cleaning) keeps(l containers.Leftover) string {
	switch {
	case l.Kind == containers.KindImage && !c.images:
		return "kept: --images removes it"
	case (l.Run == containers.RunAlive || l.Run == containers.RunUnknown) && !c.force:
		return "kept: --force removes it"
	}
	return ""
}

// remove tells what was done.
func (c cleaning) remove(ctx context.Context, l containers.Leftover) (string, error) {
	if c.dryRun {
		return "to be removed", nil
	}
	if err := containers.Remove(ctx, l); err != nil {
		return "not removed", err
	}
	return "removed", nil
}

// whose tells what became of the process that something belongs to.
func whose(l containers.Leftover) string {
	switch l.Run {
	case containers.RunAlive:
		return fmt.Sprintf("alive, process %d", l.PID)
	case containers.RunUnknown:
		return "not known here"
	case containers.RunEnded:
		return "ended"
	}
	return "-"
}

// age is in the largest unit of which there are two at least.
func age(d time.Duration) string {
	const day = 24 * time.Hour
	for _, unit := range []struct {
		is   time.Duration
		name string
	}{{day, "d"}, {time.Hour, "h"}, {time.Minute, "min"}} {
		if d >= 2*unit.is {
			return fmt.Sprintf("%d %s", d/unit.is, unit.name)
		}
	}
	return fmt.Sprintf("%d s", max(d, 0)/time.Second)
}

// size is in MB, as docker has it; what is not known is nothing.
func size(bytes int64) string {
	if bytes < 0 {
		return "-"
	}
	return fmt.Sprintf("%.1f MB", float64(bytes)/1e6)
}

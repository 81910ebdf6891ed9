// Command node builds the Elasticsearch that runs as a plain process, and says where it has put it; with -image as an image for Docker too. "make node" and
// "make node-image" run it.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"pollbench/fixtures/node"
)

func main() {
	os.Exit(run(context.Background(), os.Args[1:], os.Getenv, os.Stdout, os.Stderr))
}

// run returns 0 when the node is there, 1 when it cannot be built, 2 when it was not asked well.
func run(ctx context.Context, args []string, env func(string) string, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("node", flag.ContinueOnError)
	flags.SetOutput(stderr)
	home := flags.String("home", "", "the `folder` to put it in, instead of one in the user's cache folder")
	image := flags.Bool("image", false, "build it as an image too, and say its name instead (needs Docker)")
	if err := flags.Parse(args); err != nil {
		return 2
	}
	if flags.NArg() > 0 {
		fmt.Fprintf(stderr, "node takes no arguments, got %q\n", flags.Args())
		return 2
	}
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	options := node.InstallOptions{
		Home:     *home,
		JavaHome: env("JAVA_HOME"),
		Progress: func(step string) { fmt.Fprintln(stderr, step) },
	}
	build := node.Install
	if *image {
		build = func(ctx context.Context, o node.InstallOptions) (string, error) {
			return node.Image(ctx, node.ImageOptions(o))
		}
	}
	built, err := build(ctx, options)
	if err != nil {
		fmt.Fprintln(stderr, err)
		return 1
	}
	fmt.Fprintln(stdout, built)
	return 0
}

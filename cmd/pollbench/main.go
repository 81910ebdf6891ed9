// Command pollbench measures how much of a slow dashboard's load time is spent waiting for nothing, and which way of waiting stops it.
package main

import (
	"context"
	"os"
)

func main() {
	os.Exit(run(context.Background(), os.Args[1:], os.Stdout, os.Stderr))
}

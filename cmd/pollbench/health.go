package main

import (
	"crypto/tls"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"pollbench/fixtures/reach"
)

// alive is how long a healthy server may take to answer. Containers are asked often: those that ask should not pile up.
const alive = 4 * time.Second

func newHealth() *cobra.Command {
	var caFile string
	cmd := &cobra.Command{
		Use:   "health URL",
		Short: "Ask a server whether it answers: exit 0 if it does",
		Long: `Ask for a URL. If the answer has status 200 within ` + alive.String() + ` the exit code is 0, else 1, with one line that says why. Containers of the
embedded servers use it as their health command, for there is nothing else in them.`,
		Example: "  pollbench health http://127.0.0.1:9200\n  pollbench health https://127.0.0.1:5601/api/status --ca-file ca.pem",
		Args:    exactly(1, "the URL to ask for"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if _, err := serverURL(args[0], "http", "https"); err != nil {
				return usage(err)
			}
			roots, err := readCA("--ca-file", caFile)
			if err != nil {
				return usage(err)
			}
			client := asking(&tls.Config{RootCAs: roots})
			asked := time.Now()
			if err := get(cmd.Context(), client, args[0], reach.Expected{Name: "the server", CAFlag: "--ca-file"}, alive); err != nil {
				return fmt.Errorf("not healthy: %w", err)
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "healthy: %s answered after %v\n", args[0], time.Since(asked).Round(time.Millisecond))
			return err
		},
	}
	cmd.Flags().StringVar(&caFile, "ca-file", "", "`FILE` with the CA certificate to trust (default those that the system trusts)")
	return cmd
}

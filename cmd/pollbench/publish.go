package main

import "github.com/spf13/cobra"

func newPublish() *cobra.Command { return &cobra.Command{Use: "publish", Hidden: true} }

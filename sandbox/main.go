// Command hawser-sandbox runs real Kubernetes control planes on one machine, without Docker and without containers.
//
// The command must not know anything itself: package cli spells the commands, package supervisor does the work.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"hawser.dev/hawser/sandbox/cli"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := cli.New().ExecuteContext(ctx)
	stop()
	if err != nil {
		fmt.Fprintf(os.Stderr, "hawser-sandbox: %v\n", err)
		os.Exit(1)
	}
}

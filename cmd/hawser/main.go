// Command hawser delivers software to a fleet of Kubernetes clusters.
//
// main must not know any rule: it wires the leaves to the engine and hands the arguments to the cli.
package main

import (
	"context"
	"fmt"
	"io"
	"log"
	"os"
	"slices"

	"hawser.dev/hawser/internal/broke"
	"hawser.dev/hawser/internal/child"
	_ "hawser.dev/hawser/internal/startup" // no collections while packages are initialized; tuneCollector ends that
	"hawser.dev/hawser/internal/terminal"
)

// version is set by the linker.
var version = "dev"

func main() {
	crashesApart()
	tuneCollector()
	// Libraries write to Go's loggers, Helm's even values of users. What users shall know are findings.
	log.SetOutput(io.Discard)
	if slices.Equal(os.Args[1:], []string{isolated}) {
		os.Exit(serve())
	}
	terminal.Apart()
	var code int
	broke.Quiet(func() { code = app().Run(context.Background(), os.Args[1:]) })()
	child.EndAll()
	if err := storage().Close(); err != nil {
		fmt.Fprintln(terminal.Stderr, err)
	}
	os.Exit(code)
}

// Command hawser delivers software to a fleet of Kubernetes clusters.
//
// main must not know any rule: it wires the leaves to the engine and hands the arguments to the cli.
package main

import (
	"context"
	"fmt"
	"os"
)

// version is set by the linker.
var version = "dev"

func main() {
	tuneCollector()
	code := app().Run(context.Background(), os.Args[1:])
	if err := storage().Close(); err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	os.Exit(code)
}

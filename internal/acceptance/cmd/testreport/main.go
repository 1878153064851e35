// Command testreport reads the output of `go test -json`, prints it as `go test` would, keeps the results in a file for
// the acceptance check, and ends with the names of what failed, how long all of it took, and a line "N passed, N failed,
// N skipped" over everything in that file.
//
//	go test -json ./... | testreport -results FILE [-again go] [-more | -since SECONDS]
//
// It must not know which tests there are.
package main

import (
	"flag"
	"fmt"
	"os"
	"time"

	"hawser.dev/hawser/internal/acceptance"
)

func main() {
	file := flag.String("results", "", "file of the results; those already in it stay")
	more := flag.Bool("more", false, "more will follow: print no total, and end well whatever failed")
	again := flag.String("again", "", "go command that runs the few tests that failed a second time")
	since := flag.Int64("since", 0, "when all of it began, in seconds since 1970: print how long it took")
	flag.Parse()
	code, err := run(*file, *again, *more, *since)
	if err != nil {
		fmt.Fprintf(os.Stderr, "testreport: %v\n", err)
		code = 2
	}
	os.Exit(code)
}

func run(file, again string, more bool, since int64) (int, error) {
	results, err := acceptance.Read(file)
	if err != nil {
		return 0, err
	}
	if err := results.Collect(os.Stdin, os.Stdout); err != nil {
		return 0, err
	}
	if again != "" {
		if err := results.Again(again, os.Stdout); err != nil {
			return 0, err
		}
	}
	if err := results.Write(file); err != nil || more {
		return 0, err
	}
	results.Summary(os.Stdout)
	if since > 0 {
		results.Slowest(15, os.Stdout)
		fmt.Printf("the tests took %s\n", time.Since(time.Unix(since, 0)).Round(time.Second))
	}
	passed, failed, skipped := results.Count()
	fmt.Printf("%d passed, %d failed, %d skipped\n", passed, failed, skipped)
	if failed > 0 || passed == 0 {
		return 1, nil
	}
	return 0, nil
}

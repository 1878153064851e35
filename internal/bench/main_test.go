//go:build bench

package bench

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"time"

	"hawser.dev/hawser/internal/testfleet"
)

// binary is the built product, examples the repository's examples directory.
var binary, examples string

func TestMain(m *testing.M) {
	if os.Getenv(asRunner) != "" {
		os.Exit(runner(os.Args[1:]))
	}
	os.Exit(run(m))
}

// run builds the binary, measures, and prints the table, also after failures.
func run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "hawser-bench-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer func() { _ = os.RemoveAll(dir) }()
	if binary, err = build(dir); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	if examples, err = filepath.Abs("../../examples"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	start := time.Now()
	code := m.Run()
	if err := closeFleet(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = max(code, 1)
	}
	fmt.Printf("\n%s\n%d repetitions, %s in all\n\n%s\n", machine(), reps(), time.Since(start).Round(time.Second), table())
	return code
}

// build makes the binary as a release does, or takes HAWSER_BENCH_BINARY.
func build(dir string) (string, error) {
	if given := os.Getenv("HAWSER_BENCH_BINARY"); given != "" {
		return given, nil
	}
	out := filepath.Join(dir, "hawser")
	cmd := exec.Command("go", "build", "-trimpath", "-ldflags", "-s -w", "-o", out, "hawser.dev/hawser/cmd/hawser")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0") // as packaging builds it
	cmd.Stdout, cmd.Stderr = os.Stderr, os.Stderr
	return out, cmd.Run()
}

// reps is how often everything is repeated.
func reps() int { return number("HAWSER_BENCH_REPS", 5) }

// most is the most clusters to start.
func most() int { return number("HAWSER_BENCH_CLUSTERS", 30) }

func number(env string, otherwise int) int {
	if n, err := strconv.Atoi(os.Getenv(env)); err == nil && n > 0 {
		return n
	}
	return otherwise
}

// running is the fleet of the moment. Few clusters run while few are needed: idle ones cost time too.
var running *testfleet.Fleet

// fleetOf returns a fleet of exactly n clusters, c1 to cN.
func fleetOf(t *testing.T, n int) *testfleet.Fleet {
	t.Helper()
	if running != nil && len(running.Names()) == n {
		return running
	}
	if err := closeFleet(); err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	f, err := testfleet.Start(testfleet.Options{Count: n, Many: true})
	if err != nil {
		t.Fatal(err)
	}
	running = f
	t.Logf("%d clusters ready after %s", n, time.Since(start).Round(time.Second))
	return f
}

func closeFleet() error {
	if running == nil {
		return nil
	}
	defer func() { running = nil }()
	return running.Close()
}

// median of some figures.
func median[T int64 | float64 | time.Duration](of []T) T {
	sorted := slices.Sorted(slices.Values(of))
	if len(sorted) == 0 {
		return 0
	}
	if n := len(sorted); n%2 == 0 {
		return (sorted[n/2-1] + sorted[n/2]) / 2
	}
	return sorted[len(sorted)/2]
}

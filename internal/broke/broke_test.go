package broke

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"
)

// failed is an error that says what it was given.
type failed struct{ with string }

func (f failed) Error() string { return "failed with " + f.with }

var panics = map[string]func(secret string){
	"a text":                   func(secret string) { panic("bad " + secret) },
	"an error":                 func(secret string) { panic(fmt.Errorf("bad: %w", failed{secret})) },
	"an error of another type": func(secret string) { panic(failed{secret}) },
	"a text of its own type":   func(secret string) { type text string; panic(text(secret)) },
	"bytes":                    func(secret string) { panic([]byte(secret)) },
	"twice":                    func(secret string) { Quiet(func() { panic(secret) })() },
	"while it panics": func(secret string) {
		defer func() { panic("again " + secret) }()
		panic("first " + secret)
	},
	"anew, with what was recovered": func(secret string) {
		defer func() { panic(recover()) }()
		panic("first " + secret)
	},
	"the runtime": func(secret string) { _ = []byte(secret)[len(secret):][1] },
	"a key":       func(secret string) { _ = map[any]int{}[[]any{secret}] },
}

const (
	asCrash = "HAWSER_TEST_BROKE"
	secret  = "c4nary-in-a-panic"
)

// TestQuiet: what a process prints that ends by a panic in a goroutine says where, and nothing of what the panic said.
func TestQuiet(t *testing.T) {
	if how := os.Getenv(asCrash); how != "" {
		begin, what, _ := strings.Cut(how, ": ")
		do := func() { panics[what](strings.Join([]string{"c4nary", "in", "a", "panic"}, "-")) }
		var g Group
		map[string]func(func()){"Go": Go, "a group": g.Go}[begin](do)
		time.Sleep(time.Minute)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for i, how := range slices.Sorted(maps.Keys(panics)) {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			cmd := exec.CommandContext(t.Context(), self, "-test.run=^TestQuiet$")
			cmd.Env = append(os.Environ(), asCrash+"="+[]string{"Go", "a group"}[i%2]+": "+how)
			out, err := cmd.CombinedOutput()
			if exit, ok := errors.AsType[*exec.ExitError](err); !ok || exit.ExitCode() != 2 {
				t.Errorf("it ended with %v", err)
			}
			text := string(out)
			if strings.Contains(text, "c4nary") || !strings.Contains(text, "internal/broke.init.func") || !strings.Contains(text, "broke.caught:") || !strings.Contains(text, "broke.TestQuiet.func") {
				t.Errorf("it says %s", text)
			}
			if want := map[string]string{"the runtime": "index out of range [1] with length 0", "a key": "hash of unhashable type", "a text": "it panicked with a string"}[how]; !strings.Contains(text, want) {
				t.Errorf("want %q in %s", want, text)
			}
		})
	}
}

// TestOf: nothing that was recovered is no panic, and one that is quiet already stays as it is.
func TestOf(t *testing.T) {
	if Of(nil) != nil {
		t.Error("nothing is a panic")
	}
	p := &Panic{"what", []string{"a:1", "b:2", "c:3", "d:4"}}
	if Of(p) != p || Of(crash{p}) != p || p.Error() != "what at a:1, b:2, c:3" || (crash{p}).Error() != "what at\na:1\nb:2\nc:3\nd:4" {
		t.Error(p, crash{p})
	}
}

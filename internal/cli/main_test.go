package cli

import (
	"context"
	"errors"
	"flag"
	"os"
	"os/exec"
	"strconv"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

var update = flag.Bool("update", false, "rewrite goldens, schemas and the reference")

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"hawser": func() { os.Exit(fakeApp().Run(context.Background(), os.Args[1:])) }})
}

func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{Dir: "testdata/script", UpdateScripts: *update, RequireUniqueNames: true,
		Setup: func(e *testscript.Env) error {
			e.Setenv("LANG", "C.UTF-8")
			e.Setenv("USER", "ada")
			return startRegistries(t, e)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"code": code},
	})
}

// code runs hawser and checks its exit code exactly: code 5 apply -f shop.yaml. A first argument <FILE is its stdin.
func code(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 1 {
		ts.Fatalf("usage: code N [args]")
	}
	want, args := args[0], args[1:]
	err := ts.Exec("hawser", args...)
	got := "0"
	if e, ok := errors.AsType[*exec.ExitError](err); ok {
		got = strconv.Itoa(e.ExitCode())
	} else if err != nil {
		got = err.Error()
	}
	if got != want {
		ts.Fatalf("hawser %v: exit code %s, not %s", args, got, want)
	}
}

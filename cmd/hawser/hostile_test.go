package main

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"hawser.dev/hawser/internal/testserver"
)

const hostileFiles = `
bundle:
  apiVersion: v1alpha1
  name: hostile
  instances:
    all: {manifests: {paths: [./m]}, namespace: default}
`

const hostileFleet = `
fleet:
  apiVersion: v1alpha1
  name: hostile
  clusters:
    test: {kubeContext: test}
  values:
    - {query: "k8s:v1:Secret:default:queried", for: {QUERIED: obj.data.key}}
`

// hostileVerbs ask the server; a verb that begins to do so belongs here.
var hostileVerbs = [][]string{
	{"plan", "-f", "b.yaml"}, {"apply", "-y", "-f", "b.yaml", "--timeout", "10s"}, {"apply", "-y", "-f", "b.yaml", "--timeout", "10s", "-o", "json"},
	{"delete", "-y", "-f", "b.yaml", "--timeout", "10s"}, {"status", "-f", "b.yaml"},
	{"plan", "-f", "b.yaml", "--fleet", "fleet.yaml"}, {"vet", "-f", "b.yaml", "--fleet", "fleet.yaml"},
	{"build", "-f", "b.yaml", "--fleet", "fleet.yaml"}, {"fleet", "values", "-r", "fleet.yaml"},
}

// TestHostileServer: no verb believes a hostile server, sends anything elsewhere, says what it must not, panics, or takes
// more than a minute and 1 GiB.
func TestHostileServer(t *testing.T) {
	t.Parallel()
	other := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		t.Errorf("%s %s with %q was sent elsewhere", r.Method, r.URL.Path, r.Header.Get("Authorization"))
	}))
	t.Cleanup(other.Close)
	all := testserver.Hostile(other.URL)
	for _, fault := range []string{"redirect 307", "redirect 301", "status", "other object", "deep", "bomb of items", "bomb of names", "bomb of text", "endless"} {
		t.Run(fault, func(t *testing.T) {
			for _, args := range hostileVerbs {
				srv := testserver.Start(t)
				srv.Fault(testserver.After(testserver.Connecting, all[fault]))
				b := newBench(t)
				b.env = append(b.env, "KUBECONFIG="+srv.Kubeconfig(t), "HAWSER_CACHE_DIR="+filepath.Join(b.dir, "cache"))
				b.write("b.yaml", hostileFiles)
				b.write("fleet.yaml", hostileFleet)
				b.write("m/s.yaml", "apiVersion: v1\nkind: Secret\nmetadata: {name: s}\nstringData: {password: canary-in-a-body}\n")
				if said := b.hostile(srv, args); strings.HasPrefix(fault, "redirect") && !strings.Contains(said, "never followed") {
					t.Errorf("%v does not say why:\n%.2000s", args, said)
				}
			}
		})
	}
}

// hostile runs one verb against a hostile server and judges how it ends.
func (b *bench) hostile(srv *testserver.Server, args []string) string {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.t.Context(), time.Minute)
	defer cancel()
	var out bytes.Buffer
	cmd := b.command(ctx, args...)
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cmd.Run()
	exit, ok := errors.AsType[*exec.ExitError](err)
	switch {
	case !ok || exit.ExitCode() < 0:
		b.t.Errorf("%v: %v\n%.2000s", args, err, &out)
	case !slices.Contains([]int{1, 3, 4}, exit.ExitCode()) || strings.Contains(out.String(), "goroutine "):
		b.t.Errorf("%v: exit %d\n%.2000s", args, exit.ExitCode(), &out)
	}
	if usage, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok && runtime.GOOS == "linux" && usage.Maxrss > 1<<20 {
		b.t.Errorf("%v took %d MiB", args, usage.Maxrss>>10)
	}
	if strings.Contains(out.String(), "canary") {
		b.t.Errorf("%v says what it must not:\n%.2000s", args, &out)
	}
	if len(srv.Requests()) == 0 {
		b.t.Errorf("%v asked nothing:\n%.2000s", args, &out)
	}
	return out.String()
}

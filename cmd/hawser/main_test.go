package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"hawser.dev/hawser/internal/testfleet"
)

// asHawser makes the test binary be the product: tests run the real process, with its own memory and signals.
const asHawser = "HAWSER_TEST_AS_HAWSER"

// The clusters of this package: one for staging, two for production, as in the examples.
var clusters = []string{"staging", "production-eu", "production-us"}

func TestMain(m *testing.M) {
	childEnvironment = []string{asHawser + "=1"}
	if os.Getenv(asHawser) == "1" {
		setEvaluationLimit(os.Getenv(evaluationLimitEnv))
		breaks(os.Getenv(brokenEnv), os.Getenv("APP_ENV"))
		main()
		return
	}
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(usualPercent) // package startup has switched collections off, and nothing of main tunes them here
	}
	if os.Getenv(apartEnv) != "" {
		os.Exit(m.Run())
	}
	testfleet.Main(m, testfleet.Options{Clusters: clusters,
		Groups: map[string]string{"staging": "staging", "production-eu": "production", "production-us": "production"}})
}

// result of one run of the product.
type result struct {
	Code           int
	Stdout, Stderr string
	Elapsed        time.Duration
}

func (r result) String() string {
	return fmt.Sprintf("exit %d after %s\n--- stdout\n%s--- stderr\n%s", r.Code, r.Elapsed.Round(time.Millisecond), r.Stdout, r.Stderr)
}

// bench is a directory to run the product in.
type bench struct {
	t     *testing.T
	dir   string
	env   []string
	stdin string
}

func newBench(t *testing.T) *bench {
	t.Helper()
	dir := t.TempDir()
	return &bench{t: t, dir: dir, env: append(os.Environ(), asHawser+"=1", "HOME="+dir, "XDG_STATE_HOME="+filepath.Join(dir, "state"),
		"KUBECONFIG="+testfleet.Get().Kubeconfig(), "NO_COLOR=1", "CI=")}
}

// write puts a file into the directory.
func (b *bench) write(name, text string) string {
	b.t.Helper()
	path := filepath.Join(b.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		b.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		b.t.Fatal(err)
	}
	return path
}

func (b *bench) command(ctx context.Context, args ...string) *exec.Cmd {
	self, err := os.Executable()
	if err != nil {
		b.t.Fatal(err)
	}
	cmd := exec.CommandContext(ctx, self, args...)
	cmd.Dir, cmd.Env = b.dir, b.env
	return cmd
}

// run runs the product and returns what it said.
func (b *bench) run(args ...string) result {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.t.Context(), 15*time.Minute)
	defer cancel()
	cmd := b.command(ctx, args...)
	var out, errs bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(b.stdin), &out, &errs
	start := time.Now()
	err := cmd.Run()
	r := result{Stdout: out.String(), Stderr: errs.String(), Elapsed: time.Since(start)}
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		r.Code = exit.ExitCode()
	} else if err != nil {
		b.t.Fatalf("hawser %s: %v", strings.Join(args, " "), err)
	}
	return r
}

// want runs the product and fails the test unless it exits with the code.
func (b *bench) want(code int, args ...string) result {
	b.t.Helper()
	r := b.run(args...)
	if r.Code != code {
		b.t.Fatalf("hawser %s: want exit %d, got %s", strings.Join(args, " "), code, r)
	}
	return r
}

// kubeconfig writes a kubeconfig whose context of one cluster goes to another address, trusting its certificate.
func (b *bench) kubeconfig(cluster, server string, ca []byte) string {
	b.t.Helper()
	cfg, err := clientcmd.LoadFromFile(testfleet.Get().Kubeconfig())
	if err != nil {
		b.t.Fatal(err)
	}
	cfg.Clusters["other"] = &clientcmdapi.Cluster{Server: server, CertificateAuthorityData: ca}
	cfg.Contexts[cluster].Cluster = "other"
	path := filepath.Join(b.dir, "kubeconfig")
	if err := clientcmd.WriteToFile(*cfg, path); err != nil {
		b.t.Fatal(err)
	}
	return path
}

// writes are the audit entries that changed something: no reads, no dry runs, no access reviews.
func writes(entries []testfleet.AuditEntry) []testfleet.AuditEntry {
	var out []testfleet.AuditEntry
	for _, e := range entries {
		if e.Method == "GET" || e.DryRun || strings.Contains(e.Resource, "selfsubject") {
			continue
		}
		out = append(out, e)
	}
	return out
}

func show(entries []testfleet.AuditEntry) string {
	var b strings.Builder
	for _, e := range entries {
		data, _ := json.Marshal(e)
		fmt.Fprintln(&b, string(data))
	}
	return b.String()
}

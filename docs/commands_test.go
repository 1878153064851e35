package docs

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"hawser.dev/hawser/internal/cli"
	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/engine"
	"hawser.dev/hawser/internal/fleet"
	"hawser.dev/hawser/internal/fleetplan"
	"hawser.dev/hawser/internal/history"
	"hawser.dev/hawser/internal/input"
	"hawser.dev/hawser/internal/place"
	"hawser.dev/hawser/internal/recordkeeping"
	"hawser.dev/hawser/internal/release"
	"hawser.dev/hawser/internal/retirement"
	"hawser.dev/hawser/internal/toolchain"
	"hawser.dev/hawser/internal/workspace"
)

// errReached ends a command where its work would begin: its name, flags and arguments were accepted.
var errReached = errors.New("docs: accepted")

// nothing is an engine that does nothing.
type nothing struct{}

var _ cli.Engine = nothing{}

func (nothing) Plan(ctx context.Context, req engine.Request) (*engine.Prepared, error) {
	return nil, reached(ctx, req, demand{writes: true})
}
func (nothing) Renew(context.Context, *engine.Prepared, engine.Request) (*engine.Prepared, error) {
	return nil, errReached
}
func (nothing) SavePlan(*engine.Prepared, io.Writer) (string, diag.Findings, error) {
	return "", nil, errReached
}
func (nothing) LoadPlan(context.Context, io.Reader, engine.Request) (*engine.Prepared, error) {
	return nil, errReached
}
func (nothing) Apply(context.Context, *engine.Prepared, engine.Request) (*fleetplan.Outcome, error) {
	return nil, errReached
}
func (nothing) Vet(ctx context.Context, req engine.Request) (*fleetplan.VetReport, error) {
	return nil, reached(ctx, req, demand{})
}
func (nothing) Build(ctx context.Context, req engine.Request) (*fleetplan.BuildResult, error) {
	return nil, reached(ctx, req, demand{})
}
func (nothing) Status(ctx context.Context, req engine.Request) (*fleetplan.StatusReport, error) {
	return nil, reached(ctx, req, demand{writes: true})
}
func (nothing) List(ctx context.Context, req engine.Request) (*release.Listing, error) {
	return nil, reached(ctx, req, demand{})
}
func (nothing) History(ctx context.Context, req engine.Request) (*history.History, error) {
	return nil, reached(ctx, req, demand{})
}
func (nothing) Say(ctx context.Context, req engine.Request, _ string, _ release.Meant, _ func(*release.Saying) error) (*release.Saying, error) {
	return nil, reached(ctx, req, demand{})
}
func (nothing) Open(ctx context.Context, req engine.Request, _ bool) (*input.Documents, error) {
	return nil, reached(ctx, req, demand{sources: true})
}
func (nothing) Compare(ctx context.Context, req engine.Request, _ history.Comparer) error {
	return reached(ctx, req, demand{})
}
func (nothing) TendRecords(ctx context.Context, req engine.Request, _ *recordkeeping.Report, _ input.Source, _ func() error) error {
	return reached(ctx, req, demand{writes: true})
}
func (nothing) Clusters(ctx context.Context, req engine.Request) (*fleetplan.FleetReport, error) {
	return nil, reached(ctx, req, demand{})
}
func (nothing) Check(ctx context.Context, req engine.Request) (*fleetplan.FleetReport, error) {
	return nil, reached(ctx, req, demand{})
}
func (nothing) Values(ctx context.Context, req engine.Request) (*fleetplan.FleetReport, error) {
	return nil, reached(ctx, req, demand{})
}
func (nothing) Retiring(ctx context.Context, req engine.Request) (*retirement.Retirement, error) {
	return nil, reached(ctx, req, demand{})
}
func (nothing) Retire(ctx context.Context, req engine.Request) error {
	return reached(ctx, req, demand{})
}
func (nothing) Snapshot(ctx context.Context, req engine.Request) (*fleet.Snapshot, error) {
	return nil, reached(ctx, req, demand{})
}

// accepts runs a command line up to where its work begins, and returns what the command said against it, "" for nothing.
func accepts(ctx context.Context, args []string, kubeconfig string) string {
	var out, talk bytes.Buffer
	app := &cli.App{In: strings.NewReader(""), Out: &out, Err: &talk, Version: "0",
		Engine:   func(func(fleetplan.Event)) (cli.Engine, error) { return nothing{}, nil },
		ReadPlan: func(io.Reader) (*fleetplan.FleetPlan, error) { return nil, errReached },
		Explain: func(ctx context.Context, req engine.Request, _ string) ([]place.Line, error) {
			return nil, reached(ctx, req, demand{})
		},
		Lock: func(ctx context.Context, req engine.Request) (*fleetplan.LockReport, error) {
			return nil, reached(ctx, req, demand{sources: true})
		},
		Outdated: func(ctx context.Context, req engine.Request) (*fleetplan.OutdatedReport, error) {
			return nil, reached(ctx, req, demand{sources: true})
		},
		FleetClusters: func(ctx context.Context, at fleetplan.Paths) ([]fleet.Cluster, error) {
			return nil, reached(ctx, engine.Request{Input: engine.Input{Documents: &workspace.Files{Paths: at}}}, demand{})
		},
		Tools:      func() (*toolchain.Tools, error) { return nil, errReached },
		Registries: func(string, bool) error { return nil },
		Sandbox:    func(context.Context, io.Writer) (string, error) { return "", errReached },
		ImportKubeconfig: func(string, string) (string, diag.Findings) {
			return "", diag.From(errReached, "docs")
		},
		Environ: func() []string { return []string{"KUBECONFIG=" + kubeconfig} },
		Signals: func() (<-chan os.Signal, func()) { return make(chan os.Signal), func() {} },
	}
	if code := app.Run(ctx, args); code == 0 || strings.Contains(talk.String(), errReached.Error()) {
		return ""
	}
	return strings.TrimSpace(talk.String())
}

// TestCommandLines: every command line of the pages is one.
func TestCommandLines(t *testing.T) {
	found := map[string][]string{}
	for _, page := range pages(t) {
		for _, b := range blocks(t, page) {
			if b.lang == "sh" {
				found[page] = append(found[page], commandLines(b.text)...)
			}
		}
	}
	dir := examplesDir(t)
	kubeconfig := filepath.Join(dir, "kubeconfig")
	write(t, kubeconfig, "contexts: [{name: staging-eu, context: {cluster: a}}]\nclusters: [{name: a, cluster: {server: 'https://10.0.0.1'}}]\n")
	write(t, filepath.Join(dir, "shop.plan"), "{}")
	write(t, filepath.Join(dir, ".kube/prod"), "contexts: [{name: eu, context: {cluster: a}}]\n")
	n := 0
	for page, lines := range found {
		for _, l := range lines {
			n++
			args, err := words(l)
			if err != nil {
				t.Errorf("%s: %s: %v", page, l, err)
				continue
			}
			if len(args) > 1 && args[1] == "sandbox" {
				checkSandbox(t, page, l, args[2:])
				continue
			}
			for i := range args {
				args[i] = strings.Replace(args[i], "~/", dir+"/", 1)
			}
			if said := accepts(t.Context(), args[1:], kubeconfig); said != "" {
				t.Errorf("%s: %s\n%s", page, l, said)
			}
		}
	}
	if n < 20 {
		t.Errorf("only %d command lines were found", n)
	}
}

// TestCommandLinesAreRefused: the test above can fail.
func TestCommandLinesAreRefused(t *testing.T) {
	for _, bad := range []string{"hawser aply -f x.yaml", "hawser apply -f x.yaml --no-such-flag", "hawser apply", "hawser plan -f x.yaml -o xml", "hawser fleet no-such"} {
		args, err := words(bad)
		if err != nil {
			t.Fatal(err)
		}
		if accepts(t.Context(), args[1:], "") == "" {
			t.Errorf("%s is accepted", bad)
		}
	}
}

func write(t *testing.T, file, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

var program = regexp.MustCompile(`^(\./bin/|bin/)?hawser( |$)`)

// commandLines are the lines of a block that call hawser, without comments, redirections and what they are joined with.
func commandLines(text string) []string {
	var out []string
	text = strings.ReplaceAll(text, "\\\n", " ")
	for _, l := range strings.Split(text, "\n") {
		l, _, _ = strings.Cut(strings.TrimPrefix(strings.TrimSpace(l), "$ "), " #")
		for _, part := range strings.Split(strings.ReplaceAll(l, "||", "&&"), "&&") {
			part = strings.TrimSpace(part)
			if _, inner, ok := strings.Cut(part, "$(hawser "); ok { // export X=$(hawser ...)
				part = "hawser " + strings.TrimSuffix(inner, ")")
			}
			part, _, _ = strings.Cut(part, " > ")
			part, _, _ = strings.Cut(part, " | ")
			part, _, _ = strings.Cut(part, "; ")
			if program.MatchString(part) {
				out = append(out, part)
			}
		}
	}
	return out
}

// words splits a command line as a shell does, as far as the pages need it: quotes, no expansion.
func words(line string) ([]string, error) {
	var out []string
	var word strings.Builder
	quote, has := rune(0), false
	for _, r := range line {
		switch {
		case quote != 0 && r == quote:
			quote = 0
		case quote == 0 && (r == '\'' || r == '"'):
			quote, has = r, true
		case quote == 0 && r == ' ':
			if has || word.Len() > 0 {
				out = append(out, word.String())
			}
			word.Reset()
			has = false
		default:
			word.WriteRune(r)
		}
	}
	if quote != 0 {
		return nil, errors.New("a quote is not closed")
	}
	if has || word.Len() > 0 {
		out = append(out, word.String())
	}
	return out, nil
}

// checkSandbox: hawser-sandbox is a module of its own, so that its commands and flags are looked up in its source.
func checkSandbox(t *testing.T, page, line string, args []string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(root, "sandbox/cli/*.go"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no sandbox: %v", err)
	}
	var source strings.Builder
	for _, f := range files {
		data, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		source.Write(data)
	}
	text := source.String()
	if len(args) == 0 || !strings.HasPrefix(args[0], "-") && !regexp.MustCompile(`"`+regexp.QuoteMeta(args[0])+`[ "]`).MatchString(text) {
		t.Errorf("%s: %s: no such command of the sandbox", page, line)
		return
	}
	for _, a := range args {
		name, isFlag := strings.CutPrefix(a, "--")
		name, _, _ = strings.Cut(name, "=")
		if isFlag && name != "help" && !strings.Contains(text, `"`+name+`", `) {
			t.Errorf("%s: %s: the sandbox has no flag --%s", page, line, name)
		}
	}
}

package document

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"hawser.dev/hawser/api/v1alpha1"
	"hawser.dev/hawser/internal/cuelang"
	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/fleet"
	"hawser.dev/hawser/internal/testwire"
)

var update = flag.Bool("update", false, "rewrite golden files")

// script is a golden test: a txtar archive whose comment holds `key: value` lines (files, fleet, env, stdin, workdir,
// name, facts, show) and whose want files hold what comes out.
type script struct {
	files, fleet []string
	env          map[string]string
	stdin, name  string
	workdir      string
	version      string
	showValue    bool
}

func parseScript(t *testing.T, comment string) script {
	t.Helper()
	s := script{}
	for line := range strings.Lines(comment) {
		key, value, ok := strings.Cut(strings.TrimSpace(line), ":")
		value = strings.TrimSpace(value)
		if !ok || strings.HasPrefix(line, "#") {
			continue
		}
		switch key {
		case "files":
			s.files = strings.Fields(value)
		case "fleet":
			s.fleet = strings.Fields(value)
		case "env":
			if s.env == nil {
				s.env = map[string]string{}
			}
			k, v, _ := strings.Cut(value, "=")
			s.env[k] = strings.ReplaceAll(v, `\n`, "\n")
		case "stdin":
			s.stdin = value
		case "workdir":
			s.workdir = value
		case "name":
			s.name = value
		case "version":
			s.version = value
		case "show":
			s.showValue = value == "value"
		default:
			t.Fatalf("unknown line %q", line)
		}
	}
	return s
}

// TestGolden loads every archive of testdata and compares findings, fleet, specs and printed values.
func TestGolden(t *testing.T) {
	archives, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(archives) == 0 {
		t.Fatal("no archives", err)
	}
	for _, path := range archives {
		abs, err := filepath.Abs(path)
		if err != nil {
			t.Fatal(err)
		}
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txtar"), func(t *testing.T) { golden(t, abs) })
	}
}

func golden(t *testing.T, path string) {
	ar, err := txtar.ParseFile(path)
	if err != nil {
		t.Fatal(err)
	}
	dir := unpack(t, ar)
	t.Chdir(dir)
	got := strings.ReplaceAll(run(t, parseScript(t, string(ar.Comment)), dir, nil), dir, "/ROOT")
	asked := map[About]bool{}
	there := strings.ReplaceAll(run(t, parseScript(t, string(ar.Comment)), dir, anotherProcess(t, asked)), dir, "/ROOT")
	if d := cmp.Diff(got+names[false], there+names[true]); d != "" {
		t.Errorf("in another process it is another (it was asked %v):\n%s", asked, d)
	}
	i := slices.IndexFunc(ar.Files, func(f txtar.File) bool { return f.Name == "want" })
	if *update {
		if i < 0 {
			ar.Files = append(ar.Files, txtar.File{Name: "want"})
			i = len(ar.Files) - 1
		}
		ar.Files[i].Data = []byte(got)
		if err := os.WriteFile(path, txtar.Format(ar), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if i < 0 {
		t.Fatal("no want file: run with -update")
	}
	if d := cmp.Diff(string(ar.Files[i].Data), got); d != "" {
		t.Error(d)
	}
}

func unpack(t *testing.T, ar *txtar.Archive) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range ar.Files {
		if f.Name == "want" {
			continue
		}
		path := filepath.Join(dir, f.Name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, f.Data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// names is what programs tell besides, of here and of another process.
var names = map[bool]string{}

// anotherProcess answers questions of what another process would be handed, and notes what they were about.
func anotherProcess(t *testing.T, asked map[About]bool) Elsewhere {
	return func(ctx context.Context, of Source, q Question) Answer {
		asked[q.About] = true
		of, q = testwire.Carried(t, of), testwire.Carried(t, q)
		opts := of.Options
		opts.Stdin = bytes.NewReader(of.Stdin)
		p, fs := Load(ctx, opts)
		if p == nil {
			return Answer{Findings: fs}
		}
		if p.Source().Digest != of.Digest {
			t.Error("the files are others")
		}
		return testwire.Carried(t, p.Answer(q))
	}
}

func run(t *testing.T, s script, dir string, elsewhere Elsewhere) string {
	t.Helper()
	opts := Options{Files: s.files, Fleet: s.fleet, Workdir: s.workdir, Name: s.name, Elsewhere: elsewhere}
	if s.stdin != "" {
		f, err := os.Open(filepath.Join(dir, s.stdin))
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = f.Close() }()
		opts.Stdin = f
	}
	var b strings.Builder
	p, fs := Load(context.Background(), opts)
	writeFindings(&b, "load", fs)
	if p == nil {
		return b.String()
	}
	writeFleet(&b, p.Fleet())
	clusters := fleet.Clusters(p.Fleet())
	if len(clusters) == 0 {
		clusters = []fleet.Cluster{fleet.Implicit("")}
	}
	if len(s.files) == 0 {
		return b.String()
	}
	for _, c := range clusters {
		f := c.Facts(fleet.RuntimeValues(s.env, nil, c))
		f.Version = s.version
		specs, fs := p.Evaluate(f)
		fmt.Fprintf(&b, "== cluster %s\n", c.Name)
		writeFindings(&b, "evaluate", fs)
		for _, spec := range specs {
			writeSpec(&b, spec, dir)
		}
		if s.showValue {
			text, fs := p.Value(f)
			writeFindings(&b, "value", fs)
			b.WriteString(text)
		}
	}
	names[elsewhere != nil] = fmt.Sprint(p.Bundles(), p.Varies(), p.Files(), p.Digest())
	for _, c := range p.Comparisons() {
		fmt.Fprintf(&b, "compares %s with %q: %s: %s\n", c.Fact, c.Constant, c.Pos, c.Expr)
	}
	return b.String()
}

func writeFindings(b *strings.Builder, stage string, fs diag.Findings) {
	for _, f := range fs {
		fmt.Fprintf(b, "%s %s [%s] %s\n", stage, f.Severity, f.Code, f)
	}
}

func writeFleet(b *strings.Builder, f *v1alpha1.FleetSpec) {
	if f == nil {
		return
	}
	text, err := json.Marshal(f)
	if err != nil {
		fmt.Fprintln(b, err)
	}
	fmt.Fprintf(b, "fleet %s\n", text)
}

func writeSpec(b *strings.Builder, s v1alpha1.BundleSpec, dir string) {
	fmt.Fprintf(b, "bundle %s", s.Name)
	for _, r := range s.Requires {
		fmt.Fprintf(b, " requires %s", r.Bundle)
	}
	b.WriteString("\n")
	writeRules(b, "  ", s.Health, s.Ignore)
	rel := func(path string) string {
		if r, err := filepath.Rel(dir, path); err == nil {
			return r
		}
		return path
	}
	for _, in := range s.Instances {
		fmt.Fprintf(b, "  %s @%s:%d", in.Name, in.Pos.File, in.Pos.Line)
		if m := in.Module; m != nil {
			fmt.Fprintf(b, " module=%s version=%q digest=%q dir=%s", m.URL, m.Version, m.Digest, rel(m.Dir))
		}
		if m := in.Manifests; m != nil {
			fmt.Fprintf(b, " manifests=%v dir=%s", m.Paths, rel(m.Dir))
			if m.URL != "" {
				fmt.Fprintf(b, " url=%s version=%q digest=%q", m.URL, m.Version, m.Digest)
			}
		}
		if h := in.Helm; h != nil {
			text, _ := json.Marshal(h)
			fmt.Fprintf(b, " helm=%s dir=%s", text, rel(h.Dir))
		}
		if k := in.Kustomize; k != nil {
			text, _ := json.Marshal(k)
			fmt.Fprintf(b, " kustomize=%s dir=%s", text, rel(k.Dir))
		}
		fmt.Fprintf(b, " namespace=%s", in.Namespace)
		if in.DependsOn != nil {
			fmt.Fprintf(b, " dependsOn=%v", in.DependsOn)
		}
		if in.Placement != nil {
			text, _ := json.Marshal(in.Placement)
			fmt.Fprintf(b, " placement=%s", text)
		}
		if in.Wait != nil {
			fmt.Fprintf(b, " wait=%t", *in.Wait)
		}
		if in.Timeout.Duration != 0 {
			fmt.Fprintf(b, " timeout=%s", in.Timeout)
		}
		if in.Suspend {
			b.WriteString(" suspend")
		}
		b.WriteString("\n")
		writeRules(b, "    ", in.Health, in.Ignore)
		writeValues(b, "values", in.Values)
		for _, w := range in.ValuesFor {
			sel, _ := json.Marshal(map[string]any{"clusters": w.Clusters, "groups": w.Groups, "selector": w.ClusterSelector})
			writeValues(b, "valuesFor."+w.Name+" "+string(sel), w.Values)
		}
	}
}

func writeRules(b *strings.Builder, indent string, health []v1alpha1.HealthRule, ignore []v1alpha1.IgnoreRule) {
	for _, r := range health {
		text, _ := json.Marshal(r)
		fmt.Fprintf(b, "%shealth @%d %s\n", indent, r.Pos.Line, text)
	}
	for _, r := range ignore {
		text, _ := json.Marshal(r)
		fmt.Fprintf(b, "%signore @%d %s\n", indent, r.Pos.Line, text)
	}
}

func writeValues(b *strings.Builder, name string, v v1alpha1.Values) {
	if v.Struct == nil {
		return
	}
	fmt.Fprintf(b, "    %s: %s\n", name, dataText(v.Struct))
}

// dataText is data on one line.
func dataText(x *v1alpha1.Value) string {
	var parts []string
	switch x.Kind {
	case v1alpha1.KindStruct:
		for _, f := range x.Fields {
			parts = append(parts, f.Name+": "+dataText(f.Value))
		}
		return "{" + strings.Join(parts, ", ") + "}"
	case v1alpha1.KindList:
		for _, e := range x.Items {
			parts = append(parts, dataText(e))
		}
		return "[" + strings.Join(parts, ", ") + "]"
	}
	return cuelang.Line(x)
}

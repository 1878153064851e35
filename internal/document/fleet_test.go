package document

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hawser.dev/hawser/api/v1alpha1"
	"hawser.dev/hawser/internal/diag"
)

// write puts files below a directory.
func write(t testing.TB, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// TestBrokenFleetIsNoMissingFleet: whatever is wrong with a fleet, the current context is never meant instead. Each is
// tried as --fleet, and together with the bundle in the files.
func TestBrokenFleetIsNoMissingFleet(t *testing.T) {
	const good = `runtime: {apiVersion: "v1alpha1", name: "f", clusters: a: {group: "g", kubeContext: "x"}}` + "\n"
	broken := map[string]map[string]string{
		"undefined reference": {"f.cue": `runtime: {apiVersion: "v1alpha1", name: "f", clusters: "staging-eu": {group: _stg, kubeContext: "x"}}`},
		"unused import":       {"f.cue": "import \"strings\"\n" + good},
		"import twice":        {"f.cue": "import \"strings\"\nimport \"strings\"\n" + good + `_x: strings.ToUpper("x")`},
		"unknown package":     {"f.cue": "import \"stringz\"\n" + good + `_x: stringz.ToUpper("x")`},
		"unknown module":      {"f.cue": "import \"x.com/nope\"\n" + good + `_x: nope.x`},
		"unused module":       {"f.cue": "import \"x.com/nope\"\n" + good},
		"missing embed":       {"f.cue": "@extern(embed)\n" + good + `_x: _ @embed(file="nope.json")`},
		"unknown builtin":     {"f.cue": "import \"strings\"\n" + good + `_x: strings.Nope("x")`},
		"conflict":            {"f.cue": good + `runtime: name: "g"`},
		"conflict of groups":  {"f.cue": good + `runtime: clusters: a: group: "h"`},
		"no kubeContext yet":  {"f.cue": `_ctx: string` + "\n" + `runtime: {apiVersion: "v1alpha1", name: "f", clusters: a: {group: "g", kubeContext: _ctx}}`},
		"clusters of nothing": {"f.cue": `_all: [...string]` + "\n" + `runtime: {apiVersion: "v1alpha1", name: "f", clusters: {for n in _all {"\(n)": {group: "g", kubeContext: n}}}}`},
		"condition open":      {"f.cue": `_prod: bool` + "\n" + `runtime: {apiVersion: "v1alpha1", name: "f", clusters: {if _prod {a: {group: "g", kubeContext: "x"}}}}`},
		"fleet on condition":  {"f.cue": `_prod: bool` + "\n" + `if _prod {runtime: {apiVersion: "v1alpha1", name: "f", clusters: a: {group: "g", kubeContext: "x"}}}`},
		"embedded broken":     {"f.cue": `{runtime: {apiVersion: "v1alpha1", name: "f", clusters: a: {group: "g", kubeContext: "x"}} & _nope}`},
		"clusters null":       {"f.cue": `runtime: {apiVersion: "v1alpha1", name: "f", clusters: null}`},
		"clusters cyclic":     {"f.cue": `runtime: {apiVersion: "v1alpha1", name: "f", clusters: runtime.clusters & {a: {group: x, kubeContext: "x"}}}`},
		"kind of fleet":       {"f.cue": `apiVersion: "hawser.dev/v1alpha1", kind: "Fleet", metadata: name: "f", spec: clusters: a: {kubeContext: _x}`},
		"bad beside good":     {"f.cue": good, "g.cue": `_x: _undefined`},
		"syntax beside good":  {"f.cue": good, "g.cue": `_x: {`},
		"bad YAML":            {"f.yaml": "runtime:\n  apiVersion: v1alpha1\n  name: f\n  clusters:\n    a: {group: g, kubeContext: x\n"},
		"YAML and CUE":        {"f.yaml": "runtime: {apiVersion: v1alpha1, name: f, clusters: {a: {group: g, kubeContext: x}}}\n", "g.cue": `runtime: name: "other"`},
		"clusters a list":     {"f.yaml": "runtime:\n  apiVersion: v1alpha1\n  name: f\n  clusters: [{name: a}]\n"},
		"clusters nothing":    {"f.yaml": "runtime:\n  apiVersion: v1alpha1\n  name: f\n  clusters:\n"},
	}
	for name, files := range broken {
		for _, module := range []bool{true, false} {
			dir := t.TempDir()
			write(t, dir, files)
			if module {
				write(t, dir, map[string]string{"cue.mod/module.cue": "module: \"x.com\"\nlanguage: version: \"v0.9.0\"\n"})
			}
			var args []string
			for file := range files {
				args = append(args, filepath.Join(dir, file))
			}
			bundle := filepath.Join(t.TempDir(), "b.yaml")
			write(t, filepath.Dir(bundle), map[string]string{"b.yaml": "bundle: {apiVersion: v1alpha1, name: b, instances: {a: {module: {url: 'file:///m'}, namespace: x}}}\n"})
			for way, opts := range map[string]Options{
				"--fleet":  {Files: []string{bundle}, Fleet: args, Workdir: dir},
				"fleet":    {Fleet: args, Workdir: dir},
				"together": {Files: append([]string{bundle}, args...), Workdir: dir},
			} {
				p, fs := Load(context.Background(), opts)
				if way == "together" && !fs.HasErrors() && p.Fleet() != nil && len(p.Fleet().Clusters) == 1 {
					_, fs = p.Evaluate(implicit(nil)) // what does not touch the fleet is found with the bundle
				}
				if !fs.HasErrors() {
					t.Errorf("%s, %s, module %v: no error (program %v)", name, way, module, p != nil)
					continue
				}
				if text := fs.Err().Error(); !strings.Contains(text, "f.") && !strings.Contains(text, "g.cue") {
					t.Errorf("%s, %s: no file is named: %s", name, way, text)
				}
			}
		}
	}
}

// TestFleetGivenMustBeOne: what is given as a fleet and holds none is an error.
func TestFleetGivenMustBeOne(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{
		"empty.yaml": "", "comment.yaml": "# nothing\n", "empty.cue": "", "other.cue": `x: 1`, "off.cue": `if false {fleet: {}}`,
		"bundle.yaml": "bundle: {apiVersion: v1alpha1, name: b, instances: {a: {module: {url: 'file:///m'}, namespace: x}}}\n",
		"hidden.cue":  `_fleet: {apiVersion: "v1alpha1", name: "f"}`, "optional.cue": `fleet?: {apiVersion: "v1alpha1"}`,
		"definition.cue": `#fleet: {apiVersion: "v1alpha1"}`, "pattern.cue": `[string]: {apiVersion: "v1alpha1"}`, "required.cue": `fleet!: {name: "f"}`,
	})
	bundle := filepath.Join(dir, "bundle.yaml")
	for _, given := range []string{"", " ", ",", "empty.yaml", "comment.yaml", "empty.cue", "other.cue", "off.cue", "bundle.yaml",
		"hidden.cue", "optional.cue", "definition.cue", "pattern.cue", "required.cue"} {
		arg := given
		if strings.Contains(given, ".") {
			arg = filepath.Join(dir, given)
		}
		for _, files := range [][]string{nil, {bundle}} {
			_, fs := Load(context.Background(), Options{Files: files, Fleet: []string{arg}, Workdir: dir})
			if !fs.HasErrors() {
				t.Errorf("--fleet %q with files %v: no error", given, files)
			}
		}
	}
	// Without --fleet none of them declares a fleet, and that is nobody's mistake.
	for _, given := range []string{"off.cue", "hidden.cue", "definition.cue"} {
		p, fs := Load(context.Background(), Options{Files: []string{bundle, filepath.Join(dir, given)}, Workdir: dir})
		if fs.HasErrors() || p.Fleet() != nil {
			t.Errorf("%s beside a bundle: %v", given, fs)
		}
	}
}

// TestFleetSaidInOtherWays: a fleet that is embedded, computed or on a condition that holds is one.
func TestFleetSaidInOtherWays(t *testing.T) {
	const fleet = `{apiVersion: "v1alpha1", name: "f", clusters: a: {group: "g", kubeContext: "x"}}`
	for name, text := range map[string]string{
		"embedded runtime": `{runtime: ` + fleet + `}`, "embedded fleet": `{fleet: ` + fleet + `}`,
		"condition": `if true {runtime: ` + fleet + `}`, "computed": `_n: "runtime", "\(_n)": ` + fleet,
		"reference": `_f: ` + fleet + "\nfleet: _f",
	} {
		p, fs := loadText(t, "b.cue", text)
		if fs.HasErrors() || p.Fleet() == nil || len(p.Fleet().Clusters) != 1 {
			t.Errorf("%s: %v", name, fs)
		}
	}
}

// TestNothingIsDropped: a value that could not be read and that nothing explains is an error by itself.
func TestNothingIsDropped(t *testing.T) {
	p, fs := loadText(t, "b.cue", `bundle: {apiVersion: "v1alpha1", name: "b", instances: a: {module: url: "file:///m", namespace: "x", values: {a: 1 & 2}}}`)
	if fs.HasErrors() {
		t.Fatal(fs)
	}
	root, err := p.build(p.files, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	d := newDecoder(p, nil)
	d.bundle(bundleValues(root)[0].Value, "")
	if got := d.dropped(nil); !got.HasErrors() || !strings.Contains(got[0].What, "conflicting values") {
		t.Errorf("dropped: %v", got)
	}
	if got := d.dropped(diag.Findings{diag.Errorf("x", "said")}); got != nil {
		t.Errorf("said twice: %v", got)
	}
}

// In a directory of documents, hawser.yaml is no document.
func TestDefaultsAreNoDocument(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{"hawser.yaml": "fleet: f.yaml\n", "b.yaml": "bundle: {apiVersion: v1alpha1, name: b, instances: {a: {module: {url: 'file:///m'}, namespace: x}}}\n"})
	p, fs := Load(t.Context(), Options{Files: []string{dir}, Workdir: dir})
	if fs.HasErrors() {
		t.Fatal(fs)
	}
	if specs, fs := p.Evaluate(implicit(nil)); fs.HasErrors() || len(specs) != 1 || specs[0].Name != "b" || len(specs[0].Instances) != 1 {
		t.Errorf("the bundle beside it: %+v %v", specs, fs)
	}
}

// What must be signed is read with its places, and mistakes are found where they are.
func TestSignatures(t *testing.T) {
	read := func(section string) (*v1alpha1.Signatures, string) {
		dir := t.TempDir()
		write(t, dir, map[string]string{"f.yaml": "fleet:\n  apiVersion: v1alpha1\n  name: f\n  signatures:\n    " +
			strings.ReplaceAll(strings.TrimSpace(section), "\n", "\n    ") + "\n"})
		p, fs := Load(t.Context(), Options{Fleet: []string{filepath.Join(dir, "f.yaml")}, Workdir: dir})
		if fs.HasErrors() {
			return nil, fs.Err().Error()
		}
		got := p.Fleet().Signatures
		if got.Dir != dir || got.Required[0].By[0].Dir != dir {
			t.Errorf("relative to %q and %q, want %q", got.Dir, got.Required[0].By[0].Dir, dir)
		}
		return got, ""
	}
	got, failed := read(`
trustedRoot: trusted_root.json
required:
- sources: [registry.example.com/modules/**]
  except: ["registry.example.com/modules/dev/*"]
  by:
  - {key: cosign.pub, transparencyLog: true}
  - {identity: ada@example.com, issuerRegexp: "https://.*"}`)
	if failed != "" {
		t.Fatal(failed)
	}
	want := v1alpha1.SignedBy{Identity: "ada@example.com", IssuerRegexp: "https://.*"}
	by := got.Required[0].By
	by[1].Dir, by[1].Pos = "", v1alpha1.Position{}
	if by[1] != want || by[0].Key != "cosign.pub" || !by[0].TransparencyLog || got.TrustedRoot != "trusted_root.json" ||
		got.Required[0].Except[0] != "registry.example.com/modules/dev/*" || got.Required[0].Pos.Line != 7 {
		t.Errorf("%+v", got)
	}
	for section, want := range map[string]string{
		"required: []":                                                       "signatures.required: there is no rule",
		"trustedRoot: x":                                                     "required is required",
		"required: [{sources: [a/b]}]":                                       "by is required",
		"required: [{by: [{key: k}]}]":                                       "sources is required",
		"required: [{sources: [], by: [{key: k}]}]":                          "sources is empty",
		"required: [{sources: [a/b], by: []}]":                               "nobody could sign it",
		"required: [{sources: [\"oci://a/b\"], by: [{key: k}]}]":             "it has a scheme",
		"required: [{sources: [\"a/b:1.0\"], by: [{key: k}]}]":               "it has a tag or a digest",
		"required: [{sources: [a], by: [{identity: x}]}]":                    "there is an identity without an issuer",
		"required: [{sources: [a], by: [{issuer: x}]}]":                      "there is an issuer without an identity",
		"required: [{sources: [a], by: [{key: k, identity: x}]}]":            "each is a signer of its own",
		"required: [{sources: [a], by: [{}]}]":                               "there is neither a key nor an identity",
		"required: [{sources: [a], by: [{identityRegexp: '(', issuer: x}]}]": "a regular expression is wrong",
		"required: [{sources: [a], by: [{keys: k}]}]":                        "did you mean \"key\"?",
	} {
		if _, failed := read(section); !strings.Contains(failed, want) {
			t.Errorf("%s: %s, want %q", section, failed, want)
		}
	}
}

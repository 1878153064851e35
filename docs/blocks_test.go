package docs

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"hawser.dev/hawser/api/v1alpha1"
	"hawser.dev/hawser/internal/bind"
	"hawser.dev/hawser/internal/cache"
	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/document"
	"hawser.dev/hawser/internal/fleet"
	"hawser.dev/hawser/internal/module"
	"hawser.dev/hawser/internal/module/chartdir"
	"hawser.dev/hawser/internal/module/dir"
	"hawser.dev/hawser/internal/place"
	"hawser.dev/hawser/internal/render"
	"hawser.dev/hawser/internal/render/cue"
	"hawser.dev/hawser/internal/render/helm"
	"hawser.dev/hawser/internal/render/kustomize"
	"hawser.dev/hawser/internal/render/plain"
	"hawser.dev/hawser/internal/secret"
	"hawser.dev/hawser/internal/secret/env"
	secretfile "hawser.dev/hawser/internal/secret/file"
	"hawser.dev/hawser/internal/secret/sops"
	"hawser.dev/hawser/internal/source"
	"hawser.dev/hawser/internal/values"
)

const exampleFleet = "examples/fleet.yaml"

// page is what the blocks of one page see: a copy of examples, and the fleet shown last.
type page struct {
	dir   string
	fleet string // its file
	by    map[string]render.Renderer
	fetch map[string]module.Fetcher
	files *bind.Files
	// stores is whether references are looked up in the stores of the page's fleet.
	stores bool
}

func newPage(t *testing.T) *page {
	t.Helper()
	p := &page{dir: t.TempDir(), files: &bind.Files{}, fetch: map[string]module.Fetcher{}, by: map[string]render.Renderer{}}
	for _, f := range []module.Fetcher{dir.New(), chartdir.New(cache.Open(cache.Options{Dir: t.TempDir()}))} {
		for _, scheme := range f.Schemes() {
			p.fetch[scheme] = f
		}
	}
	for _, r := range []render.Renderer{cue.New(cue.Options{}), helm.New(helm.Options{}), kustomize.New(kustomize.Options{}), plain.New(plain.Options{})} {
		p.by[r.Name()] = r
	}
	if err := os.CopyFS(p.dir, os.DirFS(filepath.Join(root, "examples"))); err != nil {
		t.Fatal(err)
	}
	p.fleet = filepath.Join(root, exampleFleet)
	return p
}

// TestDocuments: bundles, fleets and parts of them load and render for every cluster, or fail with what they announce.
func TestDocuments(t *testing.T) {
	t.Setenv("SHOP_GREETING", "hello")
	for _, name := range pages(t) {
		p := newPage(t)
		n := 0
		for _, b := range blocks(t, name) {
			if f := b.args["file"]; f != "" {
				write(t, filepath.Join(p.dir, f), b.text)
				n++
				continue
			}
			if b.lang != "yaml" && b.lang != "cue" || !b.runs() || b.has("module") {
				continue
			}
			n++
			p.check(t, b)
		}
		t.Logf("%s: %d", name, n)
	}
}

func (p *page) check(t *testing.T, b block) {
	t.Helper()
	file := filepath.Join(p.dir, "block."+b.lang)
	text, isFleet := b.text, b.has("fleet")
	if at := b.args["fragment"]; at != "" {
		text, isFleet = whole(at, b.text), strings.HasPrefix(at, "fleet")
	}
	write(t, file, text)
	defer os.Remove(file)
	var findings diag.Findings
	if isFleet {
		_, findings = document.Load(t.Context(), document.Options{Fleet: []string{file}, FleetOnly: true})
	} else {
		findings = p.render(t, file, b)
	}
	if want := b.args["refused"]; want != "" {
		if !slices.ContainsFunc(findings, func(f diag.Finding) bool { return f.Code == want && f.Severity == diag.Error }) {
			t.Errorf("%s: want the finding %s, got %v", b, want, findings)
		}
		return
	}
	if findings.HasErrors() {
		t.Errorf("%s: %v\n%s", b, findings.Errors(), text)
	}
	if isFleet && b.has("fleet") {
		p.fleet = filepath.Join(p.dir, "fleet."+b.lang)
		write(t, p.fleet, text)
		p.stores = b.has("stores")
	}
}

// render loads a bundle with the page's fleet, evaluates it for every cluster, places and renders its instances.
func (p *page) render(t *testing.T, file string, b block) diag.Findings {
	t.Helper()
	opts := document.Options{Files: []string{file}, Fleet: []string{p.fleet}, Workdir: p.dir}
	if strings.Contains(b.text, "fleet:") { // both in one file
		opts.Fleet = nil
	}
	program, findings := document.Load(t.Context(), opts)
	if program == nil || findings.HasErrors() {
		return findings
	}
	clusters, rendered := fleet.Clusters(program.Fleet()), 0
	for _, c := range clusters {
		facts := factsOf(c, program.Fleet())
		specs, fs := program.Evaluate(facts)
		if findings = append(findings, fs...); fs.HasErrors() {
			return findings
		}
		for _, spec := range specs {
			instances, fs := p.bound(t.Context(), program.Fleet(), spec, c, facts)
			if findings = append(findings, fs...); fs.HasErrors() {
				return findings
			}
			for _, in := range instances {
				rendered++
				findings = append(findings, p.one(t, in)...)
			}
		}
	}
	if rendered == 0 && !findings.HasErrors() {
		t.Errorf("%s: nothing is placed on any of %d clusters", b, len(clusters))
	}
	return findings
}

// bound places the instances of a bundle on a cluster and puts their values in: files are read, stand-ins stand for what
// a cluster or a store of secrets would give.
func (p *page) bound(ctx context.Context, of *v1alpha1.FleetSpec, spec v1alpha1.BundleSpec, c fleet.Cluster, facts fleet.Facts) ([]v1alpha1.Instance, diag.Findings) {
	spec, findings := bind.Spec(spec, p.files.Value)
	if findings.HasErrors() {
		return nil, findings
	}
	placed, fs := place.Select(spec, c, facts)
	findings = append(findings, fs...)
	var here []v1alpha1.Instance
	for _, in := range placed {
		if in.Why == "" {
			here = append(here, in.Instance)
		}
	}
	here, fs = bind.Instances(here)
	findings = append(findings, fs...)
	reader := values.New(values.Options{Fleet: of, Open: openStore})
	for i := range here {
		here[i].Values, fs = bind.Bind(here[i].Values, bind.Fill{
			From:     func(f bind.From) (*v1alpha1.Value, *diag.Finding) { return bind.StandIn(f), nil },
			Generate: func(g bind.Generate) (*v1alpha1.Value, *diag.Finding) { return g.Value(g.Placeholder()), nil },
			Ref: func(r bind.Ref) (*v1alpha1.Value, *diag.Finding) {
				if p.stores {
					x, _, n := reader.Ref(ctx, values.Target{Cluster: c.Name}, r)
					return x, n
				}
				return r.Text("a secret"), nil
			},
		})
		findings = append(findings, fs...)
	}
	return here, findings
}

// openStore makes the stores that need no cluster.
func openStore(s v1alpha1.SecretStore, _ values.Secrets) (secret.Store, error) {
	switch {
	case s.Env != nil:
		return env.New(s.Env.Prefix), nil
	case s.File != nil:
		return secretfile.New(filepath.Join(s.File.Dir, s.File.Path)), nil
	case s.SOPS != nil:
		return sops.New(sops.Options{Dir: filepath.Join(s.SOPS.Dir, s.SOPS.Path), KeyFile: filepath.Join(s.SOPS.Dir, s.SOPS.Age.KeyFile)}), nil
	}
	return nil, errors.New("there is no cluster")
}

// factsOf are the facts of a cluster that answers every query with its own name.
func factsOf(c fleet.Cluster, spec *v1alpha1.FleetSpec) fleet.Facts {
	queried := map[string]fleet.Value{}
	for _, q := range spec.Values {
		for _, v := range q.For {
			queried[v.Name] = fleet.Value{Value: c.Name, Layer: fleet.LayerQuery, Origin: q.Query}
		}
	}
	facts := c.Facts(fleet.RuntimeValues(nil, queried, c))
	facts.Version = "1.36.3"
	return facts
}

func (p *page) one(t *testing.T, in v1alpha1.Instance) diag.Findings {
	t.Helper()
	req := render.Request{Bundle: "docs", Instance: in, KubeVersion: "1.36.3", Package: "main"}
	src, _ := source.Of(in)
	if src.Scheme() != "" {
		fetcher := p.fetch[src.Scheme()]
		if fetcher == nil { // from the network: loading has checked what can be checked
			return nil
		}
		content, err := fetcher.Fetch(t.Context(), src.Ref)
		if err != nil {
			return diag.From(err, "fetch")
		}
		req.Content = content
	}
	res, err := p.by[src.Kind].Render(t.Context(), req)
	if err != nil {
		return diag.From(err, "render")
	}
	if len(res.Objects) == 0 {
		t.Errorf("instance %s renders nothing", in.Name)
	}
	return res.Findings
}

var sourceField = regexp.MustCompile(`(?m)^(module|manifests|helm|kustomize):`)

// whole puts a fragment at its place and adds what a document must have besides.
func whole(at, text string) string {
	steps := strings.Split(at, ".")
	switch {
	case len(steps) == 3 && steps[0] == "bundle" && !sourceField.MatchString(text):
		text = "module: {url: file://./modules/web}\n" + text
		if !strings.Contains(text, "namespace:") {
			text = "namespace: shop\n" + text
		}
	case len(steps) == 3 && steps[0] == "fleet" && !strings.Contains(text, "kubeContext:") && !strings.Contains(text, "kubeconfig:"):
		text = "kubeContext: docs\n" + text
	case at == "fleet" && !strings.Contains(text, "clusters:\n"):
		text = "clusters:\n  staging-eu: {group: staging, kubeContext: a}\n  production-eu: {group: production, kubeContext: b, labels: {region: eu}}\n" + text
	}
	head := map[string]string{"bundle": "bundle:\n  apiVersion: v1alpha1\n  name: docs\n", "fleet": "fleet:\n  apiVersion: v1alpha1\n  name: docs\n"}[steps[0]]
	indent := "  "
	for _, s := range steps[1:] {
		head += indent + s + ":\n"
		indent += "  "
	}
	return head + indented(text, indent)
}

func indented(text, by string) string {
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	return by + strings.Join(lines, "\n"+by) + "\n"
}

// TestModules: the files of a module on a page make a module that renders.
func TestModules(t *testing.T) {
	n := 0
	for _, name := range pages(t) {
		p, files := newPage(t), 0
		at := filepath.Join(p.dir, "shown")
		for _, b := range blocks(t, name) {
			if f := b.args["module"]; b.lang == "cue" && f != "" {
				write(t, filepath.Join(at, f), b.text)
				files++
			}
		}
		if files == 0 {
			continue
		}
		n++
		for _, f := range p.one(t, v1alpha1.Instance{Name: "web", Namespace: "shop", Module: &v1alpha1.ModuleSource{URL: "file://" + at}}) {
			t.Errorf("%s: %s", name, f)
		}
	}
	if n == 0 {
		t.Error("no page shows a module")
	}
}

// TestJSON: every JSON document fits its schema.
func TestJSON(t *testing.T) {
	for _, name := range pages(t) {
		for _, b := range blocks(t, name) {
			if b.lang != "json" {
				continue
			}
			for _, kind := range documentKinds {
				if b.has(kind) {
					checkJSON(t, b, kind)
				}
			}
		}
	}
}

func checkJSON(t *testing.T, b block, kind string) {
	t.Helper()
	schema, err := jsonschema.NewCompiler().Compile(filepath.Join(root, "docs/schema", kind+".json"))
	if err != nil {
		t.Fatal(err)
	}
	docs := []string{b.text}
	if kind == "event" { // one in each line
		docs = strings.Split(strings.TrimSpace(b.text), "\n")
	}
	for _, d := range docs {
		value, err := jsonschema.UnmarshalJSON(strings.NewReader(d))
		if err == nil {
			err = schema.Validate(value)
		}
		if err != nil {
			t.Errorf("%s: %v\n%s", b, err, d)
		}
	}
}

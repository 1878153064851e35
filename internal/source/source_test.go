package source

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hawser.dev/hawser/api/v1alpha1"
	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/lockfile"
	"hawser.dev/hawser/internal/module"
)

func TestOf(t *testing.T) {
	for name, c := range map[string]struct {
		in                     v1alpha1.Instance
		key, title, url, chart string
		version                string // that is asked for
		local                  bool
	}{
		"module":        {v1alpha1.Instance{Module: &v1alpha1.ModuleSource{URL: "file://./web"}}, "file://./web", "module file://./web 9", "file://./web", "", "", true},
		"module oci":    {v1alpha1.Instance{Module: &v1alpha1.ModuleSource{URL: "oci://r/db"}}, "oci://r/db", "module oci://r/db 9", "oci://r/db", "", "latest", false},
		"module range":  {v1alpha1.Instance{Module: &v1alpha1.ModuleSource{URL: "oci://r/db", Version: "1.x"}}, "oci://r/db 1.x", "module oci://r/db 9", "oci://r/db", "", "1.x", false},
		"chart":         {v1alpha1.Instance{Helm: &v1alpha1.HelmSource{Chart: "./api"}}, "helm ./api", "helm ./api 9", "chart+file://./api", "", "", true},
		"chart archive": {v1alpha1.Instance{Helm: &v1alpha1.HelmSource{Chart: "/c/api.tgz"}}, "helm /c/api.tgz", "helm /c/api.tgz 9", "chart+file:///c/api.tgz", "", "", true},
		"chart oci":     {v1alpha1.Instance{Helm: &v1alpha1.HelmSource{Chart: "oci://r/api"}}, "helm oci://r/api", "helm oci://r/api 9", "oci://r/api", "", "*", false},
		"chart repository": {v1alpha1.Instance{Helm: &v1alpha1.HelmSource{Chart: "api", Repo: "https://u:pw@charts.example.com/x", Version: "^2"}},
			"helm https://charts.example.com/x api ^2", "helm api 9 (https://charts.example.com/x)", "chart+https://u:pw@charts.example.com/x", "api", "^2", false},
		"kustomize":     {v1alpha1.Instance{Kustomize: &v1alpha1.KustomizeSource{Path: "./base"}}, "kustomize ./base", "kustomize ./base 9", "", "", "", true},
		"manifests":     {v1alpha1.Instance{Manifests: &v1alpha1.ManifestsSource{Paths: []string{"a.yaml", "b"}}}, "manifests a.yaml b", "manifests 9", "", "", "", true},
		"manifests url": {v1alpha1.Instance{Manifests: &v1alpha1.ManifestsSource{URL: "https://x.example.com/m.yaml", Digest: "sha256:1"}}, "manifests https://x.example.com/m.yaml", "manifests https://x.example.com/m.yaml 9", "https://x.example.com/m.yaml", "", "", false},
	} {
		t.Run(name, func(t *testing.T) {
			s, ok := Of(c.in)
			if !ok {
				t.Fatal("no source")
			}
			got := []string{s.Key(), s.Title("9"), s.Ref.URL, s.Ref.Chart, s.Ref.Version, fmt.Sprint(s.Local())}
			want := []string{c.key, c.title, c.url, c.chart, c.version, fmt.Sprint(c.local)}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if strings.Contains(s.Key()+s.Title(""), "pw") {
				t.Error("a password is shown")
			}
		})
	}
	if _, ok := Of(v1alpha1.Instance{Name: "none"}); ok {
		t.Error("an instance without a source has one")
	}
}

// registry is a fetcher whose newest version can be moved; it counts what it is asked.
type registry struct {
	mu                sync.Mutex
	newest            string
	resolves, fetches atomic.Int32
	asked             []module.Reference
	resolved          module.Reference
}

func (r *registry) Schemes() []string { return []string{"oci"} }

func (r *registry) Resolve(ctx context.Context, ref module.Reference) (module.Resolved, error) {
	r.resolves.Add(1)
	if ctx.Err() != nil {
		return module.Resolved{}, errors.New("the registry did not answer")
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.resolved = ref
	if ref.URL == "oci://r/down" {
		return module.Resolved{}, diag.Findings{diag.Errorf("down", "the registry is down")}.Err()
	}
	if ref.Version == "main" {
		return module.Resolved{Version: "main", Digest: "sha256:" + r.newest}, nil
	}
	if ref.Version == "*" {
		return module.Resolved{Version: "3.0.0", Digest: "sha256:3.0.0"}, nil
	}
	return module.Resolved{Version: r.newest, Digest: "sha256:" + r.newest}, nil
}

func (r *registry) Fetch(_ context.Context, ref module.Reference) (module.Content, error) {
	r.fetches.Add(1)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.asked = append(r.asked, ref)
	if strings.HasPrefix(ref.URL, "file://") {
		return module.Content{Digest: "sha256:local", Version: "0.0.0-devel"}, nil
	}
	if ref.Digest == "" {
		return module.Content{}, errors.New("fetched without a digest")
	}
	return module.Content{Digest: ref.Digest, Version: ref.Version}, nil
}

func ranged(name string) v1alpha1.Instance {
	return v1alpha1.Instance{Name: name, Module: &v1alpha1.ModuleSource{URL: "oci://r/db", Version: "1.x", Pos: v1alpha1.Position{File: "shop.yaml", Line: 7}}}
}

func newResolver(pins map[string]lockfile.Pin) (*Resolver, *registry) {
	reg := &registry{newest: "1.5.0"}
	return &Resolver{Fetchers: map[string]module.Fetcher{"oci": reg, "file": reg}, Pins: pins,
		Digest: func(context.Context, v1alpha1.Instance, module.Reading) (string, error) { return "sha256:files", nil }}, reg
}

// What authenticates in an address is in no title, and in nothing that is made of one, also of records that have it in the clear; a source
// is the same one whatever authenticates in it.
func TestTitlesShowNoTokens(t *testing.T) {
	const address = "https://h/x?token=UrlCanary77&page=2"
	for kind, in := range map[string]v1alpha1.Instance{
		"manifests": {Manifests: &v1alpha1.ManifestsSource{URL: address, Digest: "sha256:1"}},
		"module":    {Module: &v1alpha1.ModuleSource{URL: address, Version: "1.0.0"}},
		"chart":     {Helm: &v1alpha1.HelmSource{Chart: address}},
		"repo":      {Helm: &v1alpha1.HelmSource{Chart: "api", Repo: address}},
	} {
		s, ok := Of(in)
		if !ok {
			t.Fatal(kind)
		}
		clear := s.Kind + " " + s.Name + " 1.0.0"
		if s.Repo != "" {
			clear += " (" + s.Repo + ")"
		}
		for _, title := range []string{s.Title("1.0.0"), clear} {
			d := Describe(title)
			if !s.Is(d) || d.Version != "1.0.0" || !strings.Contains(d.Name+d.Repository, "https://h/x?token=***&page=2") || strings.Contains(fmt.Sprint(d, d.String()), "UrlCanary77") {
				t.Errorf("%s: %q is %+v", kind, title, d)
			}
		}
		if title := s.Title("1.0.0"); strings.Contains(title, "UrlCanary77") || Masked(map[string]string{"web": clear})["web"] != title {
			t.Errorf("%s: %s", kind, title)
		}
	}
	if s, _ := Of(v1alpha1.Instance{Manifests: &v1alpha1.ManifestsSource{URL: "https://h/y?token=UrlCanary77"}}); s.Is(Describe("manifests " + address + " 1")) {
		t.Error("another address is the same source")
	}
	edge, _ := Of(v1alpha1.Instance{Helm: &v1alpha1.HelmSource{Chart: "api", Repo: "https://h/x?key=edge"}})
	stable, _ := Of(v1alpha1.Instance{Helm: &v1alpha1.HelmSource{Chart: "api", Repo: "https://h/x?key=stable"}})
	if !edge.Is(Describe(edge.Title("1"))) || edge.Is(Describe(stable.Title("1"))) || edge.Is(Describe("helm api 1 (https://h/x?key=***)")) {
		t.Errorf("what tells addresses apart in hawser.lock does not in records: %s, %s", edge.Title("1"), stable.Title("1"))
	}
}

// A range is resolved once, whoever asks for it at the same time; the version that was found is fetched by digest.
func TestOncePerRun(t *testing.T) {
	r, reg := newResolver(nil)
	var wg sync.WaitGroup
	for i := range 50 {
		wg.Go(func() {
			u, err := r.Get(t.Context(), ranged(fmt.Sprint("i", i)))
			if err != nil || u.Resolved.Version != "1.5.0" || u.State != Fresh {
				t.Errorf("got %+v, %v", u, err)
			}
		})
	}
	wg.Wait()
	if reg.resolves.Load() != 1 || reg.fetches.Load() != 1 {
		t.Errorf("%d resolves, %d fetches, want one of each", reg.resolves.Load(), reg.fetches.Load())
	}
	if used := r.Used(); len(used) != 1 || used[0].Pin() != (lockfile.Pin{Version: "1.5.0", Digest: "sha256:1.5.0"}) {
		t.Errorf("used %+v", used)
	}
}

// A run that was cancelled does not answer for the next one.
func TestCancelledIsNotKept(t *testing.T) {
	r, reg := newResolver(nil)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := r.Get(ctx, ranged("a")); err == nil || len(r.Used()) != 0 {
		t.Errorf("%v, used %v", err, r.Used())
	}
	if u, err := r.Get(t.Context(), ranged("b")); err != nil || u.Resolved.Version != "1.5.0" || reg.resolves.Load() != 2 {
		t.Errorf("%+v %v", u, err)
	}
}

// What hawser.lock pins is used without resolving anything, unless it is to be upgraded; a digest in the bundle wins.
func TestPins(t *testing.T) {
	pins := map[string]lockfile.Pin{"oci://r/db 1.x": {Version: "1.4.2", Digest: "sha256:1.4.2"}}
	given := ranged("given")
	given.Module.Digest = "sha256:0"
	for name, c := range map[string]struct {
		in       v1alpha1.Instance
		upgrade  bool
		locked   bool
		digest   string
		state    State
		resolves int32
	}{
		"pinned":            {in: ranged("a"), digest: "sha256:1.4.2", state: Pinned},
		"pinned and locked": {in: ranged("a"), locked: true, digest: "sha256:1.4.2", state: Pinned},
		"upgraded":          {in: ranged("a"), upgrade: true, digest: "sha256:1.5.0", state: Fresh, resolves: 1},
		"given":             {in: given, digest: "sha256:0", state: Given},
	} {
		t.Run(name, func(t *testing.T) {
			r, reg := newResolver(pins)
			r.Locked = c.locked
			if c.upgrade {
				r.Upgrade = func(Source) bool { return true }
			}
			u, err := r.Get(t.Context(), c.in)
			if err != nil || u.Resolved.Digest != c.digest || u.State != c.state {
				t.Errorf("got %s %s, %v; want %s %s", u.Resolved.Digest, u.State, err, c.digest, c.state)
			}
			if ref := reg.asked[len(reg.asked)-1]; ref.Kept != (c.state != Given) {
				t.Errorf("fetched as %+v: only a digest of the bundle has to be what its version means", ref)
			}
			if got := reg.resolves.Load(); got != c.resolves {
				t.Errorf("%d resolves, want %d", got, c.resolves)
			}
		})
	}
}

// With --locked nobody is asked for what is not pinned, and the finding stands where the bundle says the source.
func TestLockedAsksNobody(t *testing.T) {
	r, reg := newResolver(nil)
	r.Locked = true
	for _, name := range []string{"a", "b"} {
		_, err := r.Get(t.Context(), ranged(name))
		fs := diag.From(err, "")
		if len(fs) != 1 || fs[0].Code != CodeStale || fs[0].Pos.Line != 7 || fs[0].Fix == "" {
			t.Errorf("%s: %v", name, fs)
		}
	}
	if reg.resolves.Load()+reg.fetches.Load() != 0 {
		t.Error("the registry was asked")
	}
	if used := r.Used(); len(used) != 0 {
		t.Errorf("used %v", used)
	}
}

// An error names every instance that needs the source.
func TestErrorsHaveTheirInstance(t *testing.T) {
	r, _ := newResolver(nil)
	for _, name := range []string{"a", "b"} {
		in := v1alpha1.Instance{Name: name, Module: &v1alpha1.ModuleSource{URL: "oci://r/down"}, Pos: v1alpha1.Position{File: name + ".yaml", Line: 1}}
		_, err := r.Get(t.Context(), in)
		if fs := diag.From(err, ""); len(fs) != 1 || fs[0].Instance != name || fs[0].Pos.File != name+".yaml" {
			t.Errorf("%s: %+v", name, fs)
		}
	}
	if _, err := r.Get(t.Context(), v1alpha1.Instance{Name: "ftp", Module: &v1alpha1.ModuleSource{URL: "ftp://x/y"}}); err == nil {
		t.Error("nobody fetches ftp")
	}
	if _, err := r.Get(t.Context(), v1alpha1.Instance{Name: "none"}); err == nil {
		t.Error("no source is an error")
	}
}

func TestCheck(t *testing.T) {
	local := Use{Source: Source{Kind: "module", Name: "file://./web", Ref: module.Reference{URL: "file://./web"}}, Resolved: module.Resolved{Digest: "d1"}, State: Fresh}
	remote := Use{Source: Source{Kind: "module", Name: "oci://r/db", Want: "1.x", Ref: module.Reference{URL: "oci://r/db"}}, Resolved: module.Resolved{Version: "1.5.0", Digest: "d2"}, State: Fresh}
	given := remote
	given.State = Given
	pin := func(key, digest string) map[string]lockfile.Pin {
		return map[string]lockfile.Pin{key: {Digest: digest}}
	}
	for name, c := range map[string]struct {
		pins   map[string]lockfile.Pin
		used   []Use
		locked bool
		want   []string // severity code
	}{
		"nothing":                        {},
		"local, no pins":                 {used: []Use{local}},
		"local, no pins, locked":         {used: []Use{local}, locked: true},
		"local, a bundle beside pinned":  {used: []Use{local}, locked: true, pins: pin("other", "x")},
		"local, its others pinned":       {used: []Use{local, remote}, locked: true, pins: pin("oci://r/db 1.x", "d2"), want: []string{"error stale-lock"}},
		"local, as pinned, locked":       {used: []Use{local}, locked: true, pins: pin("file://./web", "d1")},
		"local, changed":                 {used: []Use{local}, pins: pin("file://./web", "old"), want: []string{"warning stale-lock"}},
		"local, changed, locked":         {used: []Use{local}, locked: true, pins: pin("file://./web", "old"), want: []string{"error stale-lock"}},
		"remote, no pins: said once":     {used: []Use{remote, remote}, want: []string{"warning not-pinned"}},
		"remote, no pins, locked":        {used: []Use{remote}, locked: true, want: []string{"error stale-lock"}},
		"remote, as pinned, locked":      {used: []Use{remote}, locked: true, pins: pin("oci://r/db 1.x", "d2")},
		"digest in the bundle, locked":   {used: []Use{given}, locked: true},
		"digest in the bundle, unlike":   {used: []Use{given}, pins: pin("oci://r/db 1.x", "d3"), want: []string{"warning stale-lock"}},
		"another range than was pinned":  {used: []Use{remote}, pins: pin("oci://r/db 2.x", "d2"), want: []string{"warning not-pinned"}},
		"another range, locked":          {used: []Use{remote}, locked: true, pins: pin("oci://r/db 2.x", "d2"), want: []string{"error stale-lock"}},
		"local and remote, both missing": {used: []Use{local, remote}, locked: true, want: []string{"error stale-lock"}},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, f := range Check(c.pins, c.used, c.locked) {
				got = append(got, string(f.Severity)+" "+f.Code)
				if f.Fix == "" {
					t.Errorf("%s says no way out", f.What)
				}
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestKeysOf(t *testing.T) {
	in := func(path string) v1alpha1.Instance {
		return v1alpha1.Instance{Kustomize: &v1alpha1.KustomizeSource{Path: path}}
	}
	specs := []v1alpha1.BundleSpec{{Name: "a", Instances: []v1alpha1.Instance{in("./x"), in("./y")}}, {Name: "b"}, {Name: "a", Instances: []v1alpha1.Instance{in("./z")}}}
	want := map[string][]string{"a": {"kustomize ./x", "kustomize ./y", "kustomize ./z"}, "b": nil}
	if diff := cmp.Diff(want, KeysOf(specs)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got := len(Instances(specs)); got != 3 {
		t.Errorf("%d instances, want 3", got)
	}
}

func TestCompare(t *testing.T) {
	pins := map[string]lockfile.Pin{
		"oci://r/db 1.x":   {Version: "1.4.2", Digest: "sha256:1.4.2"},
		"oci://r/now 1.x":  {Version: "1.5.0", Digest: "sha256:1.5.0"},
		"oci://r/tag main": {Version: "main", Digest: "sha256:old"},
	}
	for name, c := range map[string]struct {
		url, version string
		want         Verdict
	}{
		"behind":     {"oci://r/db", "1.x", Behind},
		"beyond":     {"oci://r/now", "1.x", Beyond},
		"tag":        {"oci://r/tag", "main", Moved},
		"not pinned": {"oci://r/new", "1.x", Loose},
		"down":       {"oci://r/down", "1.x", Unknown},
	} {
		t.Run(name, func(t *testing.T) {
			r, _ := newResolver(pins)
			s, _ := Of(v1alpha1.Instance{Module: &v1alpha1.ModuleSource{URL: c.url, Version: c.version}})
			if row := r.Compare(t.Context(), s); row.Verdict != c.want || (row.Err != nil) != (c.want == Unknown) {
				t.Errorf("got %q, %v; want %q", row.Verdict, row.Err, c.want)
			}
		})
	}
	r, reg := newResolver(nil)
	r.Fetchers["https"] = reg
	page, _ := Of(v1alpha1.Instance{Manifests: &v1alpha1.ManifestsSource{URL: "https://h/page.yaml", Digest: "sha256:1.5.0"}})
	if row := r.Compare(t.Context(), page); row.Verdict != Current || row.Overall.Digest != "" || reg.resolved.Digest != "sha256:1.5.0" {
		t.Errorf("a file by its URL: %+v, asked for %+v", row, reg.resolved)
	}
	if newer("2.0.0-rc.1", "2.0.0") || newer("main", "1.0.0") || !newer("1.10.0", "1.9.0") {
		t.Error("versions are compared as semantic ones")
	}
}

// TestLocalPins: what a local chart says its version is gets pinned with it; other local content has none.
func TestLocalPins(t *testing.T) {
	for version, want := range map[string]string{"1.2.3": "1.2.3", module.LocalVersion: ""} {
		u := Use{Source: Source{Kind: "helm", Name: "./charts/api", Ref: module.Reference{URL: "chart+file://./charts/api"}},
			Resolved: module.Resolved{Version: version, Digest: "sha256:1"}}
		if got := u.Pin(); got != (lockfile.Pin{Version: want, Digest: "sha256:1"}) {
			t.Errorf("%s: pinned %+v", version, got)
		}
	}
}

// TestCompareFiles: manifests and kustomizations on this machine are compared with their pins too.
func TestCompareFiles(t *testing.T) {
	in := v1alpha1.Instance{Name: "a", Kustomize: &v1alpha1.KustomizeSource{Path: "./overlay"}}
	s, _ := Of(in)
	for name, c := range map[string]struct {
		pin  string
		err  error
		want Verdict
	}{"nothing pinned": {"", nil, Loose}, "as pinned": {"sha256:1", nil, Current}, "changed": {"sha256:2", nil, Edited},
		"remote": {"sha256:1", errors.New("https://x would have to be fetched"), Unknown}} {
		r := &Resolver{Pins: map[string]lockfile.Pin{s.Key(): {Digest: c.pin}},
			Digest: func(context.Context, v1alpha1.Instance, module.Reading) (string, error) { return "sha256:1", c.err }}
		if row := r.CompareFiles(t.Context(), in); row.Verdict != c.want || !errors.Is(row.Err, c.err) {
			t.Errorf("%s: %+v", name, row)
		}
	}
}

// TestPaths: what an instance is made of on this machine; nothing for what is fetched.
func TestPaths(t *testing.T) {
	for name, c := range map[string]struct {
		in   v1alpha1.Instance
		want string
	}{
		"manifests":           {v1alpha1.Instance{Manifests: &v1alpha1.ManifestsSource{Paths: []string{"a.yaml", "/b"}, Dir: "d"}}, "d/a.yaml /b"},
		"manifests by URL":    {v1alpha1.Instance{Manifests: &v1alpha1.ManifestsSource{URL: "https://example.com/a.yaml", Dir: "d"}}, ""},
		"a kustomization":     {v1alpha1.Instance{Kustomize: &v1alpha1.KustomizeSource{Path: "../base", Dir: "d/e"}}, "d/base"},
		"a chart":             {v1alpha1.Instance{Helm: &v1alpha1.HelmSource{Chart: "./api", Dir: "d"}}, "d/api"},
		"a chart's file URL":  {v1alpha1.Instance{Helm: &v1alpha1.HelmSource{Chart: "file://api", Dir: "d"}}, "d/api"},
		"a chart of a repo":   {v1alpha1.Instance{Helm: &v1alpha1.HelmSource{Chart: "api", Repo: "https://example.com", Dir: "d"}}, ""},
		"a module":            {v1alpha1.Instance{Module: &v1alpha1.ModuleSource{URL: "file://modules/web", Dir: "d"}}, "d/modules/web"},
		"a registry's module": {v1alpha1.Instance{Module: &v1alpha1.ModuleSource{URL: "oci://example.com/web", Dir: "d"}}, ""},
		"nothing":             {v1alpha1.Instance{}, ""},
	} {
		if got := strings.Join(Paths(c.in), " "); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

package signature

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"hawser.dev/hawser/api/v1alpha1"
	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/module"
)

func TestPlaces(t *testing.T) {
	for url, want := range map[string]string{
		"oci://registry.example.com/modules/web":      "registry.example.com/modules/web",
		"oci://Registry.Example.com:443/modules/web":  "registry.example.com/modules/web",
		"oci://registry.example.com./modules/web":     "registry.example.com/modules/web",
		"oci://registry.example.com:5000/modules/web": "registry.example.com:5000/modules/web",
		"oci://index.docker.io/library/web":           "docker.io/library/web",
		"oci://registry-1.docker.io:0443/a/web":       "docker.io/a/web",
		"oci://registry.example.com.:05000/web":       "registry.example.com:5000/web",
		"oci://registry.example.com/web:1.0.0":        "registry.example.com/web",
		"oci://registry.example.com/web@sha256:ab":    "registry.example.com/web",
		"https://example.com/a/../b/%63rd.yaml?x=1":   "example.com/b/crd.yaml",
		"http://example.com:80/a":                     "example.com/a",
		"chart+https://charts.example.com/stable":     "charts.example.com/stable/web",
		"file://./web":       "",
		"chart+file://./web": "",
		"./web":              "",
	} {
		ref := module.Reference{URL: url}
		if strings.HasPrefix(url, "chart+https") {
			ref.Chart = "web"
		}
		got, elsewhere := Place(ref)
		if elsewhere != (want != "") || elsewhere && got != want {
			t.Errorf("%s: %s %t, want %s", url, got, elsewhere, want)
		}
	}
}

func TestPatterns(t *testing.T) {
	for _, c := range []struct {
		pattern, place string
		want           bool
	}{
		{"registry.example.com/modules/*", "registry.example.com/modules/web", true},
		{"registry.example.com/modules/*", "registry.example.com/modules/a/web", false},
		{"registry.example.com/modules/**", "registry.example.com/modules/a/web", true},
		{"registry.example.com/modules/**", "registry.example.com/modules", false},
		{"registry.example.com/**", "registry.example.com.evil.test/x", false},
		{"registry.example.com/**", "evil.test/registry.example.com/x", false},
		{"Registry.Example.com:443/web", "registry.example.com/web", true},
		{"*.example.com/web", "a.example.com/web", true},
		{"*.example.com/web", "a/b.example.com/web", false},
		{"registry.example.com/we", "registry.example.com/web", false},
		{"registry-example.com/w.b", "registry-example.com/web", false},
		{"**", "any.test/thing", true},
	} {
		p := &Policy{Rules: []Rule{{sources: []*regexp.Regexp{compile(c.pattern)}}}}
		if got := len(p.For(module.Reference{URL: "oci://" + c.place})) > 0; got != c.want {
			t.Errorf("%s on %s: %t", c.pattern, c.place, got)
		}
	}
}

// However a rule and a reference write one place, the rule holds; and an exception, too.
func TestOnePlaceInEverySpelling(t *testing.T) {
	for url, patterns := range map[string][]string{
		"oci://ghcr.test/a/web": {"ghcr.test", "GHCR.test", "ghcr.test.", "ghcr.test:443", "ghcr.test:*", "*.test", "*", "**", "ghcr.**", "GHCR.**", "**.test",
			"ghcr.test/**", "ghcr.test:443/a/*", "ghcr.test./a/web", "ghcr.test.:443/a/web"},
		"oci://GHCR.test:443/a/web:1.0":     {"ghcr.test", "ghcr.test/a/web", "ghcr.test:443/a/web"},
		"oci://ghcr.test:0443/a/web":        {"ghcr.test", "ghcr.test:443/**"},
		"oci://ghcr.test:5000/a/web":        {"ghcr.test:5000", "Ghcr.Test:5000/**", "ghcr.test:*/a/web", "ghcr.test*/a/web"},
		"oci://docker.io/library/web":       {"docker.io", "index.docker.io", "registry-1.docker.io/**", "Index.Docker.io:443/library/*", "docker.io/web", "docker.io/*", "*.docker.io/**"},
		"oci://docker.io/web":               {"docker.io/library/web", "index.docker.io/library/**", "registry-1.docker.io:443/web"},
		"oci://registry-1.docker.io/a/web":  {"docker.io/a/*", "index.docker.io/a/web", "registry-1.docker.io"},
		"https://files.test":                {"files.test", "files.test/**", "files.test:443"},
		"http://files.test:80/x":            {"files.test", "files.test:80", "files.test:80/x"},
		"http://files.test:443/x":           {"files.test:443/x"},
		"https://files.test/Some/Path.yaml": {"Files.test/Some/*", "**.yaml", "files.test/**"},
		"chart+http://files.test/stable":    {"files.test:80/stable", "files.test"},
	} {
		for _, pattern := range patterns {
			if problem := v1alpha1.CheckPlace(pattern); problem != "" {
				t.Errorf("%s: %s", pattern, problem)
			}
			for _, except := range []bool{false, true} {
				by := v1alpha1.SignatureRule{Sources: []string{pattern}}
				if except {
					by = v1alpha1.SignatureRule{Sources: []string{"**"}, Except: []string{pattern}}
				}
				p, err := New(&v1alpha1.Signatures{Required: []v1alpha1.SignatureRule{by}})
				if err != nil {
					t.Fatal(err)
				}
				if got := len(p.For(module.Reference{URL: url})) > 0; got == except {
					t.Errorf("%s on %s, except %t: it holds: %t", pattern, url, except, got)
				}
			}
		}
	}
	for pattern, url := range map[string]string{
		"docker.io":             "oci://notdocker.io/a/web",
		"docker.io/web":         "oci://docker.io/a/web",
		"docker.io/library/**":  "oci://docker.io/a/web",
		"ghcr.test":             "oci://ghcr.test:5000/a/web",
		"ghcr.test:5000":        "oci://ghcr.test/a/web",
		"ghcr.test:80":          "oci://ghcr.test/a/web",
		"*.test/a":              "oci://ghcr.test/a/web",
		"library/web":           "oci://docker.io/library/web",
		"files.test/some/*":     "https://files.test/Some/Path.yaml",
		"registry.**":           "oci://registry-of-eve.test/web",
		"ghcr.test/library/web": "oci://ghcr.test/web",
	} {
		p := &Policy{Rules: []Rule{{sources: []*regexp.Regexp{compile(pattern)}}}}
		if len(p.For(module.Reference{URL: url})) > 0 {
			t.Errorf("%s means %s", pattern, url)
		}
	}
	for _, pattern := range []string{"", "oci://ghcr.test/web", "ghcr.test/", "ghcr.test//web", "/web", "ghcr.test/./web", "ghcr.test/a/../web", "ghcr.test/..", "ghcr.test/web:1.0", "ghcr.test/web@sha256:ab", "ghcr.test/we?"} {
		if v1alpha1.CheckPlace(pattern) == "" {
			t.Errorf("%q matches nothing, and is taken", pattern)
		}
	}
}

// registry is a store of signatures, a verifier that believes what they say, and a fetcher.
type registry struct {
	sigs    map[string][]string // by digest: who signed
	err     error
	asked   int
	looked  int
	roots   int   // how often the root was asked for
	more    error // what is said after the signatures
	fetched []module.Reference
}

func (r *registry) Signatures(_ context.Context, _, digest string, look func(module.Signature) bool) error {
	if r.asked++; r.err != nil {
		return r.err
	}
	for _, who := range r.sigs[digest] {
		s := module.Signature{Bundle: []byte(who + " " + digest)}
		if why, broken := strings.CutPrefix(who, "broken: "); broken {
			s = module.Signature{Broken: why}
		}
		if r.looked++; look(s) {
			return nil
		}
	}
	return r.more
}
func (r *registry) Attach(context.Context, string, string, []byte) error { return nil }

func (r *registry) Verify(_ context.Context, s module.Signature, digest string, by Signer, root Root) error {
	if strings.HasPrefix(string(s.Bundle), "panics") {
		panic("a text that nobody may see")
	}
	if by.Identity == "unreachable" {
		r.roots++
		return diag.Findings{diag.Errorf("signature-root", "the root cannot be had")}.Err()
	}
	if string(s.Bundle) != by.Identity+string(by.Key)+" "+digest+string(root.JSON) {
		return errors.New("not by them")
	}
	return nil
}
func (r *registry) Claims(s module.Signature) string {
	return "a signature of " + strings.Fields(string(s.Bundle))[0]
}

func (r *registry) Schemes() []string { return []string{"oci"} }
func (r *registry) Resolve(_ context.Context, ref module.Reference) (module.Resolved, error) {
	return module.Resolved{Version: "1.0.0", Digest: "sha256:now"}, nil
}
func (r *registry) Fetch(_ context.Context, ref module.Reference) (module.Content, error) {
	r.fetched = append(r.fetched, ref)
	return module.Content{Digest: ref.Digest}, nil
}

type notes map[string][]byte

func (n notes) Note(key string) ([]byte, bool)   { d, ok := n[key]; return d, ok }
func (n notes) KeepNote(key string, data []byte) { n[key] = data }

func fleetOf(rules ...v1alpha1.SignatureRule) *v1alpha1.FleetSpec {
	return &v1alpha1.FleetSpec{Signatures: &v1alpha1.Signatures{Required: rules}}
}

func rule(source string, by ...string) v1alpha1.SignatureRule {
	r := v1alpha1.SignatureRule{Sources: []string{source}, Except: []string{"reg.test/dev/**"}, Pos: v1alpha1.Position{File: "fleet.yaml", Line: 7, Column: 3}}
	for _, who := range by {
		r.By = append(r.By, v1alpha1.SignedBy{Identity: who, Issuer: "i"})
	}
	return r
}

// The policy decides per place; what it wants is verified by digest before anything is fetched.
func TestGuard(t *testing.T) {
	for name, c := range map[string]struct {
		rules []v1alpha1.SignatureRule
		ref   module.Reference
		want  []string // texts of the error; none = it is fetched
	}{
		"signed":         {[]v1alpha1.SignatureRule{rule("reg.test/**", "ada")}, module.Reference{URL: "oci://reg.test/web", Digest: "sha256:a"}, nil},
		"one is enough":  {[]v1alpha1.SignatureRule{rule("reg.test/**", "eve", "ada")}, module.Reference{URL: "oci://reg.test/web", Digest: "sha256:a"}, nil},
		"by no digest":   {[]v1alpha1.SignatureRule{rule("reg.test/**", "ada")}, module.Reference{URL: "oci://reg.test/web", Version: "1.x"}, nil},
		"not meant":      {[]v1alpha1.SignatureRule{rule("reg.test/x/**", "ada")}, module.Reference{URL: "oci://reg.test/web", Digest: "sha256:none"}, nil},
		"left out":       {[]v1alpha1.SignatureRule{rule("**", "ada")}, module.Reference{URL: "oci://reg.test/dev/web", Digest: "sha256:none"}, nil},
		"local":          {[]v1alpha1.SignatureRule{rule("**", "ada")}, module.Reference{URL: "file://./web"}, nil},
		"local chart":    {[]v1alpha1.SignatureRule{rule("**", "ada")}, module.Reference{URL: "chart+file://./web"}, nil},
		"every rule":     {[]v1alpha1.SignatureRule{rule("reg.test/**", "ada"), rule("**", "bob")}, module.Reference{URL: "oci://reg.test/web", Digest: "sha256:a"}, []string{"fleet.yaml:7:3 wants a signature of bob issued by i; found a signature of ada: not by them"}},
		"by another":     {[]v1alpha1.SignatureRule{rule("reg.test/**", "eve")}, module.Reference{URL: "oci://REG.test/web", Version: "1.2.0", Digest: "sha256:a"}, []string{"oci://REG.test/web 1.2.0 (sha256:a) is not signed by who has to sign it", "a signature of eve issued by i", "found a signature of ada"}},
		"not signed":     {[]v1alpha1.SignatureRule{rule("reg.test/**", "ada")}, module.Reference{URL: "oci://reg.test/web", Digest: "sha256:none"}, []string{"oci://reg.test/web (sha256:none) is not signed", "it has no signature"}},
		"of the web":     {[]v1alpha1.SignatureRule{rule("**", "ada")}, module.Reference{URL: "https://web.test/crds.yaml", Digest: "sha256:a"}, []string{"web.test/crds.yaml must be signed, and what comes from there cannot be"}},
		"a chart's repo": {[]v1alpha1.SignatureRule{rule("charts.test/stable/web", "ada")}, module.Reference{URL: "chart+https://charts.test/stable", Chart: "web"}, []string{"charts.test/stable/web must be signed"}},
	} {
		t.Run(name, func(t *testing.T) {
			r := &registry{sigs: map[string][]string{"sha256:a": {"ada"}, "sha256:now": {"ada"}}}
			fetchers := map[string]module.Fetcher{"oci": r}
			got := (&Checker{Store: r, Verifier: r}).Guard(fleetOf(c.rules...), fetchers)["oci"]
			content, err := got.Fetch(t.Context(), c.ref)
			for _, want := range c.want {
				if err == nil || !strings.Contains(err.Error(), want) {
					t.Errorf("%v, want %q", err, want)
				}
			}
			if fetched := len(r.fetched) > 0; fetched == (len(c.want) > 0) || len(c.want) == 0 && err != nil {
				t.Errorf("fetched %t, error %v", fetched, err)
			}
			if c.ref.Digest == "" && name == "by no digest" && (content.Digest != "sha256:now" || !r.fetched[0].Kept) {
				t.Errorf("fetched %+v, verified was sha256:now", r.fetched)
			}
		})
	}
}

// Without a policy nothing changes; with one that cannot be read or checked, nothing from elsewhere passes.
func TestGuardFailsClosed(t *testing.T) {
	r := &registry{sigs: map[string][]string{"sha256:a": {"ada"}}}
	fetchers := map[string]module.Fetcher{"oci": r}
	var none *Checker
	if got := none.Guard(nil, fetchers)["oci"]; got != module.Fetcher(r) {
		t.Error("no fleet: another fetcher")
	}
	if got := none.Guard(&v1alpha1.FleetSpec{}, fetchers)["oci"]; got != module.Fetcher(r) {
		t.Error("no policy: another fetcher")
	}
	ref := module.Reference{URL: "oci://reg.test/web", Digest: "sha256:a"}
	noKey := rule("other.test/**")
	noKey.By = []v1alpha1.SignedBy{{Key: "missing.pub", Dir: t.TempDir(), Pos: v1alpha1.Position{File: "fleet.yaml", Line: 9}}}
	noRoot := fleetOf(rule("other.test/**", "ada"))
	noRoot.Signatures.TrustedRoot = "missing.json"
	for want, fleet := range map[string]*v1alpha1.FleetSpec{
		"this build cannot verify signatures":          fleetOf(rule("**", "ada")),
		"the public key missing.pub cannot be read":    fleetOf(noKey),
		"the trusted root missing.json cannot be read": noRoot,
	} {
		if _, err := none.Guard(fleet, fetchers)["oci"].Fetch(t.Context(), ref); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	r.err = errors.New("registry down")
	guarded := (&Checker{Store: r, Verifier: r}).Guard(fleetOf(rule("**", "ada")), fetchers)["oci"]
	if _, err := guarded.Fetch(t.Context(), ref); err == nil || !strings.Contains(err.Error(), "registry down") {
		t.Error(err)
	}
	r.err = nil
	if _, err := guarded.Fetch(t.Context(), ref); err != nil {
		t.Error("once the registry is back:", err)
	}
	if len(r.fetched) != 1 {
		t.Errorf("fetched %v", r.fetched)
	}
}

// A good signature is kept, so that the next run needs no registry; what is kept is verified like any other, and does not
// serve another signer, root or digest.
func TestKeptSignatures(t *testing.T) {
	r := &registry{sigs: map[string][]string{"sha256:a": {"eve", "ada"}}}
	kept := notes{}
	a := Artifact{URL: "oci://reg.test/web", Digest: "sha256:a"}
	check := func(a Artifact, who string, root Root) error {
		return (&Checker{Store: r, Verifier: r, Notes: kept}).Check(t.Context(), a, []Rule{{By: []Signer{{Identity: who, Issuer: "i"}}}}, root)
	}
	if err := check(a, "ada", Root{}); err != nil || r.asked != 1 {
		t.Fatal(err, r.asked)
	}
	r.err = errors.New("down")
	if err := check(a, "ada", Root{}); err != nil || r.asked != 1 {
		t.Error(err, r.asked)
	}
	for name, err := range map[string]error{
		"another signer":     check(a, "eve", Root{}),
		"another root":       check(a, "ada", Root{JSON: []byte("x")}),
		"another digest":     check(Artifact{URL: a.URL, Digest: "sha256:b"}, "ada", Root{}),
		"another repository": check(Artifact{URL: "oci://reg.test/other", Digest: a.Digest}, "ada", Root{}),
	} {
		if err == nil || !strings.Contains(err.Error(), "down") {
			t.Errorf("%s: %v", name, err)
		}
	}
	for key := range kept {
		kept[key] = []byte(`{"0":{"bundle":"ZXZl"}}`) // who can write the cache can write this
	}
	if err := check(a, "ada", Root{}); err == nil {
		t.Error("a signature that was put into the cache passes")
	}
	one := &Checker{Store: r, Verifier: r}
	r.err, r.asked = nil, 0
	for range 3 {
		if err := one.Check(t.Context(), a, []Rule{{By: []Signer{{Identity: "ada", Issuer: "i"}}}}, Root{}); err != nil {
			t.Error(err)
		}
	}
	if r.asked != 1 {
		t.Errorf("asked %d times in one process", r.asked)
	}
}

// Each signature stands for itself: whoever may push one that is broken, makes the verifier panic or is somebody else's keeps nobody from finding
// the good one, and without a good one nothing passes.
func TestOneGoodSignatureIsEnough(t *testing.T) {
	key := Signer{Key: []byte("bob"), Name: "bob.pub"}
	for name, c := range map[string]struct {
		sigs   []string
		by     []Signer
		more   error
		want   []string // texts of the error
		looked int
	}{
		"a broken one":            {[]string{"broken: its blob is gone", "ada"}, []Signer{{Identity: "ada"}}, nil, nil, 2},
		"one that panics":         {[]string{"panics", "ada"}, []Signer{{Identity: "ada"}}, nil, nil, 2},
		"it is the first":         {[]string{"ada", "eve"}, []Signer{{Identity: "ada"}}, errors.New("there are more"), nil, 1},
		"a root that is not had":  {[]string{"eve", "bob"}, []Signer{{Identity: "unreachable"}, key}, nil, nil, 2},
		"none is good":            {[]string{"broken: its blob is gone", "broken: its blob is gone", "eve", "panics"}, []Signer{{Identity: "ada"}}, nil, []string{"is not signed by who has to sign it", "found a signature that cannot be read: its blob is gone; and a signature of eve: not by them; and a signature of panics: it panicked"}, 4},
		"none is good of some":    {[]string{"eve"}, []Signer{{Identity: "ada"}}, errors.New("there are more"), []string{"there are more", "a signature of eve: not by them"}, 1},
		"none, as the root is":    {[]string{"eve", "bob"}, []Signer{{Identity: "unreachable"}, {Identity: "ada"}}, nil, []string{"the root cannot be had"}, 2},
		"a root for everybody":    {[]string{"eve", "bob"}, []Signer{{Identity: "unreachable"}}, nil, []string{"the root cannot be had"}, 1},
		"there may be good ones":  {nil, []Signer{{Identity: "ada"}}, errors.New("the list is broken"), []string{"the list is broken"}, 0},
		"many that are no good":   {[]string{"a", "b", "c", "d", "e", "f", "g", "h", "i", "j"}, []Signer{{Identity: "ada"}}, nil, []string{"a signature of h: not by them; and 2 others"}, 10},
		"nobody's":                {[]string{"eve"}, nil, nil, []string{"is not signed by who has to sign it"}, 1},
		"a broken one by nobody":  {[]string{"broken: x"}, nil, nil, []string{"is not signed by who has to sign it"}, 1},
		"broken, and the good is": {[]string{"broken: x", "broken: y", "bob"}, []Signer{key}, errors.New("there are more"), nil, 3},
	} {
		r := &registry{sigs: map[string][]string{"sha256:a": c.sigs}, more: c.more}
		err := (&Checker{Store: r, Verifier: r}).Check(t.Context(), Artifact{URL: "oci://reg.test/web", Digest: "sha256:a"}, []Rule{{By: c.by}}, Root{})
		if (err == nil) != (c.want == nil) || r.looked != c.looked || r.roots > 1 {
			t.Errorf("%s: %v; looked at %d, asked for the root %d times", name, err, r.looked, r.roots)
		}
		for _, want := range c.want {
			if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "nobody may see") {
				t.Errorf("%s: %v, want %q", name, err, want)
			}
		}
	}
}

func TestReadKey(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"no.pem":     "hello",
		"private":    "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n",
		"cert":       "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n",
		"cosign.pub": "-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, want := range map[string]string{"no.pem": "no PEM", "private": "the public one is wanted", "cert": "holds a certificate", "cosign.pub": "",
		"missing": "no such file", ".": "no file"} {
		_, err := ReadKey(dir, name)
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v, want %q", name, err, want)
		}
	}
	_, err := Read(v1alpha1.SignedBy{Key: filepath.Join(dir, "private"), Pos: v1alpha1.Position{File: "f.yaml", Line: 3}})
	if err == nil || !strings.Contains(err.Error(), "f.yaml:3") || !strings.Contains(err.Error(), "cosign.pub") {
		t.Error(err)
	}
}

// TestKeysStayInTheRepository: a fleet's or bundle's keys and roots are files of its repository, also behind links; whether another
// file is there is not told.
func TestKeysStayInTheRepository(t *testing.T) {
	top := t.TempDir()
	repo := filepath.Join(top, "repo")
	for _, dir := range []string{filepath.Join(repo, ".git"), filepath.Join(repo, "fleets")} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	const key = "-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----\n"
	for _, at := range []string{filepath.Join(top, "cosign.pub"), filepath.Join(repo, "cosign.pub"), filepath.Join(repo, ".git", "config")} {
		if err := os.WriteFile(at, []byte(key), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(filepath.Join(top, "cosign.pub"), filepath.Join(repo, "fleets", "link.pub")); err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(repo, "fleets")
	for name, want := range map[string]string{"../cosign.pub": "", "../../cosign.pub": "outside of", filepath.Join(top, "cosign.pub"): "outside of",
		"../../gone.pub": "outside of", "link.pub": "outside of", "../.git/config": "part of .git"} {
		_, err := ReadKey(dir, name)
		_, rootErr := ReadRoot(dir, name)
		for _, err := range []error{err, rootErr} {
			if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v, want %q", name, err, want)
			}
		}
	}
	if _, err := ReadKey("", filepath.Join(top, "cosign.pub")); err != nil {
		t.Errorf("what a flag names: %v", err)
	}
}

// asking is a store of signatures that answers with an error.
type asking struct {
	answer func() error
}

func (asking) Attach(context.Context, string, string, []byte) error { return nil }

func (a asking) Signatures(context.Context, string, string, func(module.Signature) bool) error {
	return a.answer()
}

// That somebody was interrupted is nobody else's failure, whatever the registry's client calls it: who waited for the same
// check makes it.
func TestInterruptedCheckIsMadeAgain(t *testing.T) {
	in, out := make(chan struct{}), make(chan struct{})
	ended, cancel := context.WithCancel(t.Context())
	asked := 0
	c := &Checker{Verifier: noVerifier{}, Store: asking{answer: func() error {
		if asked++; asked == 1 {
			close(in)
			<-out
			return errors.New("the registry did not answer")
		}
		return errors.New("no signatures")
	}}}
	check := func(ctx context.Context) error {
		return c.Check(ctx, Artifact{URL: "oci://registry.test/a"}, []Rule{{}}, Root{})
	}
	first, second := make(chan error), make(chan error)
	go func() { first <- check(ended) }()
	<-in
	go func() { second <- check(t.Context()) }()
	cancel()
	close(out)
	if err := <-first; err == nil || !strings.Contains(err.Error(), "did not answer") {
		t.Error(err)
	}
	if err := <-second; err == nil || !strings.Contains(err.Error(), "no signatures") || asked != 2 {
		t.Errorf("%v, asked %d times", err, asked)
	}
	// One's own failure is no reason to try again at once, but for who asks later.
	if err := check(t.Context()); err == nil || asked != 3 {
		t.Errorf("asked %d times: %v", asked, err)
	}
}

// noVerifier is never asked.
type noVerifier struct{ Verifier }

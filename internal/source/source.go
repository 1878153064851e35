// Package source says what an instance is made from (a module, a chart, a kustomization, manifests; from a directory, a
// registry, a repository or an address), and resolves it: the pin of hawser.lock, the bundle's own digest, or what is
// there now.
//
// source must not know how anything is fetched or rendered, nor clusters: it asks the sockets it is given.
package source

import (
	"net/url"
	"path"
	"slices"
	"strings"

	"hawser.dev/hawser/api/v1alpha1"
	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/lockfile"
	"hawser.dev/hawser/internal/module"
	"hawser.dev/hawser/internal/redact"
)

// Source is where an instance's objects come from, as the bundle says it. Equal Sources hold the same content.
type Source struct {
	// Kind is the field of the source and the name of its renderer: module, helm, kustomize, manifests.
	Kind string
	// Name is the source as the bundle writes it, without credentials: a URL, a path, a chart's name.
	Name string
	// Repo is the address of a chart's repository, without credentials; "" for everything else.
	Repo string
	// Want is the version, tag or range that is wanted, "" when none is written.
	Want string
	// Ref is what is fetched. Without URL the renderer reads the files below Ref.Dir itself.
	Ref module.Reference
	// Promoted is what it is by a promotion, over what hawser.lock pins for all clusters; zero for nothing.
	Promoted lockfile.Pin
	// OfOthers: what hawser.lock pins by its key was pinned for other bundles, and may be another source.
	OfOthers bool
}

// Of is the source of an instance; ok is false when it has none.
func Of(in v1alpha1.Instance) (s Source, ok bool) {
	s, ok = written(in)
	if !s.Local() && s.Ref.Digest == "" {
		s.Promoted, s.OfOthers = lockfile.Pin(in.Promoted), in.PinOfOthers
	}
	return s, ok
}

// written is the source as the bundle has it.
func written(in v1alpha1.Instance) (s Source, ok bool) {
	switch {
	case in.Module != nil:
		return ofModule(in.Module), true
	case in.Helm != nil:
		return ofChart(in.Helm), true
	case in.Kustomize != nil:
		return Source{Kind: "kustomize", Name: in.Kustomize.Path, Ref: module.Reference{Dir: in.Kustomize.Dir}}, true
	case in.Manifests != nil:
		return ofManifests(in.Manifests), true
	}
	return Source{}, false
}

func ofModule(m *v1alpha1.ModuleSource) Source {
	s := Source{Kind: "module", Name: open(m.URL), Want: m.Version,
		Ref: module.Reference{URL: m.URL, Dir: m.Dir, Version: m.Version, Digest: m.Digest}}
	if s.Want == "" && !s.Local() {
		s.Ref.Version = "latest"
	}
	return s
}

func ofChart(h *v1alpha1.HelmSource) Source {
	s := Source{Kind: "helm", Name: open(h.Chart), Want: h.Version,
		Ref: module.Reference{URL: h.Chart, Dir: h.Dir, Version: h.Version, Digest: h.Digest}}
	switch {
	case h.Repo != "":
		s.Repo = open(h.Repo)
		s.Ref.URL, s.Ref.Chart = module.ChartScheme+h.Repo, h.Chart
	case !strings.Contains(h.Chart, "://"):
		s.Ref.URL = module.ChartScheme + "file://" + h.Chart
	case s.Want == "":
		s.Ref.Version = "*" // the newest stable one
	}
	return s
}

func ofManifests(m *v1alpha1.ManifestsSource) Source {
	if m.URL == "" {
		return Source{Kind: "manifests", Name: strings.Join(m.Paths, " "), Ref: module.Reference{Dir: m.Dir}}
	}
	return Source{Kind: "manifests", Name: open(m.URL), Want: m.Version,
		Ref: module.Reference{URL: m.URL, Dir: m.Dir, Version: m.Version, Digest: m.Digest}}
}

// open is a URL without the user and password it may hold.
func open(text string) string {
	u, err := url.Parse(text)
	if err != nil || u.User == nil {
		return text
	}
	u.User = nil
	return u.String()
}

// Paths are the files and directories of this machine that instances are made of, relative to the directory they are named from with
// that before it; nothing for what is fetched.
func Paths(list ...v1alpha1.Instance) (out []string) {
	for _, in := range list {
		s, ok := Of(in)
		if !ok || !s.Local() {
			continue
		}
		names := []string{strings.TrimPrefix(strings.TrimPrefix(s.Ref.URL, module.ChartScheme), "file://")}
		switch {
		case in.Kustomize != nil:
			names = []string{in.Kustomize.Path}
		case in.Manifests != nil:
			names = in.Manifests.Paths
		}
		for _, name := range names {
			if !path.IsAbs(name) {
				name = path.Join(s.Ref.Dir, name)
			}
			out = append(out, name)
		}
	}
	return out
}

// Scheme is that of the fetcher, "" when the renderer reads the files itself.
func (s Source) Scheme() string {
	scheme, _, _ := strings.Cut(s.Ref.URL, "://")
	return scheme
}

// Local reports whether the content is on this machine: nothing is resolved, the files are what they are.
func (s Source) Local() bool {
	scheme := s.Scheme()
	return scheme == "" || scheme == "file" || scheme == module.ChartScheme+"file"
}

// Key names the source in hawser.lock: as the bundle writes it, with the version it wants. Credentials in an address are masked: the file is for everybody who has the bundle, and a token that was renewed leaves its pin. Beside a digest of the bundle's own no pin counts: it
// tells two such addresses apart.
func (s Source) Key() string {
	key := redact.Credentials(s.clear())
	if s.Ref.Digest != "" && s.Hides() {
		key += " " + s.Ref.Digest
	}
	return key
}

// clear is the key with what authenticates.
func (s Source) clear() string {
	var parts []string
	if s.Kind != "module" {
		parts = append(parts, s.Kind)
	}
	for _, part := range []string{s.Repo, s.Name, s.Want} {
		if part != "" {
			parts = append(parts, part)
		}
	}
	return strings.Join(parts, " ")
}

// Title is the source for people, with the version it is now: "helm api 2.3.1 (https://charts.example.com)". Records keep it, for whoever
// may read them: what authenticates in an address is masked.
func (s Source) Title(version string) string {
	title := s.Kind
	if s.Kind != "manifests" || s.Ref.URL != "" {
		title += " " + s.Name
	}
	if version != "" {
		title += " " + version
	}
	if s.Repo != "" {
		title += " (" + s.Repo + ")"
	}
	return redact.Credentials(title)
}

// Described is a source as records hold it: by its title.
type Described struct {
	// Kind is module, helm, kustomize or manifests; "" when no record says it.
	Kind    string `json:"kind,omitempty"`
	Name    string `json:"name,omitempty"`
	Version string `json:"version,omitempty"`
	// Repository is that of a chart that has its address apart.
	Repository string `json:"repository,omitempty"`
}

// String is the source in words, without its repository: "helm podinfo 6.5.0".
func (d Described) String() string {
	return strings.Join(slices.DeleteFunc([]string{d.Kind, d.Name, d.Version}, func(x string) bool { return x == "" }), " ")
}

// Describe takes a title apart that Title made. Credentials in its addresses are masked: earlier versions kept them in the clear.
func Describe(title string) Described {
	var d Described
	d.Kind, title, _ = strings.Cut(redact.Credentials(title), " ")
	if rest, ok := strings.CutSuffix(title, ")"); ok {
		if at := strings.LastIndex(rest, " ("); at >= 0 {
			title, d.Repository = rest[:at], rest[at+2:]
		}
	}
	if d.Name = title; d.Kind == "kustomize" { // a directory, whose name may have spaces
		return d
	}
	if at := strings.LastIndex(title, " "); at >= 0 {
		d.Name, d.Version = title[:at], title[at+1:]
	}
	return d
}

// Is reports whether a source is the one of a record, but for its version, and for what authenticates in its address.
func (s Source) Is(d Described) bool {
	return s.Kind == d.Kind && redact.Credentials(s.Name) == redact.Credentials(d.Name) && redact.Credentials(s.Repo) == redact.Credentials(d.Repository)
}

// Masked are the titles of a record, without what authenticates in their addresses.
func Masked(titles map[string]string) map[string]string {
	for name, title := range titles {
		titles[name] = redact.Credentials(title)
	}
	return titles
}

// Names are what a user may call the source by: its key, its key without the version, and as the bundle writes it.
func (s Source) Names() []string {
	bare := s
	bare.Want = ""
	return []string{s.Key(), bare.Key(), s.Name}
}

// Position is where the bundle says the source, that of the instance when nothing nearer is known.
func Position(in v1alpha1.Instance) diag.Pos {
	var pos v1alpha1.Position
	switch {
	case in.Module != nil:
		pos = in.Module.Pos
	case in.Helm != nil:
		pos = in.Helm.Pos
	case in.Kustomize != nil:
		pos = in.Kustomize.Pos
	case in.Manifests != nil:
		pos = in.Manifests.Pos
	}
	if pos.File == "" {
		pos = in.Pos
	}
	return diag.Pos(pos)
}

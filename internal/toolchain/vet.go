package toolchain

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/lazyregexp"
	"hawser.dev/hawser/internal/module"
	"hawser.dev/hawser/internal/object"
)

// BuildRequest renders a module.
type BuildRequest struct {
	Module Module
	// Name and Namespace of the instance, "default" when empty.
	Name, Namespace string
	// KubeVersion is the version the objects are for, Package the CUE package ("main" when empty).
	KubeVersion, Package string
	Tags                 []string
	// Files are values files, the later over the earlier; "-" is Stdin.
	Files []string
	Stdin io.Reader
}

// BuildResult is a rendered module.
type BuildResult struct {
	Rendered
	Version, Digest string
}

// Build renders a module with values.
func (t *Tools) Build(ctx context.Context, req BuildRequest) (BuildResult, error) {
	values, err := t.readValues(req.Files, req.Stdin)
	if err != nil {
		return BuildResult{}, err
	}
	content, err := t.fetch(ctx, req.Module)
	if err != nil {
		return BuildResult{}, err
	}
	render := req.render(content)
	render.Values = values
	out, err := t.rendered(ctx, render)
	return BuildResult{Rendered: out, Version: content.Version, Digest: content.Digest}, err
}

// DefaultKubeVersion is what modules are rendered for when nothing else is said.
const DefaultKubeVersion = "1.36.3"

func (req BuildRequest) render(content module.Content) RenderRequest {
	or := func(s, d string) string {
		if s == "" {
			return d
		}
		return s
	}
	return RenderRequest{Content: content, URL: req.Module.url(), Name: or(req.Name, "default"), Namespace: or(req.Namespace, "default"),
		KubeVersion: or(req.KubeVersion, DefaultKubeVersion), Package: or(req.Package, "main"), Tags: req.Tags}
}

func (t *Tools) rendered(ctx context.Context, req RenderRequest) (Rendered, error) {
	if t.Render == nil {
		return Rendered{}, failure("no-renderer", "this build cannot render modules", "")
	}
	return t.Render(ctx, req)
}

// VetRun is one way the module was rendered.
type VetRun struct {
	// Values says which: "values.cue", "debug_values.cue" or the user's files.
	Values  string   `json:"values"`
	Objects []string `json:"objects"`
	Stages  []string `json:"stages"`
}

// VetResult is what was found.
type VetResult struct {
	Module   string        `json:"module"`
	Digest   string        `json:"digest"`
	Runs     []VetRun      `json:"runs"`
	Images   []string      `json:"images"`
	Findings diag.Findings `json:"findings,omitempty"`
}

// debugFile holds the values of a module's own tests; the tag debug puts it in the place of values.cue.
const debugFile = "debug_values.cue"

// Vet checks a module: that it is complete, that its own values and the debug ones (or the user's files) fit its schema,
// that it renders, and that objects and images have names. The result is there also beside an error.
func (t *Tools) Vet(ctx context.Context, req BuildRequest) (VetResult, error) {
	out := VetResult{Module: req.Module.url()}
	values, err := t.readValues(req.Files, req.Stdin)
	if err != nil {
		return out, err
	}
	content, err := t.fetch(ctx, req.Module)
	if err != nil {
		return out, err
	}
	out.Digest = content.Digest
	runs := []struct {
		name string
		tags []string
		own  bool
	}{{"values.cue", nil, true}}
	if slices.Contains(content.Files, debugFile) && !slices.Contains(req.Tags, "debug") {
		runs = append(runs, struct {
			name string
			tags []string
			own  bool
		}{debugFile, []string{"debug"}, true})
	}
	if len(req.Files) > 0 {
		runs = append(runs[:0], struct {
			name string
			tags []string
			own  bool
		}{strings.Join(req.Files, ", "), nil, false})
	}
	images := map[string]bool{}
	for _, run := range runs {
		render := req.render(content)
		render.Tags = append(slices.Clone(req.Tags), run.tags...)
		if !run.own {
			render.Values = values
		}
		got, err := t.rendered(ctx, render)
		if err != nil {
			out.Findings = append(out.Findings, diag.From(err, "render")...)
			continue
		}
		out.Findings = append(out.Findings, got.Findings...)
		r := VetRun{Values: run.name, Stages: got.Stages, Objects: []string{}}
		for _, o := range got.Objects {
			r.Objects = append(r.Objects, o.Ref().Slash())
		}
		out.Runs = append(out.Runs, r)
		out.Findings = append(out.Findings, doubles(got.Objects)...)
		for _, image := range got.Images {
			images[image] = true
		}
	}
	for image := range images {
		out.Images = append(out.Images, image)
	}
	slices.Sort(out.Images)
	out.Findings = append(out.Findings, checkImages(out.Images)...)
	out.Findings = append(out.Findings, complaints(content)...)
	out.Findings = unique(out.Findings)
	return out, out.Findings.Err()
}

// unique drops what two runs found alike.
func unique(fs diag.Findings) diag.Findings {
	for i := range fs {
		fs[i].Instance = "" // there is only one, and nobody chose its name
	}
	return fs.Sorted()
}

// doubles are objects rendered twice.
func doubles(objs []object.Object) (fs diag.Findings) {
	seen := map[object.Ref]bool{}
	for _, o := range objs {
		if seen[o.Ref()] {
			fs = append(fs, diag.Errorf("object-twice", "%s is rendered twice", o.Ref()))
		}
		seen[o.Ref()] = true
	}
	return fs
}

var imageName = lazyregexp.New(`^[a-zA-Z0-9]([-.a-zA-Z0-9]*[a-zA-Z0-9])?(:[0-9]+)?(/[a-z0-9]+((\.|_|__|-+)[a-z0-9]+)*)*$`)
var imageTag = lazyregexp.New(`^[\w][-.\w]{0,127}$`)
var imageDigest = lazyregexp.New(`^sha256:[0-9a-f]{64}$`)

// checkImages says which references a container runtime would refuse, and which may change under the same name.
func checkImages(images []string) (fs diag.Findings) {
	for _, image := range images {
		name, digest, pinned := strings.Cut(image, "@")
		tag := ""
		if i := strings.LastIndexByte(name, ':'); i > strings.LastIndexByte(name, '/') {
			name, tag = name[:i], name[i+1:]
			if !imageTag.MatchString(tag) {
				fs = append(fs, diag.Errorf("image", "image %s has a tag that no registry takes", image))
			}
		}
		if !imageName.MatchString(name) {
			fs = append(fs, diag.Errorf("image", "image %s is not a reference", image))
		}
		switch {
		case pinned && !imageDigest.MatchString(digest):
			fs = append(fs, diag.Errorf("image", "image %s has a digest that is none", image))
		case !pinned && (tag == "" || tag == "latest"):
			f := diag.Warnf("image-moves", "image %s may change under the same name", image)
			f.Fix = "give it a version, or better a digest"
			fs = append(fs, f)
		}
	}
	return fs
}

// complaints are about what a reader of the module misses.
func complaints(content module.Content) (fs diag.Findings) {
	for _, want := range []struct{ file, why string }{
		{"README.md", "module show readme has nothing to show"},
	} {
		if !slices.Contains(content.Files, want.file) {
			f := diag.Warnf("module-file", "the module has no %s", want.file)
			f.Why = want.why
			fs = append(fs, f)
		}
	}
	if len(content.Files) > 0 && !slices.ContainsFunc(content.Files, func(f string) bool { return strings.HasPrefix(f, "templates/") }) {
		fs = append(fs, diag.Warnf("module-file", "the module has no %s", "templates/"))
	}
	return fs
}

// Summary is one line on a run.
func (r VetRun) Summary() string {
	return fmt.Sprintf("%s: %s in %s", r.Values, diag.Counted(len(r.Objects), "object"), diag.Counted(len(r.Stages), "stage"))
}

package toolchain

import (
	"context"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/Masterminds/semver/v3"

	"hawser.dev/hawser/internal/checkout"
	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/module"
	"hawser.dev/hawser/internal/signature"
)

// PushRequest publishes a module.
type PushRequest struct {
	// Dir is the module, or an OCI layout or archive (a .tar) that holds one.
	Dir string
	// URL is oci://REGISTRY/REPOSITORY without tag; Output instead or besides a directory (OCI layout) or a .tar file.
	URL, Output string
	// Version is a semantic version: the tag. Latest says whether the tag latest is set too; nil means unless it is a
	// pre-release.
	Version string
	Latest  *bool
	// Annotations of the manifest, over those that are found out: version, source, revision, created.
	Annotations map[string]string
	// Force lets an existing version change.
	Force bool
	// Sign says how it is signed; nil leaves it unsigned.
	Sign *signature.Sign
}

// PushResult is what was published.
type PushResult struct {
	URL         string            `json:"url"`
	Version     string            `json:"version,omitempty"`
	Digest      string            `json:"digest"`
	Tags        []string          `json:"tags"`
	Unchanged   bool              `json:"unchanged"`
	Annotations map[string]string `json:"annotations,omitempty"`
	// Signed says by whom it was signed now, or earlier; "" when nobody was to sign it.
	Signed   string        `json:"signed,omitempty"`
	Findings diag.Findings `json:"findings,omitempty"`
}

// Push publishes a module under a version that never changes afterwards: the same content again is fine, other content
// is refused without Force. The same directory and annotations have the same digest everywhere.
func (t *Tools) Push(ctx context.Context, req PushRequest) (PushResult, error) {
	v, err := exactVersion(req.Version)
	if err != nil {
		return PushResult{}, err
	}
	r, err := t.registry()
	if err != nil {
		return PushResult{}, err
	}
	opts := module.PushOptions{Tags: []string{req.Version}}
	if req.Latest != nil && *req.Latest || req.Latest == nil && v.Prerelease() == "" {
		opts.Tags = append(opts.Tags, "latest")
	}
	if !req.Force {
		opts.Immutable = []string{req.Version}
	}
	targets, err := req.targets()
	if err != nil {
		return PushResult{}, err
	}
	signing, err := t.signer(ctx, req.Sign, req.URL)
	if err != nil {
		return PushResult{}, err
	}
	if from := packed(req.Dir); from != "" {
		out, err := t.copyTo(ctx, r, from, targets, req, opts)
		return t.signed(ctx, signing, req.URL, out, err)
	}
	artifact, findings, err := t.artifactOf(ctx, req)
	if err != nil {
		return PushResult{Findings: findings}, err
	}
	for _, l := range artifact.Layers {
		credentials := credentialsIn(l.Root, l.Files)
		findings = append(findings, credentialsToo(l.Root, credentials, true)...)
		opts.Private = opts.Private || len(credentials) > 0
	}
	out := PushResult{Version: req.Version, Annotations: artifact.Annotations, Findings: findings}
	for _, to := range targets {
		pushed, err := r.Push(ctx, to, artifact, opts)
		if err != nil {
			return out, err
		}
		out.add(to, pushed)
	}
	return t.signed(ctx, signing, req.URL, out, nil)
}

func (p *PushResult) add(to string, done module.Pushed) {
	if p.URL == "" {
		p.URL, p.Unchanged = to, true
	}
	p.Digest, p.Tags = done.Digest, done.Tags
	p.Unchanged = p.Unchanged && done.Unchanged
}

func (t *Tools) copyTo(ctx context.Context, r module.Registry, from string, targets []string, req PushRequest, opts module.PushOptions) (PushResult, error) {
	if len(req.Annotations) > 0 {
		return PushResult{}, failure("annotations", "an archive is pushed as it is, its annotations cannot be changed", "leave -a out")
	}
	if info, err := os.Stat(req.Dir); err == nil {
		opts.Private = info.Mode().Perm()&0o077 == 0 // as it is
	}
	out := PushResult{Version: req.Version}
	for _, to := range targets {
		pushed, err := r.Copy(ctx, from, to, opts)
		if err != nil {
			return out, err
		}
		out.add(to, pushed)
	}
	return out, nil
}

// packed is the URL of an OCI layout or archive, "" for other paths.
func packed(path string) string {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return ""
	case !info.IsDir():
		return module.SchemeArchive + filepath.ToSlash(path)
	}
	if _, err := os.Stat(filepath.Join(path, "oci-layout")); err == nil {
		return module.SchemeLayout + filepath.ToSlash(path)
	}
	return ""
}

// targets are the URLs to push to.
func (req PushRequest) targets() (out []string, err error) {
	if req.URL != "" {
		if err := repository(req.URL); err != nil {
			return nil, err
		}
		out = append(out, req.URL)
	}
	if req.Output != "" {
		to, err := OutputURL(req.Output, "")
		if err != nil {
			return nil, err
		}
		out = append(out, to)
	}
	if len(out) == 0 {
		return nil, failure("no-target", "there is nowhere to push to", "name oci://REGISTRY/REPOSITORY, or a directory or .tar file with --output")
	}
	return out, nil
}

// OutputURL is the URL of a file or directory to write an artifact to: oci-archive or oci-layout, with "" as its name says.
// What is such a URL already stays one.
func OutputURL(path, format string) (string, error) {
	if strings.HasPrefix(path, module.SchemeArchive) || strings.HasPrefix(path, module.SchemeLayout) {
		return path, nil
	}
	switch {
	case path == "":
		return "", failure("no-target", "there is nowhere to write to", "name a .tar file or a directory with --output")
	case format == "oci-archive", format == "" && strings.HasSuffix(path, ".tar"):
		return module.SchemeArchive + filepath.ToSlash(path), nil
	case format == "oci-layout", format == "":
		return module.SchemeLayout + filepath.ToSlash(path), nil
	}
	return "", failure("format", strconv.Quote(format)+" is not known", "use oci-archive or oci-layout")
}

// repository checks that a URL names a repository alone.
func repository(url string) error {
	rest, ok := strings.CutPrefix(url, module.SchemeOCI)
	host, repo, found := strings.Cut(rest, "/")
	if !ok || host == "" || !found || repo == "" {
		return failure("registry-url", strconv.Quote(url)+" names no repository", "write oci://REGISTRY/REPOSITORY, for example oci://registry.example.com/modules/web")
	}
	if strings.ContainsAny(repo, ":@") {
		return failure("registry-url", strconv.Quote(url)+" has a tag or digest", "leave it out; --version and --tag name it")
	}
	return nil
}

// exactVersion reads a version that can be a tag.
func exactVersion(s string) (*semver.Version, error) {
	v, err := semver.StrictNewVersion(strings.TrimPrefix(s, "v"))
	switch {
	case s == "":
		return nil, failure("version", "the module needs a version", "give one with --version, for example --version 1.0.0")
	case err != nil || strings.HasPrefix(s, "v"):
		return nil, failure("version", strconv.Quote(s)+" is not a semantic version", "write MAJOR.MINOR.PATCH, with -PRERELEASE when it is one")
	case v.Metadata() != "":
		return nil, failure("version", strconv.Quote(s)+" has build metadata, which no tag can hold", "leave out what follows the +")
	}
	return v, nil
}

// artifactOf makes the artifact of a module that renders: what it vendors in a layer of its own, which seldom changes.
func (t *Tools) artifactOf(ctx context.Context, req PushRequest) (module.Artifact, diag.Findings, error) {
	m := Module{Place: req.Dir}
	content, err := t.fetch(ctx, m)
	if err != nil {
		return module.Artifact{}, nil, err
	}
	vet, err := t.Vet(ctx, BuildRequest{Module: m})
	if err != nil {
		return module.Artifact{}, vet.Findings.Warnings(), err
	}
	vendored := func(f string) bool {
		return strings.HasPrefix(f, "cue.mod/gen/") || strings.HasPrefix(f, "cue.mod/pkg/")
	}
	layer := func(of string, keep func(string) bool) module.Layer {
		return module.Layer{MediaType: module.ModuleContentType, Annotations: map[string]string{module.ContentTypeAnnotation: of},
			Root: content.Root, Files: slices.DeleteFunc(slices.Clone(content.Files), func(f string) bool { return !keep(f) })}
	}
	a := module.Artifact{ConfigType: module.ModuleConfigType}
	if l := layer(module.ContentVendor, vendored); len(l.Files) > 0 {
		a.Layers = append(a.Layers, l)
	}
	a.Layers = append(a.Layers, layer(module.ContentModule, func(f string) bool { return !vendored(f) }))
	a.Annotations, err = t.annotations(content.Root, req.Version, req.Annotations)
	if err == nil && len(vet.Images) > 0 && a.Annotations[module.ImagesAnnotation] == "" {
		a.Annotations[module.ImagesAnnotation] = strings.Join(vet.Images, ",")
	}
	return a, vet.Findings.Warnings(), err
}

// annotations of a manifest: what is found out, then what the user says. There is no time unless SOURCE_DATE_EPOCH is
// set, so that the same content has the same digest whenever it is pushed.
func (t *Tools) annotations(dir, version string, said map[string]string) (map[string]string, error) {
	out := map[string]string{}
	put := func(key, value string) {
		if value != "" {
			out[key] = value
		}
	}
	put(module.VersionAnnotation, version)
	git := checkout.Of(dir)
	if !filepath.IsAbs(git.Source) { // a directory of this machine means nothing to who pulls it
		put(module.SourceAnnotation, git.Source)
	}
	put(module.RevisionAnnotation, git.Revision)
	if t.Getenv != nil {
		if epoch := t.Getenv("SOURCE_DATE_EPOCH"); epoch != "" {
			seconds, err := strconv.ParseInt(epoch, 10, 64)
			if err != nil || seconds < 0 {
				return nil, failure("source-date-epoch", "SOURCE_DATE_EPOCH is "+strconv.Quote(epoch), "set it to seconds since 1970, as git log -1 --format=%ct prints them")
			}
			put(module.CreatedAnnotation, time.Unix(seconds, 0).UTC().Format(time.RFC3339))
		}
	}
	maps.Copy(out, said)
	return out, nil
}

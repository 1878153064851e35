package toolchain

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/Masterminds/semver/v3"

	"hawser.dev/hawser/internal/cuegen"
	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/lazyregexp"
	"hawser.dev/hawser/internal/module"
	"hawser.dev/hawser/internal/nofollow"
	"hawser.dev/hawser/internal/rootfs"
)

// VendorResult is what was written below cue.mod/gen of a module.
type VendorResult struct {
	Dir string `json:"dir"`
	// Packages are the import paths that have files now, Written those files that changed.
	Packages []string `json:"packages"`
	Written  int      `json:"written"`
	// Sources are the Go modules used, with their sums.
	Sources  []string      `json:"sources,omitempty"`
	Findings diag.Findings `json:"findings,omitempty"`
}

// VendorCRDs writes CUE for the custom resource definitions in files, "-" (stdin) or https URLs.
func (t *Tools) VendorCRDs(ctx context.Context, dir string, sources []string, stdin io.Reader) (VendorResult, error) {
	if err := isModule(dir); err != nil {
		return VendorResult{}, err
	}
	if len(sources) == 0 {
		return VendorResult{}, failure("no-crd", "there is nothing to read", "name files or https URLs with -f")
	}
	var out VendorResult
	files := map[string]cuegen.File{}
	for _, source := range sources {
		data, err := t.input(ctx, source, stdin)
		if err != nil {
			return VendorResult{}, err
		}
		made, findings := cuegen.FromCRDs(source, data)
		out.Findings = append(out.Findings, findings...)
		if err := findings.Err(); err != nil {
			return out, err
		}
		for _, f := range made {
			files[f.Path] = f
		}
	}
	return out, out.write(dir, slices.Collect(maps.Values(files)))
}

func (t *Tools) input(ctx context.Context, source string, stdin io.Reader) ([]byte, error) {
	if strings.Contains(source, "://") {
		if t.Download == nil || !strings.HasPrefix(source, "https://") {
			return nil, failure("crd-url", strconv.Quote(source)+" cannot be read", "name a file or an https URL")
		}
		if err := t.policy.Unsignable(module.Reference{URL: source}); err != nil {
			return nil, err
		}
		return t.Download(ctx, source)
	}
	return readInput(source, stdin)
}

// isModule checks that a directory is the root of a CUE module.
func isModule(dir string) error {
	info, err := os.Stat(filepath.Join(dir, "cue.mod", "module.cue"))
	if err != nil || !info.Mode().IsRegular() {
		return failure("not-a-module", dir+" has no cue.mod/module.cue", "name the directory of a module; hawser module init makes one")
	}
	return nil
}

// write puts generated files in place; those that are already there with the same text stay untouched.
func (r *VendorResult) write(dir string, files []cuegen.File) error {
	const gen = "cue.mod/gen/"
	r.Dir = filepath.Join(dir, filepath.FromSlash(gen))
	in, err := nofollow.Open(dir)
	if err != nil {
		return err
	}
	defer func() { _ = in.Close() }()
	for _, f := range files {
		if err := in.Check(gen + f.Path); err != nil { // before any is written
			return err
		}
	}
	packages := map[string]bool{}
	for _, f := range files {
		packages[f.Path[:strings.LastIndexByte(f.Path, '/')]] = true
		if old, err := in.Read(gen+f.Path, rootfs.MaxLarge); err == nil && bytes.Equal(old, f.Data) {
			continue
		} else if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		if err := in.Write(gen+f.Path, f.Data, 0o644); err != nil {
			return err
		}
		r.Written++
	}
	r.Packages = slices.Sorted(maps.Keys(packages))
	return nil
}

// KubernetesRequest vendors Kubernetes' own types.
type KubernetesRequest struct {
	// Dir is the module's directory.
	Dir string
	// Version is that of Kubernetes: 1.34 (its newest patch) or 1.34.1.
	Version string
	// Packages are those wanted, for example apps/v1, apps/v1.Deployment or a whole import path; empty for all of the API.
	Packages []string
	// Docs keeps the comments.
	Docs bool
}

const (
	apiModule        = "k8s.io/api"
	machineryModule  = "k8s.io/apimachinery"
	extensionsModule = "k8s.io/apiextensions-apiserver"
	extensionsV1     = extensionsModule + "/pkg/apis/apiextensions/v1"
	apiRoot          = apiModule + "/"
)

var kubernetesVersion = lazyregexp.New(`^v?1\.([0-9]{1,3})(?:\.([0-9]{1,3}))?$`)

// VendorKubernetes writes CUE for Kubernetes' types of a version, from the source of its Go modules.
func (t *Tools) VendorKubernetes(ctx context.Context, req KubernetesRequest) (VendorResult, error) {
	if err := isModule(req.Dir); err != nil {
		return VendorResult{}, err
	}
	if t.GoModules == nil {
		return VendorResult{}, failure("no-go-modules", "this build cannot get the source of Kubernetes", "")
	}
	parts := kubernetesVersion.FindStringSubmatch(req.Version)
	if parts == nil {
		return VendorResult{}, failure("version", strconv.Quote(req.Version)+" is no version of Kubernetes", "write 1.34 for its newest patch, or 1.34.1")
	}
	var out VendorResult
	src := cuegen.Source{}
	want, extensions := packagesOf(req.Packages)
	modules := []string{apiModule, machineryModule}
	if extensions {
		modules = append(modules, extensionsModule)
	}
	version := ""
	for _, mod := range modules {
		got, v, sum, err := t.goSource(ctx, mod, parts[1], parts[2], version)
		if err != nil {
			return out, err
		}
		if mod == apiModule {
			version = v
		}
		maps.Copy(src, got)
		out.Sources = append(out.Sources, mod+" "+v+" "+sum)
	}
	if len(want) == 0 {
		want = everyPackage(src)
	}
	files, findings := cuegen.FromGo(src, cuegen.GoOptions{Origin: "Kubernetes " + version, Packages: want, Keep: vendored(req.Dir), Docs: req.Docs})
	out.Findings = findings
	if err := findings.Err(); err != nil {
		return out, err
	}
	return out, out.write(req.Dir, files)
}

// goSource gets a Go module for a version of Kubernetes: 1.34.1 is v0.34.1, 1.34 its newest patch. The modules beside the
// API itself may lag behind by patches: when they do not have the API's version (same), their newest of the minor is taken.
func (t *Tools) goSource(ctx context.Context, mod, minor, patch, same string) (src cuegen.Source, version, sum string, err error) {
	if err := t.policy.Unsignable(module.Reference{URL: "https://" + mod}); err != nil { // wherever a proxy has it from
		return nil, "", "", err
	}
	if version = same; version == "" && patch != "" {
		version = "v0." + minor + "." + patch
	}
	if version != "" {
		if src, sum, err = t.GoModules.Source(ctx, mod, version); err == nil || mod == apiModule {
			return src, version, sum, err
		}
	}
	if version, err = t.newest(ctx, mod, minor); err != nil {
		return nil, "", "", err
	}
	src, sum, err = t.GoModules.Source(ctx, mod, version)
	return src, version, sum, err
}

func (t *Tools) newest(ctx context.Context, mod, minor string) (string, error) {
	all, err := t.GoModules.Versions(ctx, mod)
	if err != nil {
		return "", err
	}
	var newest *semver.Version
	for _, s := range all {
		v, err := semver.NewVersion(s)
		if err == nil && v.Prerelease() == "" && v.Major() == 0 && strconv.FormatUint(v.Minor(), 10) == minor && (newest == nil || v.GreaterThan(newest)) {
			newest = v
		}
	}
	if newest == nil {
		return "", failure("no-such-version", "there is no released Kubernetes 1."+minor, "")
	}
	return newest.Original(), nil
}

var topDefinition = lazyregexp.New(`(?m)^#([A-Z][A-Za-z0-9]*):`)

// vendored are the types of Kubernetes that a module has already, IMPORTPATH.Type: they are made anew with the others, so
// that a choice adds and never takes away.
func vendored(dir string) (out []string) {
	gen := filepath.Join(dir, "cue.mod", "gen")
	_ = filepath.WalkDir(filepath.Join(gen, "k8s.io"), func(name string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() || !strings.HasSuffix(name, "_go_gen.cue") || len(out) > 100000 {
			return nil // what cannot be read is written anew
		}
		rel, err := filepath.Rel(gen, filepath.Dir(name))
		if err != nil {
			return nil
		}
		for _, m := range topDefinition.FindAllStringSubmatch(small(name), -1) {
			out = append(out, filepath.ToSlash(rel)+"."+m[1])
		}
		return nil
	})
	return out
}

// packagesOf are the import paths of packages as users name them, and whether the extensions module is needed.
func packagesOf(names []string) (out []string, extensions bool) {
	for _, name := range names {
		switch {
		case strings.HasPrefix(name, "apiextensions.k8s.io/v1") || strings.HasPrefix(name, "apiextensions/v1"):
			_, rest, _ := strings.Cut(name, "/v1")
			name = extensionsV1 + rest
		case !strings.HasPrefix(name, "k8s.io/"):
			group, rest, _ := strings.Cut(name, "/")
			group, _, _ = strings.Cut(group, ".")
			name = apiRoot + group + "/" + rest
		}
		extensions = extensions || strings.HasPrefix(name, extensionsModule)
		out = append(out, name)
	}
	return out, extensions || len(names) == 0
}

// everyPackage are the packages of the API: those of its module that hold types, and the definitions of custom resources.
func everyPackage(src cuegen.Source) []string {
	out := []string{}
	for name, files := range src {
		if _, ok := files["types.go"]; ok && (strings.HasPrefix(name, apiRoot) || name == extensionsV1) {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}

// small reads a file of at most 4 MiB, "" when it cannot.
func small(path string) string {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() || info.Size() > 4<<20 {
		return ""
	}
	data, err := rootfs.ReadFile(path, 4<<20)
	if err != nil {
		return ""
	}
	return string(data)
}

// Package toolchain is what a module's author does: begin a module, check it, render it, publish it, look at it, and
// vendor the schemas it imports. The same for artifacts that are no modules.
//
// toolchain must not know flags or printing: it takes requests and gives results. It reads and writes directories it is
// told of; registries, renderers and downloads are sockets.
package toolchain

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"hawser.dev/hawser/api/v1alpha1"
	"hawser.dev/hawser/internal/cuegen"
	"hawser.dev/hawser/internal/cuelang"
	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/module"
	"hawser.dev/hawser/internal/object"
	"hawser.dev/hawser/internal/signature"
)

// Tools holds the sockets the verbs need; a verb whose socket is nil says so.
type Tools struct {
	// Fetchers get modules, by the scheme of their URL ("file", "oci").
	Fetchers map[string]module.Fetcher
	// Registry stores artifacts.
	Registry module.Registry
	// Digests says what URLs mean now.
	Digests module.Digests
	// Logins keeps credentials.
	Logins module.Logins
	// Signatures verifies artifacts, Signers signs them.
	Signatures *signature.Checker
	Signers    signature.Maker
	// Render renders a module.
	Render func(ctx context.Context, req RenderRequest) (Rendered, error)
	// Download gets a file over https.
	Download func(ctx context.Context, url string) ([]byte, error)
	// GoModules gets the source of Go modules.
	GoModules GoModules
	// Getenv reads the environment.
	Getenv func(name string) string
	// Watchdog watches evaluations; nil watches nothing.
	Watchdog *cuelang.Watchdog

	policy *signature.Policy
}

// RenderRequest is what a module is rendered with.
type RenderRequest struct {
	Content module.Content
	// URL is the module's, for messages.
	URL, Name, Namespace string
	// KubeVersion is "1.36.3", Package the CUE package ("main").
	KubeVersion, Package string
	Tags                 []string
	// Values are the user's, nil for none.
	Values v1alpha1.Values
}

// Rendered is what came out.
type Rendered struct {
	Objects        []object.Object
	Images, Stages []string
	Findings       diag.Findings
}

// GoModules is the socket for the source of Go modules.
type GoModules interface {
	// Versions lists the published versions of a module, in no order.
	Versions(ctx context.Context, path string) ([]string, error)
	// Source gets the Go files of a version, without tests and generated code, and the sum of all its files as go.sum
	// has it ("h1:..."). The sum was compared with the one checked earlier or by the checksum database.
	Source(ctx context.Context, path, version string) (src cuegen.Source, sum string, err error)
}

// Module names a module: a directory or a URL of one of the fetchers' schemes.
type Module struct {
	// Place is a directory, file://DIR or oci://REGISTRY/REPOSITORY.
	Place string
	// Version is an exact version, a tag or a range (oci only), Digest what the content must have.
	Version, Digest string
}

// url is the place as a URL.
func (m Module) url() string {
	if strings.Contains(m.Place, "://") {
		return m.Place
	}
	place := m.Place
	if place == "" {
		place = "."
	}
	return "file://" + filepath.ToSlash(place)
}

// fetch gets a module's content.
func (t *Tools) fetch(ctx context.Context, m Module) (module.Content, error) {
	scheme, _, _ := strings.Cut(m.url(), "://")
	if scheme == "file" && m.Version != "" {
		return module.Content{}, failure("module-version", m.Place+" is a directory, which has no versions: "+m.Version, "leave --version out, or name a module in a registry: oci://REGISTRY/REPOSITORY")
	}
	f := t.Fetchers[scheme]
	if f == nil {
		return module.Content{}, failure("module-url", "modules cannot be read from "+scheme+"://", "name a directory or oci://REGISTRY/REPOSITORY")
	}
	ref := module.Reference{URL: m.url(), Version: m.Version, Digest: m.Digest}
	if scheme == "oci" && ref.Digest == "" {
		// A tag is asked for its digest first, so that what is fetched is what is shown.
		r, err := f.Resolve(ctx, ref)
		if err != nil {
			return module.Content{}, err
		}
		ref.Version, ref.Digest = r.Version, r.Digest
	}
	return f.Fetch(ctx, ref)
}

// registry is the socket for artifacts, or an error that there is none.
func (t *Tools) registry() (module.Registry, error) {
	if t.Registry == nil {
		return nil, failure("no-registry", "this build cannot talk to registries", "")
	}
	return t.Registry, nil
}

func failure(code, what, fix string) error {
	f := diag.Errorf(code, "%s", what)
	f.Fix = fix
	return diag.Findings{f}.Err()
}

// newDirectory checks that a directory can be made: it does not exist yet, or is empty and may be replaced.
func newDirectory(dir string) error {
	entries, err := os.ReadDir(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return failure("directory", err.Error(), "name a directory that does not exist yet")
	case len(entries) > 0:
		return failure("directory-not-empty", dir+" is not empty", "name a directory that does not exist yet; nothing is written over")
	}
	return nil
}

// placed makes a directory as a whole: fill writes into one beside it, which takes its place at the end. After an error
// nothing is left.
func placed(dir string, fill func(tmp string) error) (err error) {
	if err := newDirectory(dir); err != nil {
		return err
	}
	dir = filepath.Clean(dir)
	parent, err := written(filepath.Dir(dir))
	if err != nil {
		return err
	}
	abs := filepath.Join(parent, filepath.Base(dir))
	if err := os.MkdirAll(filepath.Dir(abs), 0o755); err != nil {
		return err
	}
	tmp, err := os.MkdirTemp(filepath.Dir(abs), ".hawser-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(tmp)) }()
	made := filepath.Join(tmp, "new")
	if err := fill(made); err != nil {
		return err
	}
	if err := os.Remove(abs); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return os.Rename(made, abs)
}

// writeTree writes files below a directory.
func writeTree(dir string, files map[string][]byte) error {
	names := make([]string, 0, len(files))
	for name := range files {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, files[name], 0o644); err != nil {
			return err
		}
	}
	return nil
}

// readTree reads the named files of a directory.
func readTree(dir string, names []string) (map[string][]byte, error) {
	const most = 64 << 20
	files := make(map[string][]byte, len(names))
	for _, name := range names {
		data, err := cuelang.ReadFile(dir, name, most)
		if err != nil {
			return nil, err
		}
		files[name] = data
	}
	return files, nil
}

// Package dir fetches modules from local directories (file://PATH): it lists and digests every file a loader may
// read, honours timoni.ignore and keeps symbolic links inside the module.
//
// dir must not know how a module is rendered, nor write anything.
package dir

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"hawser.dev/hawser/internal/cuelang"
	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/module"
)

// required are the files without which a directory is no module.
var required = []string{"cue.mod/module.cue", "timoni.cue", "values.cue"}

// Fetcher serves file:// references.
type Fetcher struct{ local module.Local }

var _ module.Fetcher = (*Fetcher)(nil)

// New returns a Fetcher.
func New() *Fetcher {
	return &Fetcher{module.Local{
		Noun: "module", IgnoreFile: module.IgnoreFile,
		Ignore: func(root string) (func(string, fs.FileInfo) bool, error) {
			ig, err := module.ReadIgnore(root)
			return func(rel string, info fs.FileInfo) bool { return ig.Match(rel, info.IsDir()) }, err
		},
		Outside: cuelang.IsVendored,
	}}
}

// Schemes is "file".
func (f *Fetcher) Schemes() []string { return []string{"file"} }

// Resolve says the digest of the directory's content now.
func (f *Fetcher) Resolve(ctx context.Context, ref module.Reference) (module.Resolved, error) {
	ref.Digest = ""
	c, err := f.Fetch(ctx, ref)
	return module.Resolved{Version: c.Version, Digest: c.Digest}, err
}

// Fetch resolves the reference against its Dir (the working directory when empty) and returns the directory's content.
// Errors are *diag.FindingsError: no such directory, a required file missing, a link that leaves the module, a digest
// that differs (both are named).
func (f *Fetcher) Fetch(ctx context.Context, ref module.Reference) (module.Content, error) {
	path, ok := strings.CutPrefix(ref.URL, "file://")
	if !ok || path == "" {
		return module.Content{}, f.local.Failure("url", fmt.Sprintf("%q is not a file:// URL with a path", ref.URL), "")
	}
	root, info, err := f.local.Find(ref, path)
	if err != nil {
		return module.Content{}, err
	}
	if !info.IsDir() {
		return module.Content{}, f.local.Failure("not-found", fmt.Sprintf("module %s: %s is not a directory", ref.URL, path), "")
	}
	c, err := f.local.Content(ctx, root, func(files []string) error { return f.complete(ref, root, files) })
	if err == nil {
		err = f.local.Check(ref, c.Digest)
	}
	if err != nil {
		return module.Content{}, err
	}
	return c, nil
}

func (f *Fetcher) complete(ref module.Reference, root string, files []string) error {
	var missing []string
	for _, name := range required {
		if slices.Contains(files, name) {
			continue
		}
		if _, err := os.Stat(filepath.Join(root, filepath.FromSlash(name))); err == nil {
			name += " (excluded by " + module.IgnoreFile + ")"
		}
		missing = append(missing, name)
	}
	if len(missing) == 0 {
		return nil
	}
	x := diag.Errorf("not-a-module", "module %s has no %s", ref.URL, strings.Join(missing, ", no "))
	x.Fix = "a module's directory holds " + strings.Join(required, ", ")
	return diag.Findings{x}.Err()
}

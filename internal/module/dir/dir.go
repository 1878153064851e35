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
	"strings"
	"sync"

	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/module"
)

// LocalVersion is the version of every module from a directory, whatever the reference says.
const LocalVersion = "0.0.0-devel"

// required are the files without which a directory is no module.
var required = []string{"cue.mod/module.cue", "timoni.cue", "values.cue"}

// Limits of one module directory.
const (
	maxFiles = 20000
	maxBytes = 512 << 20
	maxDepth = 64
)

// Fetcher serves file:// references. It remembers digests by directory and stat signature (path, size and time of
// every file), so that many instances of one module hash it once per process. Its zero value is ready to use.
type Fetcher struct {
	mu    sync.Mutex
	known map[string]known
}

type known struct {
	signature string
	content   module.Content
}

var _ module.Fetcher = (*Fetcher)(nil)

// New returns a Fetcher.
func New() *Fetcher { return &Fetcher{} }

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
	root, err := resolve(ref)
	if err != nil {
		return module.Content{}, err
	}
	files, err := list(ctx, root)
	if err != nil {
		return module.Content{}, err
	}
	if err := complete(ref, root, files); err != nil {
		return module.Content{}, err
	}
	c, err := f.content(ctx, root, files)
	if err != nil {
		return module.Content{}, err
	}
	if ref.Digest != "" && ref.Digest != c.Digest {
		return module.Content{}, failure("digest-mismatch",
			fmt.Sprintf("module %s has digest %s, the bundle wants %s", ref.URL, c.Digest, ref.Digest),
			"the directory was changed: review it, then set the digest it has now or remove the field")
	}
	return c, nil
}

func resolve(ref module.Reference) (string, error) {
	path, ok := strings.CutPrefix(ref.URL, "file://")
	if !ok || path == "" {
		return "", failure("module-url", fmt.Sprintf("%q is not a file:// URL with a path", ref.URL), "")
	}
	path = filepath.FromSlash(path)
	if !filepath.IsAbs(path) {
		path = filepath.Join(ref.Dir, path)
	}
	root, err := filepath.Abs(path)
	if err != nil {
		return "", fmt.Errorf("directory of module %s: %w", ref.URL, err)
	}
	info, err := os.Stat(root)
	switch {
	case os.IsNotExist(err):
		return "", failure("module-not-found", fmt.Sprintf("module %s: there is no directory %s", ref.URL, path),
			"a relative path starts at the directory of the file that holds the url")
	case err != nil:
		return "", failure("module-not-found", fmt.Sprintf("module %s: %v", ref.URL, err), "")
	case !info.IsDir():
		return "", failure("module-not-found", fmt.Sprintf("module %s: %s is not a directory", ref.URL, path), "")
	}
	return root, nil
}

func complete(ref module.Reference, root string, files []file) error {
	have := make(map[string]bool, len(files))
	for _, f := range files {
		have[f.path] = true
	}
	var missing []string
	for _, name := range required {
		if !have[name] {
			if _, err := os.Stat(filepath.Join(root, filepath.FromSlash(name))); err == nil {
				name += " (excluded by " + ignoreFile + ")"
			}
			missing = append(missing, name)
		}
	}
	if len(missing) == 0 {
		return nil
	}
	return failure("not-a-module",
		fmt.Sprintf("module %s has no %s", ref.URL, strings.Join(missing, ", no ")),
		"a module's directory holds "+strings.Join(required, ", "))
}

// content digests the files, or takes what is known when nothing changed since.
func (f *Fetcher) content(ctx context.Context, root string, files []file) (module.Content, error) {
	sig := signature(files)
	f.mu.Lock()
	defer f.mu.Unlock()
	if k, ok := f.known[root]; ok && k.signature == sig {
		return k.content, nil
	}
	digest, err := digest(ctx, files)
	if err != nil {
		return module.Content{}, err
	}
	c := module.Content{Root: root, Digest: digest, Version: LocalVersion, Files: make([]string, 0, len(files))}
	for _, file := range files {
		c.Files = append(c.Files, file.path)
	}
	if f.known == nil {
		f.known = map[string]known{}
	}
	f.known[root] = known{signature: sig, content: c}
	return c, nil
}

func failure(code, what, fix string) error {
	f := diag.Errorf(code, "%s", what)
	f.Fix = fix
	return diag.Findings{f}.Err()
}

func unreadable(path string, err error) error {
	if pe, ok := err.(*fs.PathError); ok {
		err = pe.Err
	}
	return failure("module-unreadable", fmt.Sprintf("%s: %v", path, err), "")
}

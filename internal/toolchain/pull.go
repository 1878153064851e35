package toolchain

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"hawser.dev/hawser/internal/module"
	"hawser.dev/hawser/internal/nofollow"
	"hawser.dev/hawser/internal/outdir"
	"hawser.dev/hawser/internal/rootfs"
)

// PullRequest gets an artifact.
type PullRequest struct {
	// URL is oci://REGISTRY/REPOSITORY, with an optional :TAG or @DIGEST, or a layout's or archive's.
	URL string
	// Version is an exact version, a tag or a range; "" is latest. Digest is what the manifest must have.
	Version, Digest string
	// Dir is the directory to make.
	Dir string
	// ContentType chooses the layers of an artifact, "" all.
	ContentType string
	// Into lets Dir exist already: files are added to it, and none is written over.
	Into bool
	// Verify says who must have signed it; nil asks for nobody beyond the policy.
	Verify *Verify
}

// PullResult is what was got.
type PullResult struct {
	URL         string            `json:"url"`
	Dir         string            `json:"dir"`
	Digest      string            `json:"digest"`
	Annotations map[string]string `json:"annotations,omitempty"`
	Files       []string          `json:"files"`
}

// Pull gets a module into a directory that does not exist yet.
func (t *Tools) Pull(ctx context.Context, req PullRequest) (PullResult, error) {
	out, err := t.pull(ctx, req, func(got module.Pulled) error {
		if got.ConfigType != module.ModuleConfigType {
			return failure("not-a-module", req.URL+" is not a module", "pull it with: hawser artifact pull")
		}
		return nil
	})
	return out, err
}

func (t *Tools) pull(ctx context.Context, req PullRequest, check func(module.Pulled) error) (PullResult, error) {
	r, err := t.registry()
	if err != nil {
		return PullResult{}, err
	}
	url, digest, err := t.pinned(ctx, req)
	if err != nil {
		return PullResult{}, err
	}
	if url, digest, err = t.verified(ctx, url, digest, req.Verify); err != nil {
		return PullResult{}, err
	}
	out := PullResult{URL: url, Dir: filepath.Clean(req.Dir)}
	fill := func(tmp string) error {
		got, err := r.Pull(ctx, url, tmp, module.PullOptions{Digest: digest, ContentType: req.ContentType})
		if err != nil {
			return err
		}
		out.Digest, out.Annotations = got.Digest, got.Annotations
		if out.Files, err = wanted(tmp, got.Files); err != nil {
			return err
		}
		return check(got)
	}
	if req.Into {
		return out, merged(req.Dir, fill)
	}
	return out, placed(req.Dir, fill)
}

// wanted are the files without those that nobody pulls, which are removed: a .git names programs that git runs, and the mark
// of our own directories has their files deleted.
func wanted(dir string, files []string) ([]string, error) {
	out := make([]string, 0, len(files))
	for _, name := range files {
		if !rootfs.InGit(name) && name != outdir.Name {
			out = append(out, name)
			continue
		}
		gone := name
		for rootfs.InGit(path.Dir(gone)) { // with what else lies in it
			gone = path.Dir(gone)
		}
		if err := os.RemoveAll(filepath.Join(dir, filepath.FromSlash(gone))); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// pinned is the URL with what the version means now: a range or a version becomes a digest.
func (t *Tools) pinned(ctx context.Context, req PullRequest) (url, digest string, err error) {
	if req.Version == "" {
		return req.URL, req.Digest, nil
	}
	if !strings.HasPrefix(req.URL, module.SchemeOCI) {
		return req.URL + ":" + req.Version, req.Digest, nil
	}
	if err := repository(req.URL); err != nil {
		return "", "", err
	}
	f := t.Fetchers["oci"]
	if f == nil {
		return req.URL + ":" + req.Version, req.Digest, nil
	}
	found, err := f.Resolve(ctx, module.Reference{URL: req.URL, Version: req.Version})
	if err != nil {
		return "", "", err
	}
	if req.Digest != "" && req.Digest != found.Digest {
		return "", "", failure("digest-mismatch", req.URL+" version "+req.Version+" has digest "+found.Digest+", wanted is "+req.Digest,
			"somebody moved the version, or the digest is of another one")
	}
	return req.URL + "@" + found.Digest, found.Digest, nil
}

// merged adds files to a directory: fill makes them in a directory of their own there, then each takes its place. A file that exists is an
// error before any is moved, and so is a link on the way to one.
func merged(dir string, fill func(tmp string) error) (err error) {
	in, err := nofollow.Open(dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, in.Close()) }()
	made := missing(in.Path())
	defer func() {
		for i := 0; err != nil && i < len(made); i++ {
			_ = os.Remove(made[i]) // unless something is in it
		}
	}()
	if err := os.MkdirAll(in.Path(), 0o755); err != nil {
		return err
	}
	tmp, err := os.MkdirTemp(in.Path(), ".hawser-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(tmp)) }()
	fresh := filepath.Join(tmp, "new")
	if err := fill(fresh); err != nil {
		return err
	}
	names, err := walk(fresh, false, &module.Ignore{})
	if err != nil {
		return err
	}
	secrets, credentials, err := secretsIn(fresh, names)
	if err != nil {
		return err
	}
	secrets = append(secrets, credentials...)
	for _, name := range names {
		switch _, err := in.Lstat(name); {
		case err == nil:
			return failure("file-exists", strconv.Quote(name)+" exists in "+dir, "nothing was written; name another directory")
		case !errors.Is(err, fs.ErrNotExist):
			return err
		}
	}
	for _, name := range names {
		if slices.Contains(secrets, name) {
			if err := os.Chmod(filepath.Join(fresh, filepath.FromSlash(name)), 0o600); err != nil {
				return err
			}
		}
		if err := in.Move(path.Join(filepath.Base(tmp), "new", name), name); err != nil {
			return err
		}
	}
	return nil
}

// written is the directory that one means, links followed; those of a repository that lead out of it are not.
func written(dir string) (string, error) {
	at, err := rootfs.Written(dir)
	if err != nil {
		return "", failure("outside", err.Error(), "nothing was written; name the directory itself")
	}
	return at, nil
}

// given refuses a file or directory to read that a link of a repository leads to, out of it.
func given(name string) error {
	if err := rootfs.Given(name); err != nil {
		return failure("outside", err.Error(), "who wrote the link is not who named it: name what it leads to itself")
	}
	return nil
}

// missing are the directories that have to be made for one, it first.
func missing(dir string) (out []string) {
	for dir = filepath.Clean(dir); ; dir = filepath.Dir(dir) {
		if _, err := os.Lstat(dir); !errors.Is(err, fs.ErrNotExist) {
			return out
		}
		out = append(out, dir)
	}
}

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

	"github.com/Masterminds/semver/v3"

	"hawser.dev/hawser/internal/module"
	"hawser.dev/hawser/internal/outdir"
	"hawser.dev/hawser/internal/rootfs"
	"hawser.dev/hawser/internal/signature"
)

// ArtifactRequest publishes files that are no module.
type ArtifactRequest struct {
	// URL is oci://REGISTRY/REPOSITORY, Output instead or besides a directory (OCI layout) or a .tar file.
	URL, Output string
	// Files are one directory, or files.
	Files []string
	Tags  []string
	// ResolveSymlinks pushes the file that a link leads to, which has to lie in the same directory; else links are refused.
	ResolveSymlinks bool
	// Form is "flux" (the default) or "timoni": whose media types are used. ContentType is Timoni's word for what is in it.
	Form, ContentType string
	Annotations       map[string]string
	// Version in the annotations; "" leaves it out.
	Version string
	// Force lets a version that exists change, IncludeSecrets publishes Secrets in clear.
	Force, IncludeSecrets bool
	// Sign says how it is signed; nil leaves it unsigned.
	Sign *signature.Sign
}

// PushArtifact publishes files; without tags, as latest.
func (t *Tools) PushArtifact(ctx context.Context, req ArtifactRequest) (PushResult, error) {
	r, err := t.registry()
	if err != nil {
		return PushResult{}, err
	}
	if len(req.Tags) == 0 {
		req.Tags = []string{latest}
	}
	targets, err := PushRequest{URL: req.URL, Output: req.Output}.targets()
	if err != nil {
		return PushResult{}, err
	}
	signing, err := t.signer(ctx, req.Sign, req.URL)
	if err != nil {
		return PushResult{}, err
	}
	root, files, err := gather(req.Files, req.ResolveSymlinks)
	if err != nil {
		return PushResult{}, err
	}
	secrets, credentials, err := secretsIn(root, files)
	if err == nil && !req.IncludeSecrets {
		err = withoutSecrets(secrets)
	}
	if err != nil {
		return PushResult{}, err
	}
	a := module.Artifact{ConfigType: module.FluxConfigType, Layers: []module.Layer{{MediaType: module.FluxContentType, Root: root, Files: files}}}
	switch req.Form {
	case "", "flux":
	case "timoni":
		a.ConfigType, a.Layers[0].MediaType = module.ModuleConfigType, module.ModuleContentType
		if req.ContentType == "" {
			req.ContentType = module.ContentGeneric
		}
	default:
		return PushResult{}, failure("form", strconv.Quote(req.Form)+" is not known", "use flux or timoni")
	}
	if req.ContentType != "" {
		a.Layers[0].Annotations = map[string]string{module.ContentTypeAnnotation: req.ContentType}
	}
	if a.Annotations, err = t.annotations(root, req.Version, req.Annotations); err != nil {
		return PushResult{}, err
	}
	out := PushResult{Annotations: a.Annotations, Findings: append(inClear(secrets), credentialsToo(root, credentials, root == req.Files[0])...)}
	for _, to := range targets {
		opts := module.PushOptions{Tags: req.Tags, Private: len(secrets)+len(credentials) > 0}
		if strings.HasPrefix(to, module.SchemeOCI) && !req.Force {
			opts.Immutable = versions(req.Tags)
		}
		pushed, err := r.Push(ctx, to, a, opts)
		if err != nil {
			return out, err
		}
		out.add(to, pushed)
	}
	return t.signed(ctx, signing, req.URL, out, nil)
}

// versions are those of the tags that are semantic versions, which do not change.
func versions(tags []string) []string {
	return slices.DeleteFunc(slices.Clone(tags), func(tag string) bool {
		_, err := semver.StrictNewVersion(strings.TrimPrefix(tag, "v"))
		return err != nil
	})
}

// DigestOf is the digest of the artifact at the one of the request's files that is a URL, or that it would have if it were
// pushed: a directory or files.
func (t *Tools) DigestOf(ctx context.Context, req ArtifactRequest) (digest string, err error) {
	if len(req.Files) == 1 && strings.Contains(req.Files[0], "://") {
		return t.Digest(ctx, req.Files[0])
	}
	temp, err := os.MkdirTemp("", "hawser-digest-")
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(temp)) }()
	req.URL, req.Output, req.Tags, req.Sign, req.IncludeSecrets = "", module.SchemeLayout+filepath.ToSlash(temp), nil, nil, true
	got, err := t.PushArtifact(ctx, req)
	return got.Digest, err
}

// PullArtifact gets files into a directory; what is there stays.
func (t *Tools) PullArtifact(ctx context.Context, req PullRequest) (PullResult, error) {
	req.Into = true
	return t.pull(ctx, req, func(module.Pulled) error { return nil })
}

// TagArtifact gives an artifact more names.
func (t *Tools) TagArtifact(ctx context.Context, url string, tags []string) (digest string, err error) {
	r, err := t.registry()
	if err != nil {
		return "", err
	}
	if len(tags) == 0 {
		return "", failure("no-tag", "there is no tag to set", "name one or more with -t")
	}
	return r.Tag(ctx, url, tags...)
}

// Limits of what is pushed.
const (
	maxFiles = 20000
	maxBytes = 512 << 20
)

// gather finds the files to push: those below a directory but for what its ignore file names, or the named ones, which have to be in one directory.
func gather(names []string, links bool) (root string, files []string, err error) {
	if len(names) == 0 {
		return "", nil, failure("no-files", "there is nothing to push", "name a directory or files with -f")
	}
	for _, name := range names {
		if err := given(name); err != nil {
			return "", nil, err
		}
	}
	info, err := os.Stat(names[0])
	if err != nil {
		return "", nil, failure("no-files", err.Error(), "")
	}
	if info.IsDir() {
		if len(names) > 1 {
			return "", nil, failure("no-files", "-f names a directory and more", "push one directory, or files")
		}
		ignored, err := module.ReadIgnore(names[0])
		if err != nil {
			return "", nil, failure("no-files", filepath.Join(names[0], module.IgnoreFile)+" cannot be read: "+err.Error(), "")
		}
		if files, err = walk(names[0], links, ignored); err == nil && len(files) == 0 {
			err = failure("no-files", names[0]+" holds no files", "")
		}
		return names[0], files, err
	}
	root = filepath.Dir(names[0])
	for _, name := range names {
		info, err := os.Lstat(name)
		switch {
		case err != nil:
			return "", nil, failure("no-files", err.Error(), "")
		case !info.Mode().IsRegular() || filepath.Dir(name) != root:
			return "", nil, failure("no-files", name+" is not a file in "+root, "push files of one directory, or the directory")
		}
		files = append(files, filepath.Base(name))
	}
	slices.Sort(files)
	return root, slices.Compact(files), nil
}

// walk lists the files below a directory, slash separated and sorted. Version control's own are left out, and what a build
// knows its directory by; links are an error, or with links set the files that they lead to in the directory.
func walk(dir string, links bool, ignored *module.Ignore) (files []string, err error) {
	total := int64(0)
	err = filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(dir, name)
		if err != nil {
			return err
		}
		rel = filepath.ToSlash(rel)
		if left := rel != "." && ignored.Match(rel, d.IsDir()); d.IsDir() {
			if left || d.Name() == ".git" && name != dir {
				return filepath.SkipDir
			}
			return nil
		} else if left {
			return nil
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		if path.Base(rel) == ".git" || rel == outdir.Name {
			return nil
		}
		if links && info.Mode()&fs.ModeSymlink != 0 {
			if info, err = (rootfs.FS{Root: dir, Limit: maxBytes}).Stat(rel); err != nil {
				return failure("not-a-file", rel+" is a link to nothing in "+dir, "only files of the directory are pushed")
			}
		}
		if !info.Mode().IsRegular() {
			return failure("not-a-file", rel+" is a link or a device", "only files and directories are pushed; --resolve-symlinks pushes what links to files of the directory lead to")
		}
		total += info.Size()
		if files = append(files, rel); len(files) > maxFiles || total > maxBytes {
			return failure("too-large", dir+" is too large", "at most "+strconv.Itoa(maxFiles)+" files and 512 MiB are pushed")
		}
		return nil
	})
	slices.SortFunc(files, strings.Compare)
	return files, err
}

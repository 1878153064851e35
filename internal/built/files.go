package built

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"hawser.dev/hawser/internal/fleetplan"
	"hawser.dev/hawser/internal/nofollow"
	"hawser.dev/hawser/internal/object"
	"hawser.dev/hawser/internal/outdir"
	"hawser.dev/hawser/internal/rootfs"
)

// maxIndex bounds what is read of a directory's list of files.
const maxIndex = 64 << 20

// outFile is a file to write; path is below the directory.
type outFile struct {
	path string
	data []byte
	mode os.FileMode
}

// Files writes every object of the builds of one run, one for each bundle, into its file and removes those of former builds
// that nothing makes any more. All are made first, and nothing is written when a file of somebody else is in the way, or two
// bundles make the same one.
func Files(rs []*fleetplan.BuildResult, dir string, talk io.Writer) error {
	var files []outFile
	var builds []outdir.Build
	for _, r := range rs {
		fs, b, err := outFiles(r)
		if err != nil {
			return err
		}
		files, builds = append(files, fs...), append(builds, b)
	}
	in, err := nofollow.Open(dir)
	if err != nil {
		return err
	}
	defer func() { _ = in.Close() }()
	before, err := readIndex(in, dir)
	if err != nil {
		return err
	}
	var linked error
	out, findings := outdir.DecideAll(before, builds, func(name string) string {
		if linked == nil {
			linked = in.Check(name)
		}
		return digestOfFile(in, name)
	})
	if linked != nil {
		return linked
	}
	if findings.HasErrors() {
		for i := range findings {
			findings[i].Pos.File = filepath.Join(dir, filepath.FromSlash(findings[i].Pos.File))
		}
		return findings.Err()
	}
	for _, f := range files {
		if err := in.Check(f.path); err != nil {
			return err
		}
	}
	// Whatever ends the run in between, what it wrote is known to be its own.
	if err := in.Write(outdir.Name, before.With(out.Index).Encode(), 0o644); err != nil {
		return err
	}
	for _, f := range files {
		if err := in.Write(f.path, f.data, f.mode); err != nil {
			return err
		}
	}
	for _, name := range out.Remove {
		if err := in.Remove(name); err != nil {
			return err
		}
	}
	if err := in.Write(outdir.Name, out.Index.Encode(), 0o644); err != nil {
		return err
	}
	for _, name := range out.Left {
		fmt.Fprintf(talk, "left %s, which nothing makes any more: it was changed by hand\n", filepath.Join(dir, filepath.FromSlash(name)))
	}
	removed := ""
	if len(out.Remove) > 0 {
		removed = ", removed " + many(len(out.Remove), "file") + " that nothing makes any more"
	}
	fmt.Fprintf(talk, "exported %s to %s%s\n", many(len(files), "resource"), dir, removed)
	if clear := inClear(rs); clear != "" {
		fmt.Fprintf(talk, "warning: %s holds secret values in clear: %s: do not publish them; an operator on the cluster (External Secrets, Sealed Secrets) "+
			"or SOPS keeps them out of files, and --mask-secrets without --output-dir prints *** instead\n", dir, clear)
	}
	return nil
}

// inClear names the objects that hold secret values, with the keys of these: Secrets with values, and others into which a
// value of a store went.
func inClear(rs []*fleetplan.BuildResult) string {
	keys, clusters := map[string]map[string]bool{}, map[string]bool{}
	for _, r := range rs {
		for _, item := range r.Items {
			for _, o := range item.Objects {
				found := slices.Clone(o.Sensitive)
				if o.Ref().IsSecret() {
					found = nil
					for _, field := range []string{"data", "stringData"} {
						values, _ := o.Body[field].(map[string]any)
						found = slices.AppendSeq(found, maps.Keys(values))
						if values == nil && o.Body[field] != nil {
							found = append(found, field)
						}
					}
				}
				if name := o.Ref().String(); len(found) > 0 {
					clusters[item.Cluster] = true
					if keys[name] == nil {
						keys[name] = map[string]bool{}
					}
					for _, key := range found {
						if r.Mask != nil { // a key may be secret itself
							key = r.Mask.Redact(key)
						}
						keys[name][key] = true
					}
				}
			}
		}
	}
	var names []string
	for _, name := range slices.Sorted(maps.Keys(keys)) {
		names = append(names, name+" ("+most(slices.Sorted(maps.Keys(keys[name])))+")")
	}
	out := most(names)
	if len(clusters) > 1 {
		out += " (" + many(len(clusters), "cluster") + ")"
	}
	return out
}

// most are the first few names, and how many more there are.
func most(names []string) string {
	out := strings.Join(names[:min(len(names), 5)], ", ")
	if more := len(names) - 5; more > 0 {
		out += " and " + strconv.Itoa(more) + " more"
	}
	return out
}

// outFiles are the files of a build, and what is to be decided about.
func outFiles(r *fleetplan.BuildResult) ([]outFile, outdir.Build, error) {
	b := outdir.Build{Bundle: r.Bundle, Clusters: r.Clusters, Whole: r.Whole, Files: map[string]outdir.File{}, Digests: map[string]string{}}
	var files []outFile
	seen := map[string]object.Ref{}
	for _, item := range r.Items {
		dir := item.Instance
		if r.MultiCluster {
			dir = path.Join(item.Cluster, dir)
		}
		several := severalNamespaces(item.Objects)
		for _, o := range slices.Concat(item.Objects, item.Namespaces) {
			data, err := YAML(o)
			if err != nil {
				return nil, b, err
			}
			f := outFile{path: path.Join(dir, fileName(o, several)), data: data, mode: 0o644}
			if other, ok := seen[f.path]; ok {
				return nil, b, fmt.Errorf("%s and %s would both be written to %s", other, o.Ref(), f.path)
			}
			seen[f.path] = o.Ref()
			own := outdir.File{Bundle: r.Bundle, Cluster: item.Cluster, Digest: outdir.Digest(data)}
			b.Digests[f.path] = own.Digest
			if o.Ref().IsSecret() || len(o.Sensitive) > 0 {
				f.mode = 0o600
				own.Digest = "" // it would tell a guess from the value
			}
			b.Files[f.path] = own
			files = append(files, f)
		}
	}
	return files, b, nil
}

// readIndex reads the list of the files that builds wrote into a directory.
func readIndex(in *nofollow.Dir, dir string) (outdir.Index, error) {
	data, err := in.Read(outdir.Name, maxIndex)
	if errors.Is(err, fs.ErrNotExist) {
		return outdir.Parse(nil)
	}
	if err != nil {
		return outdir.Index{}, err
	}
	if len(data) == 0 {
		err = errors.New("it is empty")
	}
	x, perr := outdir.Parse(data)
	for name := range x.Files {
		if rootfs.InGit(name) { // what a build makes never lies there, and what it names may be removed
			perr = errors.New("it names a part of .git")
		}
	}
	if err = errors.Join(err, perr); err != nil {
		return x, fmt.Errorf("%s does not say which files builds wrote: %w\nBuild into a new directory, or delete this one when nothing in it is yours", filepath.Join(dir, outdir.Name), err)
	}
	return x, nil
}

// digestOfFile is "" where nothing is. What cannot be read, or is no file, is like no build's content.
func digestOfFile(in *nofollow.Dir, name string) string {
	data, err := in.Read(name, rootfs.MaxLarge)
	if errors.Is(err, fs.ErrNotExist) {
		return ""
	}
	if err != nil {
		return "unreadable"
	}
	return outdir.Digest(data)
}

// WriteFile replaces a file in one step; no link of a repository leads out of it.
func WriteFile(name string, data []byte, mode os.FileMode) error {
	at, err := rootfs.Written(filepath.Dir(name))
	if err != nil {
		return fmt.Errorf("%w: nothing is written through a link of a repository that leads out of it; name the directory itself", err)
	}
	root, err := os.OpenRoot(at)
	if err != nil {
		return err
	}
	defer root.Close()
	return nofollow.Replace(root, filepath.Base(name), data, mode)
}

func many(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

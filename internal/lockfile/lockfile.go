// Package lockfile is hawser.lock, the file beside a bundle that pins what its sources resolve to (by digest) and which
// cluster each name of a fleet is (by UID).
//
// lockfile must not know how sources are fetched or clusters reached; it reads and writes one small file.
package lockfile

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Name of the file.
const Name = "hawser.lock"

// version of the format that is written; version 1, in which a source is a digest alone, is still read.
const version = 2

// sizeLimit bounds what is read: 8 MiB.
const sizeLimit = 8 << 20

// File is the content of a hawser.lock.
type File struct {
	V int `json:"v"`
	// Sources maps a source as the bundle writes it, with the version it wants, to what that was when it was pinned.
	Sources map[string]Pin `json:"sources,omitempty"`
	// Clusters maps fleet and cluster names to the UID of the cluster's kube-system namespace.
	Clusters map[string]map[string]string `json:"clusters,omitempty"`
}

// Pin is what a source was when it was pinned.
type Pin struct {
	// Version is exact: "1.4.2", a tag, "" for local content.
	Version string `json:"version,omitempty"`
	// Digest is that of the content, "sha256:<hex>".
	Digest string `json:"digest"`
}

// UnmarshalJSON reads a pin, and the bare digest that it was in version 1.
func (p *Pin) UnmarshalJSON(data []byte) error {
	if len(data) > 0 && data[0] == '"' {
		*p = Pin{}
		return json.Unmarshal(data, &p.Digest)
	}
	type plain Pin
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	return dec.Decode((*plain)(p))
}

// PathFor is the lock file of a bundle: beside its first file, or in the directory that is given instead of a file.
// It is "" for documents from standard input.
func PathFor(files []string) string {
	if len(files) == 0 || files[0] == "-" {
		return ""
	}
	if info, err := os.Stat(files[0]); err == nil && info.IsDir() {
		return filepath.Join(files[0], Name)
	}
	return filepath.Join(filepath.Dir(files[0]), Name)
}

// Read reads a lock file; a missing one, and the path "", is an empty File.
func Read(path string) (File, error) {
	empty := File{V: version, Sources: map[string]Pin{}, Clusters: map[string]map[string]string{}}
	if path == "" {
		return empty, nil
	}
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return empty, nil
	case err != nil:
		return empty, fmt.Errorf("lock file: %w", err)
	case info.Size() > sizeLimit:
		return empty, fmt.Errorf("lock file %s: larger than %d MiB", path, sizeLimit>>20)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return empty, fmt.Errorf("lock file: %w", err)
	}
	f, err := Parse(data)
	if err != nil {
		return empty, fmt.Errorf("lock file %s: %w", path, err)
	}
	return f, nil
}

// Parse reads the file's text. Unknown fields and other versions are errors.
func Parse(data []byte) (File, error) {
	f := File{}
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&f); err != nil {
		return f, fmt.Errorf("not a lock file: %w", err)
	}
	if f.V != 1 && f.V != version {
		return f, fmt.Errorf("version %d; this hawser reads versions 1 and %d", f.V, version)
	}
	f.V = version
	if f.Sources == nil {
		f.Sources = map[string]Pin{}
	}
	if f.Clusters == nil {
		f.Clusters = map[string]map[string]string{}
	}
	return f, nil
}

// Write replaces the file at once, readable by everybody: it holds no secrets.
func (f File) Write(path string) error {
	f.V = version
	data, err := json.MarshalIndent(f, "", "  ")
	if err != nil {
		return fmt.Errorf("lock file: %w", err)
	}
	tmp, err := os.CreateTemp(filepath.Dir(path), "."+Name+".*")
	if err != nil {
		return fmt.Errorf("lock file: %w", err)
	}
	defer func() { _ = os.Remove(tmp.Name()) }()
	_, err = tmp.Write(append(data, '\n'))
	err = errors.Join(err, tmp.Chmod(0o644), tmp.Close())
	if err == nil {
		err = os.Rename(tmp.Name(), path)
	}
	if err != nil {
		return fmt.Errorf("lock file %s: %w", path, err)
	}
	return nil
}

// UID is the pinned UID of a cluster, "" when none is.
func (f File) UID(fleet, cluster string) string { return f.Clusters[fleet][cluster] }

// Learn pins the UIDs of clusters that are not pinned yet and reports whether anything is new.
func (f File) Learn(fleet string, uids map[string]string) bool {
	changed := false
	for name, uid := range uids {
		if uid == "" || f.Clusters[fleet][name] == uid {
			continue
		}
		if f.Clusters[fleet] == nil {
			f.Clusters[fleet] = map[string]string{}
		}
		f.Clusters[fleet][name] = uid
		changed = true
	}
	return changed
}

package fleet

import (
	"bytes"
	"compress/gzip"
	"crypto/sha512"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/rootfs"
)

// snapshotVersion is the version of the file's form.
const snapshotVersion = 1

// Facts returns the facts of a cluster in the snapshot.
func (s Snapshot) Facts(cluster string) (Facts, bool) {
	for _, f := range s.Clusters {
		if f.Name == cluster {
			return f, true
		}
	}
	return Facts{}, false
}

// Marshal is the snapshot as a file: JSON without secrets. Secret values are marked absent; values of the environment
// are left out, because whoever reads the file has an environment of their own.
func (s Snapshot) Marshal() ([]byte, error) {
	out := Snapshot{V: snapshotVersion, Fleet: s.Fleet, Clusters: make([]Facts, 0, len(s.Clusters)), Documents: s.Documents}
	for _, f := range s.Clusters {
		values := make(map[string]Value, len(f.Values))
		for name, v := range f.Values {
			if v.Layer == LayerEnv {
				continue
			}
			if v.Secret {
				v.Value, v.Absent = "", true
			}
			values[name] = v
		}
		f.Values = values
		out.Clusters = append(out.Clusters, f)
	}
	b, err := json.MarshalIndent(out, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("facts: %w", err)
	}
	return append(b, '\n'), nil
}

// LoadSnapshot reads a facts file. Errors are findings at the file.
func LoadSnapshot(path string) (Snapshot, diag.Findings) {
	fail := func(format string, args ...any) (Snapshot, diag.Findings) {
		n := diag.Errorf("facts", format, args...)
		n.Pos, n.Fix = diag.Pos{File: path}, "write it with fleet snapshot"
		return Snapshot{}, diag.Findings{n}
	}
	if err := rootfs.Given(path); err != nil {
		return fail("facts cannot be read: %v", err)
	}
	b, err := rootfs.ReadFile(path, rootfs.MaxLarge)
	if err != nil {
		return fail("facts cannot be read: %v", err)
	}
	s, err := ParseSnapshot(b)
	if err != nil {
		return fail("%v", err)
	}
	s.File = path
	return s, nil
}

// ParseSnapshot reads the bytes of a facts file.
func ParseSnapshot(b []byte) (Snapshot, error) {
	dec := json.NewDecoder(bytes.NewReader(b))
	dec.DisallowUnknownFields()
	dec.UseNumber()
	var s Snapshot
	if err := dec.Decode(&s); err != nil {
		return Snapshot{}, fmt.Errorf("not a facts file: %w", err)
	}
	if s.V != snapshotVersion {
		return Snapshot{}, fmt.Errorf("facts of version %d, this program reads version %d", s.V, snapshotVersion)
	}
	seen := map[string]bool{}
	for i, f := range s.Clusters {
		if f.Name == "" || seen[f.Name] {
			return Snapshot{}, fmt.Errorf("cluster %q is there twice or has no name", f.Name)
		}
		seen[f.Name] = true
		for k, v := range f.Vars {
			s.Clusters[i].Vars[k] = numbers(v)
		}
	}
	return s, nil
}

// numbers turns json.Number into int64 where it is one, as the documents have it.
func numbers(v any) any {
	switch v := v.(type) {
	case json.Number:
		if i, err := v.Int64(); err == nil {
			return i
		}
	case map[string]any:
		for k, e := range v {
			v[k] = numbers(e)
		}
	case []any:
		for i, e := range v {
			v[i] = numbers(e)
		}
	}
	return v
}

// maxDocument bounds what a packed document may become.
const maxDocument = 16 << 20

// Pack adds a document to the snapshot, under the hash that it has, whatever somebody claims.
func (s *Snapshot) Pack(document []byte) (hash string, err error) {
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	if _, err := w.Write(document); err != nil {
		return "", err
	}
	if err := w.Close(); err != nil {
		return "", err
	}
	sum := sha512.Sum512(document)
	hash = hex.EncodeToString(sum[:])
	if s.Documents == nil {
		s.Documents = map[string][]byte{}
	}
	s.Documents[hash] = packed.Bytes()
	return hash, nil
}

// Unpack is the document with a hash. One that is not there, is too large or has another hash is an error.
func (s Snapshot) Unpack(hash string) ([]byte, error) {
	packed, ok := s.Documents[hash]
	if !ok {
		return nil, fmt.Errorf("the facts hold no document %.12s", hash)
	}
	r, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, fmt.Errorf("document %.12s of the facts: %w", hash, err)
	}
	data, err := io.ReadAll(io.LimitReader(r, maxDocument+1))
	switch sum := sha512.Sum512(data); {
	case err != nil:
		return nil, fmt.Errorf("document %.12s of the facts: %w", hash, err)
	case len(data) > maxDocument:
		return nil, fmt.Errorf("document %.12s of the facts has more than %d MiB", hash, maxDocument>>20)
	case !strings.EqualFold(hex.EncodeToString(sum[:]), hash):
		return nil, fmt.Errorf("document %.12s of the facts has another hash", hash)
	}
	return data, nil
}

package cuelang

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"

	"cuelang.org/go/cue/parser"

	"hawser.dev/hawser/internal/rootfs"
)

// vendored is the directory of a CUE module whose links may lead elsewhere: Timoni's own tree has such links.
const vendored = "cue.mod/pkg/"

// IsVendored reports whether a path below the root of a CUE module (slashes) lies where vendored CUE is kept.
func IsVendored(name string) bool { return strings.HasPrefix(name+"/", vendored) }

// ReadFile reads one file below the root of a CUE module, of at most limit bytes. No link leads out of the root; below cue.mod/pkg
// one may, to CUE packages and to nothing else. Errors are *rootfs.OutsideError and those of os.
func ReadFile(root, name string, limit int) ([]byte, error) {
	data, err := rootfs.Read(root, name, limit)
	if err == nil || !rootfs.IsOutside(err) || !IsVendored(name) || !filepath.IsLocal(filepath.FromSlash(name)) {
		return data, err
	}
	real, linkErr := filepath.EvalSymlinks(filepath.Join(root, filepath.FromSlash(name)))
	if linkErr != nil {
		return nil, err
	}
	if data, ok := PackageFile(real, limit); ok {
		return data, nil
	}
	return nil, err
}

// PackageFile reads a file of at most limit bytes that is one of a CUE package: by its ending, and by what it says of itself;
// false for any other file.
func PackageFile(real string, limit int) ([]byte, bool) {
	if !strings.HasSuffix(real, ".cue") || strings.Contains(filepath.ToSlash(real), "/.git/") {
		return nil, false
	}
	info, err := os.Lstat(real)
	if err != nil || !info.Mode().IsRegular() {
		return nil, false
	}
	data, err := readWhole(real, limit)
	if err != nil {
		return nil, false
	}
	f, err := parser.ParseFile(real, data, parser.PackageClauseOnly)
	return data, err == nil && f.PackageName() != ""
}

func readWhole(name string, limit int) ([]byte, error) {
	in, err := rootfs.OpenFile(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = in.Close() }()
	data, err := io.ReadAll(io.LimitReader(in, int64(limit)+1))
	if err == nil && len(data) > limit {
		err = errors.New("file is too large")
	}
	return data, err
}

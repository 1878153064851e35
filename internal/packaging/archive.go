package packaging

import (
	"archive/tar"
	"archive/zip"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
)

// Platform is an operating system and an architecture, in Go's words.
type Platform struct{ OS, Arch string }

// Platforms are those a version is made for.
func Platforms() []Platform {
	var all []Platform
	for _, system := range []string{"linux", "darwin", "windows"} {
		for _, arch := range []string{"amd64", "arm64"} {
			all = append(all, Platform{system, arch})
		}
	}
	return all
}

// Binary is the file name of a program on the platform.
func (p Platform) Binary(name string) string {
	if p.OS == "windows" {
		return name + ".exe"
	}
	return name
}

// Archive is the file name of an archive: "hawser_1.2.0_linux_amd64.tar.gz", for Windows ".zip".
func (p Platform) Archive(name, version string) string {
	ending := ".tar.gz"
	if p.OS == "windows" {
		ending = ".zip"
	}
	return fmt.Sprintf("%s_%s_%s_%s%s", name, strings.TrimPrefix(version, "v"), p.OS, p.Arch, ending)
}

// File is one file of an archive, at its top.
type File struct {
	Name    string
	Content []byte
	// Executable files get the mode 0755, others 0644.
	Executable bool
}

func (f File) mode() int64 {
	if f.Executable {
		return 0o755
	}
	return 0o644
}

// Write packs files into w as the platform's kind of archive, sorted by name, each with the time given (whole seconds,
// UTC) and without owner, so that equal files give equal bytes.
func (p Platform) Write(w io.Writer, files []File, at time.Time) error {
	sorted := slices.SortedFunc(slices.Values(files), func(a, b File) int { return strings.Compare(a.Name, b.Name) })
	at = at.UTC().Truncate(time.Second)
	if p.OS == "windows" {
		return writeZip(w, sorted, at)
	}
	return writeTar(w, sorted, at)
}

func writeTar(w io.Writer, files []File, at time.Time) error {
	packed, err := gzip.NewWriterLevel(w, gzip.BestCompression)
	if err != nil {
		return err
	}
	archive := tar.NewWriter(packed)
	for _, f := range files {
		head := &tar.Header{Typeflag: tar.TypeReg, Name: f.Name, Mode: f.mode(), Size: int64(len(f.Content)), ModTime: at, Format: tar.FormatUSTAR}
		if err := archive.WriteHeader(head); err != nil {
			return fmt.Errorf("%s: %w", f.Name, err)
		}
		if _, err := archive.Write(f.Content); err != nil {
			return fmt.Errorf("%s: %w", f.Name, err)
		}
	}
	if err := archive.Close(); err != nil {
		return err
	}
	return packed.Close()
}

func writeZip(w io.Writer, files []File, at time.Time) error {
	archive := zip.NewWriter(w)
	for _, f := range files {
		head := &zip.FileHeader{Name: f.Name, Method: zip.Deflate, Modified: at}
		head.SetMode(0o644)
		if f.Executable {
			head.SetMode(0o755)
		}
		entry, err := archive.CreateHeader(head)
		if err != nil {
			return fmt.Errorf("%s: %w", f.Name, err)
		}
		if _, err := entry.Write(f.Content); err != nil {
			return fmt.Errorf("%s: %w", f.Name, err)
		}
	}
	return archive.Close()
}

// Checksums are lines as sha256sum writes and checks them, sorted by name.
func Checksums(files map[string][]byte) []byte {
	var lines []string
	for name, content := range files {
		sum := sha256.Sum256(content)
		lines = append(lines, hex.EncodeToString(sum[:])+"  "+name+"\n")
	}
	slices.SortFunc(lines, func(a, b string) int { return strings.Compare(a[64:], b[64:]) })
	return []byte(strings.Join(lines, ""))
}

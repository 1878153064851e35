// Command package builds hawser for every platform and packs it:
//
//	package -version VERSION -out DIR [-only OS/ARCH]
//
// DIR then holds an archive and a bill of materials per platform, and SHA256SUMS. The time in the archives is that of
// SOURCE_DATE_EPOCH, else that of the commit; the same commit and the same Go give the same bytes.
//
// It must not know how archives look: package packaging does.
package main

import (
	"bytes"
	"debug/buildinfo"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"hawser.dev/hawser/internal/packaging"
)

const program = "hawser"

func main() {
	version := flag.String("version", "", "version, as it is in the names and in `hawser version`")
	out := flag.String("out", "dist/release", "directory that is written anew")
	only := flag.String("only", "", "OS/ARCH: one platform alone")
	flag.Parse()
	if err := run(*version, *out, *only); err != nil {
		fmt.Fprintf(os.Stderr, "package: %v\n", err)
		os.Exit(1)
	}
}

func run(version, out, only string) error {
	if version == "" {
		return fmt.Errorf("-version is wanted")
	}
	at, err := versionTime()
	if err != nil {
		return err
	}
	if err := os.RemoveAll(out); err != nil {
		return err
	}
	if err := os.MkdirAll(out, 0o755); err != nil {
		return err
	}
	made := map[string][]byte{}
	for _, p := range packaging.Platforms() {
		if only != "" && only != p.OS+"/"+p.Arch {
			continue
		}
		if err := pack(p, version, at, out, made); err != nil {
			return fmt.Errorf("%s/%s: %w", p.OS, p.Arch, err)
		}
	}
	if len(made) == 0 {
		return fmt.Errorf("-only %s: no such platform", only)
	}
	for name, content := range made {
		if err := os.WriteFile(filepath.Join(out, name), content, 0o644); err != nil {
			return err
		}
	}
	sums := packaging.Checksums(made)
	fmt.Print(string(sums))
	return os.WriteFile(filepath.Join(out, "SHA256SUMS"), sums, 0o644)
}

// pack builds for one platform and adds its archive and its bill of materials to made.
func pack(p packaging.Platform, version string, at time.Time, out string, made map[string][]byte) error {
	binary := filepath.Join(out, p.Binary(program))
	defer os.Remove(binary)
	cmd := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-ldflags", "-s -w -buildid= -X main.version="+version, "-o", binary, "./cmd/hawser")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS="+p.OS, "GOARCH="+p.Arch, "GOFLAGS=", "GOAMD64=v1")
	cmd.Stderr = os.Stderr
	if err := cmd.Run(); err != nil {
		return err
	}
	info, err := buildinfo.ReadFile(binary)
	if err != nil {
		return err
	}
	var files []packaging.File
	for _, path := range []string{binary, "LICENSE", "README.md", "CHANGELOG.md"} {
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		files = append(files, packaging.File{Name: filepath.Base(path), Content: content, Executable: path == binary})
	}
	var archive bytes.Buffer
	if err := p.Write(&archive, files, at); err != nil {
		return err
	}
	name := p.Archive(program, version)
	made[name] = archive.Bytes()
	made[name+".cdx.json"], err = packaging.BillOfMaterials(info, program, version, at)
	return err
}

// versionTime is SOURCE_DATE_EPOCH (seconds since 1970), else when the commit was made.
func versionTime() (time.Time, error) {
	text := os.Getenv("SOURCE_DATE_EPOCH")
	if text == "" {
		out, err := exec.Command("git", "log", "-1", "--format=%ct").Output()
		if err != nil {
			return time.Time{}, fmt.Errorf("the time of the commit: %w (or set SOURCE_DATE_EPOCH)", err)
		}
		text = strings.TrimSpace(string(out))
	}
	seconds, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return time.Time{}, fmt.Errorf("SOURCE_DATE_EPOCH=%s: not a number of seconds", text)
	}
	return time.Unix(seconds, 0), nil
}

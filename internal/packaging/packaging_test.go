package packaging

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"time"
)

var noon = time.Date(2026, 11, 22, 12, 0, 0, 500, time.FixedZone("east", 3600))

func files() []File {
	return []File{{Name: "hawser", Content: []byte("#!"), Executable: true}, {Name: "LICENSE", Content: []byte("free")}}
}

// Equal files, in whatever order and zone, give equal bytes, and the archive holds them.
func TestArchiveIsReproducible(t *testing.T) {
	for _, p := range []Platform{{"linux", "arm64"}, {"windows", "amd64"}} {
		var one, two bytes.Buffer
		if err := p.Write(&one, files(), noon); err != nil {
			t.Fatal(err)
		}
		backwards := files()
		slices.Reverse(backwards)
		if err := p.Write(&two, backwards, noon.UTC().Add(time.Nanosecond)); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(one.Bytes(), two.Bytes()) {
			t.Errorf("%s: the same files give other bytes", p.OS)
		}
		if got, want := content(t, p, one.Bytes()), "LICENSE 644 free, hawser 755 #!"; got != want {
			t.Errorf("%s: %s, want %s", p.OS, got, want)
		}
	}
}

func content(t *testing.T, p Platform, data []byte) string {
	t.Helper()
	var all []string
	add := func(name string, mode int64, r io.Reader) {
		text, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, name+" "+fmt.Sprintf("%o", mode)+" "+string(text))
	}
	if p.OS == "windows" {
		archive, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range archive.File {
			r, err := f.Open()
			if err != nil {
				t.Fatal(err)
			}
			add(f.Name, int64(f.Mode().Perm()), r)
		}
		return strings.Join(all, ", ")
	}
	unpacked, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	archive := tar.NewReader(unpacked)
	for {
		head, err := archive.Next()
		if err == io.EOF {
			return strings.Join(all, ", ")
		}
		if err != nil {
			t.Fatal(err)
		}
		add(head.Name, head.Mode, archive)
	}
}

func TestNames(t *testing.T) {
	if got := (Platform{"windows", "arm64"}).Archive("hawser", "v1.2.0"); got != "hawser_1.2.0_windows_arm64.zip" {
		t.Error(got)
	}
	if got := (Platform{"windows", "arm64"}).Binary("hawser"); got != "hawser.exe" {
		t.Error(got)
	}
	if got := (Platform{"linux", "amd64"}).Archive("hawser", "1.2.0"); got != "hawser_1.2.0_linux_amd64.tar.gz" {
		t.Error(got)
	}
	if n := len(Platforms()); n != 6 {
		t.Errorf("%d platforms", n)
	}
}

func TestChecksums(t *testing.T) {
	got := string(Checksums(map[string][]byte{"b": []byte("x"), "a": nil}))
	want := "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855  a\n" +
		"2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881  b\n"
	if got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

// Every module is listed once, with the version that was built in, replaced ones by what replaces them.
func TestBillOfMaterials(t *testing.T) {
	info := &debug.BuildInfo{GoVersion: "go1.26.8", Main: debug.Module{Path: "hawser.dev/hawser"},
		Deps: []*debug.Module{
			{Path: "example.com/z", Version: "v1.0.0", Sum: "h1:abc="},
			{Path: "example.com/a", Version: "v0.1.0", Replace: &debug.Module{Path: "example.com/b", Version: "v0.2.0"}},
		},
		Settings: []debug.BuildSetting{{Key: "GOOS", Value: "linux"}, {Key: "vcs.modified", Value: "true"}}}
	data, err := BillOfMaterials(info, "hawser", "v1.2.0", noon)
	if err != nil {
		t.Fatal(err)
	}
	var got bom
	if err := json.Unmarshal(data, &got); err != nil {
		t.Fatal(err)
	}
	var urls []string
	for _, c := range got.Components {
		urls = append(urls, c.URL)
	}
	want := []string{"pkg:golang/example.com/b@v0.2.0", "pkg:golang/example.com/z@v1.0.0", "pkg:golang/std@1.26.8"}
	if !slices.Equal(urls, want) {
		t.Errorf("components %v, want %v", urls, want)
	}
	if got.Metadata.Timestamp != "2026-11-22T11:00:00Z" || got.Metadata.Component.Version != "v1.2.0" {
		t.Errorf("metadata %+v", got.Metadata)
	}
	if p := got.Metadata.Component.Properties; len(p) != 2 || p[1].Name != "go:GOOS" {
		t.Errorf("properties %v", p)
	}
	if _, err := BillOfMaterials(&debug.BuildInfo{}, "x", "v1", noon); err == nil {
		t.Error("a binary without build information gives no error")
	}
}

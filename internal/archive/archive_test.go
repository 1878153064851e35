package archive

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// item is one entry of a test archive.
type item struct {
	name, content, link string
	kind                byte
	mode                int64
	pax                 map[string]string
}

func file(name, content string) item  { return item{name: name, content: content, kind: tar.TypeReg} }
func dir(name string) item            { return item{name: name, kind: tar.TypeDir} }
func symlink(name, to string) item    { return item{name: name, link: to, kind: tar.TypeSymlink} }
func hardlink(name, to string) item   { return item{name: name, link: to, kind: tar.TypeLink} }
func kind(name string, typ byte) item { return item{name: name, kind: typ} }

func makeTar(t testing.TB, items ...item) []byte {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, i := range items {
		h := &tar.Header{Name: i.name, Linkname: i.link, Typeflag: i.kind, Size: int64(len(i.content)), Mode: i.mode | 0o644, PAXRecords: i.pax}
		if err := w.WriteHeader(h); err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(w, i.content); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func zip(t testing.TB, data []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := w.Write(data); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// tree is every file below a directory, by path; links and devices are an error.
func tree(t testing.TB, root string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		if !d.Type().IsRegular() {
			t.Errorf("%s is no plain file: %v", p, d.Type())
		}
		if info, err := d.Info(); err != nil || info.Mode() != 0o644 {
			t.Errorf("%s has mode %v (%v), want 0644", p, info.Mode(), err)
		}
		data, err := os.ReadFile(p)
		rel, _ := filepath.Rel(root, p)
		out[filepath.ToSlash(rel)] = string(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestExtract(t *testing.T) {
	long := strings.Repeat("long/", 30) + "name.yaml"
	data := makeTar(t, dir("./"), dir("a/"), file("a/b.yaml", "b"), file("./c//d.yaml", "d"), file(long, "long"),
		item{name: "setuid.sh", content: "x", kind: tar.TypeReg, mode: 0o6777}, file("rbac_v1_clusterrole_system:admin.yaml", "r"),
		symlink("link.yaml", "a/b.yaml"), symlink("a/up.yaml", "../c/d.yaml"), symlink("chain", "link.yaml"), hardlink("hard", "a/b.yaml"),
		dir("a/"), file("empty", ""))
	want := map[string]string{"a/b.yaml": "b", "c/d.yaml": "d", long: "long", "setuid.sh": "x", "link.yaml": "b", "a/up.yaml": "d",
		"chain": "b", "hard": "b", "empty": "", "rbac_v1_clusterrole_system:admin.yaml": "r"}
	for name, data := range map[string][]byte{"tar": data, "gzip": zip(t, data)} {
		root := filepath.Join(t.TempDir(), "out")
		if err := Extract(t.Context(), bytes.NewReader(data), root, Limits{}); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if d := cmp.Diff(want, tree(t, root)); d != "" {
			t.Errorf("%s: (-want +got)\n%s", name, d)
		}
	}
}

// Later archives replace files of earlier ones; the directory exists only when all of them are good.
func TestExtractAll(t *testing.T) {
	open := func(data []byte) Source {
		return func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(data)), nil }
	}
	first, second := makeTar(t, file("a", "1"), file("b", "1")), zip(t, makeTar(t, file("b", "2"), file("c", "2")))
	root := filepath.Join(t.TempDir(), "out")
	if err := ExtractAll(t.Context(), []Source{open(first), open(second)}, root, Limits{}); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(map[string]string{"a": "1", "b": "2", "c": "2"}, tree(t, root)); d != "" {
		t.Error(d)
	}
	collides := open(makeTar(t, file("A", "2")))
	wantRefused(t, Collision, func(dir string) error {
		return ExtractAll(t.Context(), []Source{open(first), collides}, dir, Limits{})
	})
	wantRefused(t, Limit, func(dir string) error {
		return ExtractAll(t.Context(), []Source{open(first), open(second)}, dir, Limits{Bytes: 3})
	})
}

// wantRefused runs an extraction that is to be refused by a rule, and to leave nothing behind.
func wantRefused(t *testing.T, rule Rule, extract func(dir string) error) {
	t.Helper()
	parent := t.TempDir()
	err := extract(filepath.Join(parent, "out"))
	refusal, ok := errors.AsType[*Error](err)
	if !ok || refusal.Rule != rule {
		t.Errorf("error %v, want a refusal by rule %q", err, rule)
	}
	if left, err := os.ReadDir(parent); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v %v", left, err)
	}
}

// patched is a tar whose first header is changed after the checksum's rules: for what tar.Writer refuses to write.
func patched(t testing.TB, change func(header []byte)) []byte {
	data := makeTar(t, file("name", "content"))
	change(data[:512])
	copy(data[148:156], "        ")
	sum := 0
	for _, b := range data[:512] {
		sum += int(b)
	}
	copy(data[148:156], []byte(strings.ToUpper(octal(sum))+"\x00 "))
	return data
}

func octal(n int) string {
	out := make([]byte, 6)
	for i := 5; i >= 0; i-- {
		out[i] = byte('0' + n&7)
		n >>= 3
	}
	return string(out)
}

func TestHostileArchives(t *testing.T) {
	many := func(n int) []item {
		var out []item
		for i := range n {
			out = append(out, kind("d"+octal(i), tar.TypeDir))
		}
		return out
	}
	good := makeTar(t, file("a", strings.Repeat("content", 1000)))
	for _, c := range []struct {
		name   string
		data   []byte
		limits Limits
		rule   Rule
	}{
		{"parent", makeTar(t, file("../x", "")), Limits{}, Escape},
		{"parent in the middle", makeTar(t, file("a/../../x", "")), Limits{}, Escape},
		{"parent that stays inside", makeTar(t, file("a/../x", "")), Limits{}, Escape},
		{"directory above", makeTar(t, dir("../")), Limits{}, Escape},
		{"absolute", makeTar(t, file("/etc/passwd", "")), Limits{}, Escape},
		{"drive letter", makeTar(t, file(`C:/x`, "")), Limits{}, Escape},
		{"backslash", makeTar(t, file(`..\x`, "")), Limits{}, Escape},
		{"empty name", patched(t, func(h []byte) { clear(h[:100]) }), Limits{}, Escape},
		{"newline in the name", makeTar(t, file("a\nb", "")), Limits{}, Escape},
		{"no UTF-8", patched(t, func(h []byte) { h[0] = 0xff }), Limits{}, Escape},
		{"file in the root's place", makeTar(t, file("./.", "")), Limits{}, Escape},
		{"symlink up", makeTar(t, symlink("l", "../x")), Limits{}, Escape},
		{"symlink up in the middle", makeTar(t, symlink("a/l", "b/../../../x")), Limits{}, Escape},
		{"symlink absolute", makeTar(t, symlink("l", "/etc/passwd")), Limits{}, Escape},
		{"symlink with a drive", makeTar(t, symlink("l", "C:x")), Limits{}, Escape},
		{"hard link up", makeTar(t, hardlink("a/l", "../x")), Limits{}, Escape},
		{"hard link absolute", makeTar(t, hardlink("l", "/etc/passwd")), Limits{}, Escape},
		{"write through a symlink", makeTar(t, file("b/x", ""), symlink("a", "b"), file("a/x", "")), Limits{}, Link},
		{"symlink to nothing", makeTar(t, symlink("l", "x")), Limits{}, Link},
		{"symlink to a directory", makeTar(t, dir("d"), symlink("l", "d")), Limits{}, Link},
		{"symlinks in a circle", makeTar(t, symlink("a", "b"), symlink("b", "a")), Limits{}, Link},
		{"symlink to itself", makeTar(t, symlink("a", "a")), Limits{}, Link},
		{"character device", makeTar(t, kind("d", tar.TypeChar)), Limits{}, Kind},
		{"block device", makeTar(t, kind("d", tar.TypeBlock)), Limits{}, Kind},
		{"pipe", makeTar(t, kind("d", tar.TypeFifo)), Limits{}, Kind},
		{"unknown kind", patched(t, func(h []byte) { h[156] = 'Q' }), Limits{}, Kind},
		{"same file twice", makeTar(t, file("a", "1"), file("a", "2")), Limits{}, Collision},
		{"same file spelled twice", makeTar(t, file("a", "1"), file("./a", "2")), Limits{}, Collision},
		{"link in a file's place", makeTar(t, file("a", "1"), symlink("a", "a")), Limits{}, Collision},
		{"file, then directory", makeTar(t, file("a", ""), file("a/b", "")), Limits{}, Collision},
		{"directory, then file", makeTar(t, file("a/b", ""), file("a", "")), Limits{}, Collision},
		{"case", makeTar(t, file("Readme", ""), file("README", "")), Limits{}, Collision},
		{"case of a directory", makeTar(t, file("Dir/a", ""), file("dir/b", "")), Limits{}, Collision},
		{"case beyond ASCII", makeTar(t, file("straße", ""), file("STRASSE", "")), Limits{}, Collision},
		{"Unicode form", makeTar(t, file("caf\u00e9", ""), file("cafe\u0301", "")), Limits{}, Collision},
		{"too many entries", makeTar(t, many(11)...), Limits{Entries: 10}, Limit},
		{"big file", makeTar(t, file("a", strings.Repeat("x", 11))), Limits{FileBytes: 10}, Limit},
		{"big together", makeTar(t, file("a", "123456"), file("b", "123456")), Limits{Bytes: 10}, Limit},
		{"big by links", makeTar(t, file("a", "123456"), hardlink("b", "a")), Limits{Bytes: 10}, Limit},
		{"claimed size", patched(t, func(h []byte) { copy(h[124:136], "77777777777\x00") }), Limits{}, Limit},
		{"deep", makeTar(t, file("a/b/c/d", "")), Limits{Depth: 3}, Limit},
		{"long path", makeTar(t, file("abcdef", "")), Limits{PathBytes: 5}, Limit},
		{"long name", makeTar(t, file(strings.Repeat("x", 256), "")), Limits{}, Limit},
		{"empty", nil, Limits{}, Format},
		{"no archive", []byte("kind: ConfigMap\n"), Limits{}, Other},
		{"zip", []byte("PK\x03\x04" + strings.Repeat("\x00", 1024)), Limits{}, Other},
		{"nothing in it, no end", make([]byte, 512), Limits{}, Format},
		{"cut off in its first header", good[:300], Limits{}, Format},
		{"cut off in a file", good[:2000], Limits{}, Format},
		{"cut off before the end mark", good[:len(good)-1024], Limits{}, Format},
		{"gzip cut off", zip(t, good)[:60], Limits{}, Format},
		{"gzip with a wrong sum", broken(zip(t, good)), Limits{}, Format},
		{"trailing garbage", append(bytes.Clone(good), "garbage"...), Limits{}, Format},
		{"trailing garbage in gzip", zip(t, append(bytes.Clone(good), "garbage"...)), Limits{}, Format},
		{"trailing garbage behind gzip", append(zip(t, good), "garbage"...), Limits{}, Format},
		{"second archive behind", append(bytes.Clone(good), good...), Limits{}, Format},
		{"not gzip", []byte{0x1f, 0x8b, 0, 0}, Limits{}, Format},
	} {
		t.Run(c.name, func(t *testing.T) {
			wantRefused(t, c.rule, func(dir string) error { return Extract(t.Context(), bytes.NewReader(c.data), dir, c.limits) })
		})
	}
}

func broken(gz []byte) []byte {
	out := bytes.Clone(gz)
	out[len(out)-6] ^= 0xff
	return out
}

// endless is a tar of ever more entries or of one endless file, made while it is read.
type endless struct {
	next func() []byte
	rest []byte
	read int64
}

func (e *endless) Read(p []byte) (int, error) {
	if len(e.rest) == 0 {
		e.rest = e.next()
	}
	n := copy(p, e.rest)
	e.rest, e.read = e.rest[n:], e.read+int64(n)
	return n, nil
}

// A million entries, an endless run of extended headers and a bomb are refused long before they are read.
func TestEndlessArchives(t *testing.T) {
	entry := makeTar(t, dir("d"))[:512]
	pax := makeTar(t, item{name: "x", kind: tar.TypeReg, pax: map[string]string{"HAWSER.x": strings.Repeat("x", 900<<10)}})
	pax = pax[:len(pax)-3*512]
	for name, next := range map[string]func() []byte{
		"entries":          func() []byte { return entry },
		"extended headers": func() []byte { return pax },
		"zeros":            func() []byte { return make([]byte, 64<<10) },
	} {
		t.Run(name, func(t *testing.T) {
			in := &endless{next: next}
			limits := Limits{Bytes: 8 << 20}
			wantRefused(t, Limit, func(dir string) error { return Extract(t.Context(), in, dir, limits) })
			if in.read > 64<<20 {
				t.Errorf("%d MiB were read before it was refused", in.read>>20)
			}
		})
	}
	bomb := zip(t, makeTar(t, file("zeros", strings.Repeat("\x00", 40<<20))))
	wantRefused(t, Limit, func(dir string) error { return Extract(t.Context(), bytes.NewReader(bomb), dir, Limits{}) })
}

// An extraction that is cancelled, or whose reader or disk fails, is no refusal and leaves nothing behind.
func TestExtractInterrupted(t *testing.T) {
	parent := t.TempDir()
	ctx, cancel := context.WithCancel(t.Context())
	entry, n := makeTar(t, dir("d"))[:512], 0
	in := &endless{next: func() []byte {
		if n++; n == 300 {
			cancel()
		}
		return entry
	}}
	if err := Extract(ctx, in, filepath.Join(parent, "out"), Limits{}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	taken := filepath.Join(parent, "taken")
	if err := os.WriteFile(taken, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := Extract(t.Context(), bytes.NewReader(makeTar(t)), taken, Limits{}); !errors.Is(err, fs.ErrExist) {
		t.Errorf("a directory that exists: %v", err)
	}
	if err := Extract(t.Context(), bytes.NewReader(makeTar(t)), filepath.Join(parent, "no", "out"), Limits{}); !errors.Is(err, fs.ErrNotExist) || IsRefused(err) {
		t.Errorf("no parent: %v", err)
	}
	if left, _ := os.ReadDir(parent); len(left) != 1 {
		t.Errorf("left behind: %v", left)
	}
}

// The same files give the same bytes, whatever their times, modes and order are; what is written can be extracted.
func TestWrite(t *testing.T) {
	files := map[string]string{"b/c/d.yaml": "d", "a.yaml": "a", "b/b.yaml": "b", strings.Repeat("x/", 60) + strings.Repeat("y", 60): "long"}
	var first []byte
	for i, order := range [][]int{{0, 1, 2, 3}, {3, 1, 0, 2}} {
		root := t.TempDir()
		var names []string
		for name := range files {
			names = append(names, name)
		}
		var list []string
		for _, at := range order {
			name := names[at]
			list = append(list, name)
			p := filepath.Join(root, name)
			if err := errors.Join(os.MkdirAll(filepath.Dir(p), 0o750), os.WriteFile(p, []byte(files[name]), 0o600+os.FileMode(i)*0o111),
				os.Chtimes(p, time.Time{}, time.Unix(int64(i)*1e6, 0))); err != nil {
				t.Fatal(err)
			}
		}
		var b bytes.Buffer
		if err := Write(t.Context(), &b, root, list); err != nil {
			t.Fatal(err)
		}
		if i == 0 {
			first = b.Bytes()
		} else if !bytes.Equal(first, b.Bytes()) {
			t.Error("the same files gave other bytes")
		}
		out := filepath.Join(t.TempDir(), "out")
		if err := Extract(t.Context(), bytes.NewReader(b.Bytes()), out, Limits{Depth: 100}); err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(files, tree(t, out)); d != "" {
			t.Error(d)
		}
	}
}

// Nothing outside the root gets into an archive, and no directory does as a file.
func TestWriteRefuses(t *testing.T) {
	outside, root := t.TempDir(), t.TempDir()
	secret := filepath.Join(outside, "secret")
	if err := errors.Join(os.WriteFile(secret, []byte("s"), 0o600), os.Symlink(secret, filepath.Join(root, "link")),
		os.Mkdir(filepath.Join(root, "dir"), 0o755)); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"link", "../" + filepath.Base(outside) + "/secret", secret, "dir", "missing"} {
		var b bytes.Buffer
		if err := Write(t.Context(), &b, root, []string{name}); err == nil {
			t.Errorf("%s was written", name)
		}
	}
}

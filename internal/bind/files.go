package bind

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"path/filepath"
	"strings"
	"sync"

	"cuelang.org/go/cue/parser"

	"hawser.dev/hawser/api/v1alpha1"
	"hawser.dev/hawser/internal/cuelang"
	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/rootfs"
)

// stdinName is what positions call standard input.
const stdinName = "-"

// maxFileChain is how many files may lead to one another by {from: {file: ...}}.
const maxFileChain = 8

// Files reads the files that values come from. A file lies below the root of the one that names it: the nearest
// directory with .git or cue.mod, without one the naming file's own; links that lead out of it are refused. Each file
// is read once. The zero Files is ready; its methods may be called concurrently.
type Files struct {
	// Limits bound what is read; zero fields mean the defaults.
	Limits cuelang.Limits

	mu   sync.Mutex
	read map[string]file
}

// file is one file that was read, or why it was not.
type file struct {
	data []byte
	err  error
}

// Value is the value that f takes from its file, with positions in that file; values that the file takes from others
// are sealed (other instances) or read (files).
func (r *Files) Value(f From) (*v1alpha1.Value, *diag.Finding) {
	root, n := r.root(f)
	if n != nil {
		return nil, n
	}
	return r.value(f, root, 1)
}

// Read maps the files read so far, as absolute paths, to "sha256:<hex>" of their content.
func (r *Files) Read() map[string]string {
	r.mu.Lock()
	defer r.mu.Unlock()
	out := make(map[string]string, len(r.read))
	for path, f := range r.read {
		if f.err == nil {
			sum := sha256.Sum256(f.data)
			out[path] = "sha256:" + hex.EncodeToString(sum[:])
		}
	}
	return out
}

// root is the directory that bounds what the naming file may name.
func (r *Files) root(f From) (string, *diag.Finding) {
	if f.fileName == stdinName || f.fileName == "" {
		n := f.Finding("value-from", "a file cannot be named on standard input")
		n.Why, n.Fix = "its path is relative to the file that holds it", "give the bundle as a file"
		return "", n
	}
	dir, err := dirOf(f.fileName)
	if err == nil {
		dir, _, err = rootfs.Bound(dir, rootfs.Marks...)
	}
	if err != nil {
		return "", f.fileFinding(err)
	}
	return dir, nil
}

// dirOf is the directory of a file that positions name, links resolved.
func dirOf(name string) (string, error) {
	abs, err := filepath.Abs(name)
	if err != nil {
		return "", err
	}
	return filepath.EvalSymlinks(filepath.Dir(abs))
}

func (r *Files) value(f From, root string, depth int) (*v1alpha1.Value, *diag.Finding) {
	if depth > maxFileChain {
		return nil, f.Finding("value-from", "%s: more than %d files take values of one another", f.File, maxFileChain)
	}
	src, abs, n := r.content(f, root)
	if n != nil {
		return nil, n
	}
	x, n := f.parse(src, display(f.fileName, abs))
	if n != nil {
		return nil, n
	}
	if x, n = f.choose(x); n != nil {
		return nil, n
	}
	if f.note != nil {
		notes := append(unquoted(x, f.Path, inFile(src)), mistaken(x, f.Path)...)
		for i := range notes {
			below := strings.TrimPrefix(strings.TrimPrefix(notes[i].Path, f.Path.String()), ".")
			notes[i].Path = strings.Trim(f.At+"."+below, ".")
		}
		f.note(notes)
	}
	x, fs := bindIn(x, Fill{From: func(inner From) (*v1alpha1.Value, *diag.Finding) {
		if inner.File != "" {
			inner.chart, inner.note = f.chart, f.note
			return r.value(inner, root, depth+1)
		}
		return seal(inner.node), nil
	}})
	if len(fs) > 0 {
		fs[0].Path = strings.TrimSuffix(f.At+"."+fs[0].Path, ".")
		return nil, &fs[0]
	}
	return x, nil
}

// content is the file's content and absolute path.
func (r *Files) content(f From, root string) ([]byte, string, *diag.Finding) {
	dir, err := dirOf(f.fileName)
	if err != nil {
		return nil, "", f.fileFinding(err)
	}
	if filepath.IsAbs(f.File) || strings.Contains(f.File, "://") {
		n := f.Finding("value-from", "%s must be a relative path", f.File)
		n.Why = "values are read from beside the bundle"
		return nil, "", n
	}
	abs := filepath.Join(dir, filepath.FromSlash(f.File))
	rel, err := filepath.Rel(root, abs)
	if err != nil || !filepath.IsLocal(rel) {
		n := f.Finding("value-from", "%s lies outside of what may be read", f.File)
		n.Why = "the root is the nearest directory with .git or cue.mod, else the directory of the file that names it"
		return nil, "", n
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	got, ok := r.read[abs]
	if !ok {
		got.data, got.err = rootfs.Read(root, filepath.ToSlash(rel), r.Limits.WithDefaults().SourceBytes)
		got.data = bytes.TrimPrefix(got.data, []byte("\ufeff"))
		if r.read == nil {
			r.read = map[string]file{}
		}
		r.read[abs] = got
	}
	if got.err != nil {
		return nil, "", f.fileFinding(got.err)
	}
	return got.data, abs, nil
}

func (f From) fileFinding(err error) *diag.Finding {
	if pe := (*fs.PathError)(nil); errors.As(err, &pe) {
		err = pe.Err
	}
	n := f.Finding("value-from", "%s cannot be read", f.File)
	n.Why = err.Error()
	return n
}

// display is what the user knows a file as: relative in the way the file that names it is.
func display(naming, abs string) string {
	if filepath.IsAbs(naming) {
		return abs
	}
	cwd, err := filepath.Abs(".")
	if err != nil {
		return abs
	}
	if resolved, err := filepath.EvalSymlinks(cwd); err == nil {
		cwd = resolved
	}
	if rel, err := filepath.Rel(cwd, abs); err == nil && filepath.IsLocal(rel) {
		return filepath.ToSlash(rel)
	}
	return abs
}

// parse reads the file's content by its extension, or as asked for.
func (f From) parse(src []byte, name string) (*v1alpha1.Value, *diag.Finding) {
	fail := func(fs diag.Findings) (*v1alpha1.Value, *diag.Finding) { return nil, &fs[0] }
	format := f.As
	ext := strings.ToLower(filepath.Ext(name))
	switch {
	case format != Inherent:
	case ext == ".yaml", ext == ".yml":
		format = AsYAML
	case ext == ".json":
		format = AsJSON
	case ext == ".cue":
		return f.parseCUE(src, name)
	default:
		format = AsText
	}
	if format == AsText {
		if fs := cuelang.CheckText(name, src); fs != nil {
			return fail(fs)
		}
		return text(string(src), f.node.Pos), nil
	}
	read := func(name string, src []byte) (*v1alpha1.Value, error) { return parseData(format, name, src) }
	if f.chart && format == AsYAML {
		read = chartData
	}
	x, err := read(name, src)
	if err == nil && nothing(x) { // no document, or null
		x = &v1alpha1.Value{}
		if f.At == "" && len(f.Path) == 0 { // an empty file of values gives none
			return &v1alpha1.Value{Kind: v1alpha1.KindStruct, Pos: f.node.Pos}, nil
		}
	}
	if err == nil {
		err = fits(x)
	}
	if err != nil {
		return fail(cuelang.FindingsFor(err, cuelang.Show{Code: "syntax"}))
	}
	return x, nil
}

// nothing reports that a file holds no data.
func nothing(x *v1alpha1.Value) bool {
	return x.Null() || x.Kind == v1alpha1.KindStruct && len(x.Fields) == 0
}

// parseCUE reads a CUE file that is data: fields, lists and literals.
func (f From) parseCUE(src []byte, name string) (*v1alpha1.Value, *diag.Finding) {
	if fs := cuelang.CheckSource(name, src, cuelang.Limits{}); fs != nil {
		return nil, &fs[0]
	}
	parsed, err := parser.ParseFile(name, src)
	if err != nil {
		return nil, &cuelang.FindingsFor(err, cuelang.Show{Code: "syntax"})[0]
	}
	x, err := cuelang.FromFile(parsed)
	if err == nil {
		err = fits(x)
	}
	if err != nil {
		n := cuelang.FindingsFor(err, cuelang.Show{Code: "value-from"})[0]
		n.Fix = "a file of values holds data only: fields, lists and literals"
		return nil, &n
	}
	return x, nil
}

// fits checks that all numbers are of 64 bits.
func fits(x *v1alpha1.Value) error {
	_, err := x.Any()
	if out := (*v1alpha1.RangeError)(nil); errors.As(err, &out) {
		return cuelang.Errorf(cuelang.TokenPos(out.Pos), nil, "%s", out.Error())
	}
	return err
}

// choose follows the path into a file's data.
func (f From) choose(x *v1alpha1.Value) (*v1alpha1.Value, *diag.Finding) {
	if _, isText := x.Str(); isText && len(f.Path) > 0 {
		return nil, f.Finding("value-from", "%s is read as text, there is no %s in it", f.File, f.Path)
	}
	found := x
	for _, s := range f.Path {
		if found, _ = found.Step(s); found == nil {
			break
		}
	}
	if found != nil {
		return found, nil
	}
	n := f.Finding("value-from", "%s has no %s", f.File, f.Path)
	if v, err := x.Any(); err == nil {
		_, err = f.Path.Lookup(v)
		if missing := (*v1alpha1.MissingError)(nil); errors.As(err, &missing) {
			n.Why, n.Fix = missing.Error(), diag.DidYouMean(missing.Step, missing.Have)
		}
	}
	return nil, n
}

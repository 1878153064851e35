package document

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"cuelang.org/go/cue/ast"

	"hawser.dev/hawser/internal/cuelang"
	"hawser.dev/hawser/internal/defaults"
	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/rootfs"
)

// syntax is how a file is written.
type syntax string

const (
	syntaxCUE  syntax = "cue"
	syntaxYAML syntax = "yaml"
	syntaxJSON syntax = "json"
)

// embedded is the name in cueNames of what a CUE file declares without a plain name.
const embedded = "{embedded}"

// stdinName is the display name of standard input.
const stdinName = "-"

// source is one file of the user.
type source struct {
	// name is the file as the user knows it: relative to the current directory when below it.
	name string
	// abs is "" for standard input; dir is the current directory then.
	abs, dir string
	data     []byte
	syntax   syntax
	// from is the directory given that holds the file, "" for a file given by itself.
	from string
	// cueNames are the top-level field names of a CUE file; embedded stands for what is declared without a plain name.
	cueNames map[string]ast.Node
	// fleetInside is set when a comprehension of a CUE file declares a fleet.
	fleetInside bool
	// loads is true when the file needs the module loader: it imports or embeds.
	loads bool
	// docs are the documents of a YAML or JSON file, as they were written.
	docs []*document
}

// File is one file a Program was read from.
type File struct {
	// Path is the file as the user knows it; Digest is "sha256:<hex>" of its content.
	Path, Digest string
}

type reader struct {
	cwd      string
	stdin    io.Reader
	limits   cuelang.Limits
	seen     map[string]*source
	fleet    bool // what is read now is given for the fleet
	all      []*source
	files    rootfs.Bounded
	findings diag.Findings
}

// read expands the arguments and reads every file once.
func (r *reader) read(ctx context.Context, args []string) []*source {
	var out []*source
	for _, arg := range args {
		for _, name := range strings.Split(arg, ",") {
			name = strings.TrimSpace(name)
			if name == "" || ctx.Err() != nil {
				continue
			}
			for _, s := range r.expand(name) {
				if !slices.Contains(out, s) {
					out = append(out, s)
				}
			}
		}
	}
	return out
}

func (r *reader) expand(name string) []*source {
	if name == stdinName {
		return r.one(stdinName, "")
	}
	info, err := rootfs.Stat(name)
	if err != nil {
		r.fail("unreadable", name, "file does not exist or cannot be read", err)
		r.findings[len(r.findings)-1].Fix = instead(name, r.fleet)
		return nil
	}
	if !info.IsDir() {
		return r.one(name, "")
	}
	var out []*source
	failed := len(r.findings)
	for _, file := range r.inDirectory(name) {
		out = append(out, r.one(file, name)...)
	}
	if len(out) == 0 && len(r.findings) == failed {
		r.fail("no-documents", name, "the files of the directory hold nothing", nil)
	}
	return out
}

// inDirectory lists the documents directly in a directory, or, when there are none, the manifests anywhere below it.
func (r *reader) inDirectory(dir string) []string {
	entries, err := os.ReadDir(dir)
	if err != nil {
		r.fail("unreadable", dir, "directory cannot be read", err)
		return nil
	}
	var out []string
	for _, e := range entries {
		if e.Name() == defaults.File && defaults.In(dir) {
			continue
		}
		if _, known := syntaxOf(e.Name()); known && !e.IsDir() && !hidden(e.Name()) {
			out = append(out, filepath.Join(dir, e.Name()))
		}
	}
	if len(out) > 0 {
		return out
	}
	if out = r.below(dir); len(out) == 0 && !slices.ContainsFunc(r.findings, func(f diag.Finding) bool { return f.Pos.File == dir }) {
		r.fail("no-documents", dir, "directory holds no .cue, .yaml, .yml or .json file", nil)
	}
	return out
}

// below lists the manifests anywhere in a directory, without its defaults and theirs.
func (r *reader) below(dir string) (out []string) {
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if path != dir && (hidden(e.Name()) || e.IsDir() && e.Name() == "cue.mod") {
			if e.IsDir() {
				return filepath.SkipDir
			}
			return nil
		}
		if s, known := syntaxOf(e.Name()); known && s != syntaxCUE && !e.IsDir() && (e.Name() != defaults.File || !defaults.In(filepath.Dir(path))) {
			out = append(out, path)
		}
		if len(out) > r.limits.Files {
			return fmt.Errorf("more than %d files", r.limits.Files)
		}
		return nil
	})
	if err != nil {
		r.fail("unreadable", dir, "directory cannot be read", err)
	}
	return out
}

// readBelow reads what lies below the directories among the arguments, where no file that was read says what runs: there is nothing but a
// fleet at their top. It returns what is new.
func (r *reader) readBelow(ctx context.Context, args []string, files []*source) (out []*source) {
	if slices.ContainsFunc(files, (*source).saysWhatRuns) {
		return nil
	}
	r.fleet = false
	for _, arg := range args {
		for _, name := range strings.Split(arg, ",") {
			name = strings.TrimSpace(name)
			if info, err := rootfs.Stat(name); err != nil || !info.IsDir() || ctx.Err() != nil {
				continue
			}
			for _, file := range r.below(name) {
				for _, s := range r.one(file, name) {
					if !slices.Contains(files, s) && !slices.Contains(out, s) {
						out = append(out, s)
					}
				}
			}
		}
	}
	return out
}

// instead is what was perhaps meant by a file that is not there, which was to be a fleet's or another one.
func instead(name string, fleet bool) string {
	if strings.Contains(name, "://") {
		return "files are read from the disk; pipe others in: curl -fsSL " + name + " | hawser ... -f -"
	}
	if rootfs.Given(name) != nil {
		return "name what it leads to itself"
	}
	return cmp.Or(diag.OneOf(filepath.ToSlash(filepath.Clean(name)), defaults.Beside(name, fleet)), "name a file or a directory that is there; a relative path starts at the current directory")
}

func hidden(name string) bool { return strings.HasPrefix(name, ".") }

func (r *reader) one(name, from string) []*source {
	s := &source{name: name, dir: r.cwd, from: from}
	if name != stdinName {
		abs, err := filepath.Abs(name)
		if err != nil {
			r.fail("unreadable", name, "path cannot be resolved", err)
			return nil
		}
		s.abs, s.dir, s.name = abs, filepath.Dir(abs), display(r.cwd, abs)
	}
	if old, ok := r.seen[s.abs]; ok {
		if !r.fleet && old.from == "" {
			old.from = from // its directory was given, too
		}
		return []*source{old}
	}
	if len(r.all) >= r.limits.Files {
		r.fail("too-many-files", s.name, fmt.Sprintf("more than %d files", r.limits.Files), nil)
		return nil
	}
	r.seen[s.abs] = s
	if n, ok := foreign(s.name, from); ok {
		r.findings = append(r.findings, n)
		return nil
	}
	if !r.fill(s) || from != "" && s.syntax != syntaxCUE && cuelang.Blank(s.data) { // kubectl passes over those of a directory too
		return nil
	}
	r.all = append(r.all, s)
	return []*source{s}
}

func (r *reader) fill(s *source) bool {
	in := r.stdin
	if s.name != stdinName {
		known := false
		if s.syntax, known = syntaxOf(s.abs); !known {
			r.fail("unsupported-file", s.name, "unsupported file extension", errors.New("expected .cue, .yaml, .yml or .json"))
			return false
		}
		f, err := r.files.Open(s.abs, s.from)
		if err != nil {
			r.fail("unreadable", s.name, "file cannot be read", err)
			return false
		}
		defer func() { _ = f.Close() }()
		in = f
	} else if in == nil {
		r.fail("unreadable", s.name, "there is no standard input", nil)
		return false
	}
	data, err := io.ReadAll(io.LimitReader(in, int64(r.limits.SourceBytes)+1))
	if err != nil {
		r.fail("unreadable", s.name, "file cannot be read", err)
		return false
	}
	if len(data) > r.limits.SourceBytes {
		r.fail("source-too-large", s.name, fmt.Sprintf("file has more than %d bytes", r.limits.SourceBytes), nil)
		return false
	}
	s.data = bytes.TrimPrefix(data, []byte("\ufeff"))
	if s.syntax == "" {
		if s.syntax = syntaxCUE; cuelang.LooksLikeYAML(stdinName, s.data, r.limits) {
			s.syntax = syntaxYAML
		}
	}
	return true
}

func syntaxOf(name string) (syntax, bool) {
	switch strings.ToLower(filepath.Ext(name)) {
	case ".cue":
		return syntaxCUE, true
	case ".yaml", ".yml":
		return syntaxYAML, true
	case ".json":
		return syntaxJSON, true
	}
	return "", false
}

// display is the path relative to the current directory when below it, else absolute.
func display(cwd, abs string) string {
	if rel, err := filepath.Rel(cwd, abs); err == nil && filepath.IsLocal(rel) {
		return filepath.ToSlash(rel)
	}
	return abs
}

func (r *reader) fail(code, name, what string, err error) {
	f := diag.Errorf(code, "%s", what)
	f.Pos = diag.Pos{File: name}
	if err != nil {
		var pe *fs.PathError
		if errors.As(err, &pe) {
			err = pe.Err
		}
		f.Why = err.Error()
	}
	r.findings = append(r.findings, f)
}

// Files lists the files that were read, in the order they were given, with what they import from the user's own
// module; standard input is "-".
func (p *Program) Files() []File {
	out := make([]File, 0, len(p.all))
	for _, s := range p.all {
		out = append(out, File{Path: s.name, Digest: digestOf(s.data)})
	}
	if !slices.ContainsFunc(p.all, func(s *source) bool { return s.loads }) {
		return out
	}
	return append(out, p.ask(Question{About: AboutImports}).Files...)
}

// imported lists the user's files that are read besides those given: imported packages and embedded files.
func (p *Program) imported() []File {
	files, _, err := p.syntax(p.all, nil)
	if err != nil {
		return nil
	}
	var out []File
	for path, data := range p.module.Files(files) {
		out = append(out, File{Path: display(p.cwd, path), Digest: digestOf(data)})
	}
	slices.SortFunc(out, func(a, b File) int { return strings.Compare(a.Path, b.Path) })
	return out
}

// Digest is "sha256:<hex>" over the contents of Files, those that were given in order. Names do not count: they say where
// a command is run.
func (p *Program) Digest() string {
	h := sha256.New()
	files := p.Files()
	slices.SortFunc(files[len(p.all):], func(a, b File) int { return strings.Compare(a.Digest, b.Digest) })
	for _, f := range files {
		_, _ = io.WriteString(h, f.Digest+"\n")
	}
	return "sha256:" + hex.EncodeToString(h.Sum(nil))
}

func digestOf(data []byte) string {
	sum := sha256.Sum256(data)
	return "sha256:" + hex.EncodeToString(sum[:])
}

// foreign tells of a file that makes its directory the source of an instance: a bundle names it, it is none itself. from
// is the directory that was given, "" when the file was.
func foreign(name, from string) (diag.Finding, bool) {
	dir := filepath.ToSlash(filepath.Dir(name))
	local := dir
	if filepath.IsLocal(dir) && dir != "." {
		local = "./" + dir
	}
	what, fix := "", ""
	switch filepath.Base(name) {
	case "Chart.yaml":
		what, fix = "a chart", fmt.Sprintf("helm: {chart: %s}", local)
	case "kustomization.yaml", "kustomization.yml":
		what, fix = "a kustomization", fmt.Sprintf("kustomize: {path: %s}", local)
	case "timoni.cue":
		what, fix = "a module", fmt.Sprintf("module: {url: \"file://%s\"}", local)
	default:
		return diag.Finding{}, false
	}
	n := diag.Errorf("not-a-bundle", "%s is %s, not a bundle", dir, what)
	n.Pos = diag.Pos{File: name}
	n.Fix = "write a bundle with an instance of it: " + fix
	if what == "a module" {
		n.Fix += "; a module alone is rendered with: hawser module build " + local
	}
	if from != "" && filepath.Clean(from) != filepath.Clean(dir) && !filepath.IsAbs(dir) {
		n.Why = "it lies below " + from
	}
	return n, true
}

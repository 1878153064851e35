package cue

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"cuelang.org/go/cue/ast"
	"cuelang.org/go/cue/build"
	"cuelang.org/go/cue/cuecontext"
	"cuelang.org/go/cue/errors"
	"cuelang.org/go/cue/load"
	"cuelang.org/go/cue/parser"
	"cuelang.org/go/cue/token"

	"hawser.dev/hawser/internal/cuelang"
	"hawser.dev/hawser/internal/module"
	"hawser.dev/hawser/internal/render"
)

// maxPackages is how many loaded modules are kept; the one not used for longest goes first.
const maxPackages = 64

// load is the module of a request, read once for each content digest, root, package name and tags.
func (r *Renderer) load(ctx context.Context, req render.Request) (*pkg, error) {
	tags := slices.Compact(slices.Sorted(slices.Values(req.Tags)))
	key := fmt.Sprintf("%s\x00%s\x00%s\x00%q", req.Content.Digest, req.Content.Root, packageName(req), tags)
	return r.packages.Get(ctx, key, func() (*pkg, error) { return loadPackage(req.Content, packageName(req), tags, r.opts.Limits) })
}

// source is one file of the root package, parsed again for every render.
type source struct {
	name string
	text []byte
	cfg  parser.Config
	loc  token.FSLoc // where embedded files are looked for
}

// pkg is a loaded module: sources of its root package and its imports, which are shared by all renders.
type pkg struct {
	name    string
	sources []source
	values  source // values.cue, whether or not its @if lets it in
	tags    []string
	root    *build.Instance
	imports map[string]*build.Instance

	mu  sync.Mutex // guards ctx: Complete writes into shared imports
	ctx *build.Context
}

// loadPackage runs the official loader once. It reads nothing but the content's files and no registry.
func loadPackage(content module.Content, name string, tags []string, limits cuelang.Limits) (*pkg, error) {
	files, err := overlay(content, limits)
	if err != nil {
		return nil, err
	}
	values, err := content.ReadFile("values.cue", limits.SourceBytes)
	if err != nil {
		return nil, errors.Newf(token.NoPos, "the module has no values.cue")
	}
	rec := &recorder{limits: limits}
	inst, err := loadInstance(files, name, tags, rec)
	if err != nil {
		return nil, err
	}
	p := &pkg{name: name, tags: tags, root: inst, imports: map[string]*build.Instance{}}
	for _, f := range inst.Files {
		s, ok := rec.get(f.Filename)
		if !ok {
			return nil, errors.Newf(token.NoPos, "%s was not read", f.Filename)
		}
		if tf := f.Pos().File(); tf != nil {
			s.loc = tf.FSLoc()
		}
		p.sources = append(p.sources, s)
	}
	p.values = source{name: modulePrefix + "values.cue", text: values}
	if len(p.sources) > 0 {
		p.values.cfg = p.sources[0].cfg
	}
	for _, imp := range inst.Imports {
		p.imports[imp.ImportPath] = imp
	}
	p.ctx = build.NewContext(build.Loader(p.loader))
	return p, p.prime()
}

func loadInstance(files map[string]load.Source, name string, tags []string, rec *recorder) (*build.Instance, error) {
	for {
		rec.reset()
		cfg := &load.Config{
			Dir: virtualRoot, ModuleRoot: virtualRoot, Overlay: files, Package: name, Tags: tags,
			Env: []string{"CUE_REGISTRY=none"}, ParseFile: rec.parse,
		}
		insts := load.Instances([]string{"."}, cfg)
		if len(insts) != 1 {
			return nil, errors.Newf(token.NoPos, "the module's root holds %d packages, want %q", len(insts), name)
		}
		inst := insts[0]
		if inst.Err == nil {
			return inst, nil
		}
		if rest, unused := withoutUnused(tags, inst.Err); unused {
			tags = rest
			continue
		}
		return nil, inst.Err
	}
}

// withoutUnused drops the tag an error of the loader calls unused: a tag a module does not know says nothing to it.
func withoutUnused(tags []string, err error) ([]string, bool) {
	for i, t := range tags {
		if strings.Contains(err.Error(), fmt.Sprintf("tag %q not used in any file", t)) {
			return slices.Delete(slices.Clone(tags), i, i+1), true
		}
	}
	return nil, false
}

// prime completes one throw-away root, so that later ones find all imports in the build context.
func (p *pkg) prime() error {
	inst := p.newInstance()
	for _, s := range p.sources {
		f, err := s.parse()
		if err != nil {
			return err
		}
		if err := inst.AddSyntax(f); err != nil {
			return err
		}
	}
	if err := p.complete(inst); err != nil {
		return err
	}
	// One evaluation of each import also fills what the syntax trees resolve lazily.
	ctx := cuecontext.New()
	for _, imp := range inst.Imports {
		v, err := cuelang.Build(ctx, imp)
		if err == nil {
			err = v.Err()
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (p *pkg) complete(inst *build.Instance) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return inst.Complete()
}

// newInstance is an empty root package with the identity of the loaded one.
func (p *pkg) newInstance() *build.Instance {
	inst := p.ctx.NewInstance(p.root.Dir, p.loader)
	inst.PkgName = p.root.PkgName
	inst.ImportPath = p.root.ImportPath
	inst.CanonicalID = p.root.CanonicalID
	inst.CanonicalImportPath = p.root.CanonicalImportPath
	inst.Module, inst.ModuleVersion, inst.ModuleFile = p.root.Module, p.root.ModuleVersion, p.root.ModuleFile
	inst.Root, inst.RootLoc = p.root.Root, p.root.RootLoc
	inst.DirLoc = p.root.DirLoc
	inst.DisplayPath = p.root.DisplayPath
	return inst
}

func (p *pkg) loader(_ token.Pos, path string) *build.Instance { return p.imports[path] }

func (s source) parse() (*ast.File, error) {
	f, err := parser.ParseFile(s.name, s.text, s.cfg)
	if err == nil && !s.loc.IsZero() {
		if tf := f.Pos().File(); tf != nil {
			tf.SetFSLoc(s.loc)
		}
	}
	return f, err
}

// recorder parses for the loader, keeps what the files of the root package were parsed from, and applies limits.
type recorder struct {
	limits cuelang.Limits
	mu     sync.Mutex
	files  map[string]source
}

func (r *recorder) reset() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.files = map[string]source{}
}

func (r *recorder) get(name string) (source, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	s, ok := r.files[name]
	return s, ok
}

func (r *recorder) parse(name string, src any, cfg parser.Config) (*ast.File, error) {
	text, ok := src.([]byte)
	if !ok {
		return parser.ParseFile(name, src, cfg)
	}
	if fs := cuelang.CheckSource(name, text, r.limits); fs.HasErrors() {
		return nil, sourceError(name, text, fs[0].Pos.Line, fs[0].What)
	}
	if rest, ok := strings.CutPrefix(name, modulePrefix); ok && !strings.Contains(rest, "/") {
		r.mu.Lock()
		r.files[name] = source{name: name, text: text, cfg: cfg}
		r.mu.Unlock()
	}
	return parser.ParseFile(name, text, cfg)
}

func sourceError(name string, text []byte, line int, what string) error {
	file := token.NewFile(name, -1, len(text))
	file.SetLinesForContent(text)
	pos := token.NoPos
	if line > 0 && line <= file.LineCount() {
		pos = file.Pos(file.Lines()[line-1], token.NoRelPos)
	}
	return errors.Newf(pos, "%s", what)
}

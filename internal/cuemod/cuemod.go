package cuemod

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"cuelang.org/go/cue"
	"cuelang.org/go/cue/ast"
	"cuelang.org/go/cue/build"
	"cuelang.org/go/cue/cuecontext"
	"cuelang.org/go/cue/inject/embed"
	"cuelang.org/go/cue/load"
	"cuelang.org/go/mod/modfile"
	"cuelang.org/go/mod/module"

	"hawser.dev/hawser/internal/cuelang"
	"hawser.dev/hawser/internal/rootfs"
)

// moduleFile is where a module says its name.
const moduleFile = "cue.mod/module.cue"

// Module is a directory and the CUE module it belongs to. Its methods may be called concurrently.
type Module struct {
	// Dir is the absolute directory where relative embeds start, Root the nearest one above it with cue.mod; "" when there
	// is none: then nothing can be imported or embedded.
	Dir, Root string
	// Limits bound what is read.
	Limits cuelang.Limits
	// Show gives a file's name as the user knows it; nil leaves it.
	Show func(path string) string

	file []byte
}

// Find looks for cue.mod in an absolute directory and above. The error is a module.cue that cannot be read, or is a link
// that leads out of the module; it names the file.
func Find(dir string, limits cuelang.Limits) (*Module, error) {
	m := &Module{Dir: dir, Limits: limits.WithDefaults()}
	for d := dir; ; d = filepath.Dir(d) {
		if info, err := os.Stat(filepath.Join(d, filepath.FromSlash(moduleFile))); err == nil && !info.IsDir() {
			data, err := rootfs.Read(d, moduleFile, m.Limits.SourceBytes)
			if err != nil {
				return nil, &fs.PathError{Op: "read", Path: filepath.Join(d, filepath.FromSlash(moduleFile)), Err: err}
			}
			m.Root, m.file = d, data
			return m, nil
		}
		if d == filepath.Dir(d) {
			return m, nil
		}
	}
}

// Build makes one value of the files, whatever their names, in a context of its own, with the module's packages and
// embedded files. The compiler writes into the files.
func (m *Module) Build(files []*ast.File) (cue.Value, error) {
	inst, err := m.load(files)
	if err != nil {
		return cue.Value{}, err
	}
	if err := m.confine(inst, files); err != nil {
		return cue.Value{}, err
	}
	return cuelang.Build(cuecontext.New(cuecontext.WithInjection(embed.New())), inst)
}

// Files maps the files of the module that the given ones import or embed, as absolute paths, to their content.
func (m *Module) Files(files []*ast.File) map[string][]byte {
	out := map[string][]byte{}
	inst, err := m.load(files)
	if err != nil {
		return out
	}
	read := func(path string) {
		if data, err := m.read(path); err == nil {
			out[path] = data
		}
	}
	embedded := func(_ *ast.Attribute, path string) { read(path) }
	for _, f := range files {
		embeds(f, m.Dir, embedded)
	}
	for _, imp := range importsOf(inst) {
		for _, f := range imp.BuildFiles {
			read(f.Filename)
		}
		for _, f := range imp.Files {
			embeds(f, filepath.Dir(f.Filename), embedded)
		}
	}
	if m.Root != "" {
		read(filepath.Join(m.Root, filepath.FromSlash(moduleFile)))
	}
	return out
}

func (m *Module) show(path string) string {
	if m.Show == nil {
		return path
	}
	return m.Show(path)
}

// load runs CUE's module loader over virtual files in the working directory. It reads the module's own files and
// what cue.mod holds, and refuses to fetch anything.
func (m *Module) load(files []*ast.File) (*build.Instance, error) {
	overlay := map[string]load.Source{}
	if m.file != nil {
		overlay[filepath.Join(m.Root, filepath.FromSlash(moduleFile))] = load.FromBytes(m.file)
	}
	var args []string
	prefix := m.virtualPrefix()
	for i, f := range files {
		name := prefix + strconv.Itoa(i) + ".cue"
		overlay[filepath.Join(m.Dir, name)] = load.FromFile(f)
		args = append(args, "./"+name)
	}
	insts := load.Instances(args, &load.Config{
		Dir: m.Dir, ModuleRoot: m.Root, Package: "_", Overlay: overlay, Registry: noRegistry{}, ParseFile: m.parse,
	})
	if len(insts) != 1 {
		return nil, fmt.Errorf("expected one CUE instance, got %d", len(insts))
	}
	if err := insts[0].Err; err != nil {
		return nil, err
	}
	// Files given by themselves belong to no module, and only a module's files may embed others.
	insts[0].Module, insts[0].Root, insts[0].Dir = m.moduleName(), m.Root, m.Dir
	return insts[0], nil
}

// moduleName is the name the module root gives itself.
func (m *Module) moduleName() string {
	f, err := modfile.ParseNonStrict(m.file, filepath.Join(m.Root, filepath.FromSlash(moduleFile)))
	if err != nil {
		return ""
	}
	return f.Module
}

// virtualPrefix is a file name prefix no file in the working directory has.
func (m *Module) virtualPrefix() string {
	for i := 0; ; i++ {
		prefix := "hawser-" + strconv.Itoa(i) + "-"
		if found, err := filepath.Glob(filepath.Join(globQuote(m.Dir), prefix+"*")); err != nil || len(found) == 0 {
			return prefix
		}
	}
}

func globQuote(path string) string {
	return strings.NewReplacer("*", `\*`, "?", `\?`, "[", `\[`, `\`, `\\`).Replace(path)
}

// noRegistry keeps evaluation hermetic: modules come from cue.mod or from the module itself.
type noRegistry struct{}

var errNoRegistry = errors.New("modules are not fetched: put it below cue.mod")

func (noRegistry) ModFile(context.Context, module.Version) (*modfile.File, error) {
	return nil, errNoRegistry
}

func (noRegistry) Fetch(context.Context, module.Version) (module.SourceLoc, error) {
	return module.SourceLoc{}, errNoRegistry
}

func (noRegistry) ModuleVersions(context.Context, string) ([]string, error) {
	return nil, errNoRegistry
}

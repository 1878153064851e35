package toolchain

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	"cuelang.org/go/cue"
	"cuelang.org/go/cue/cuecontext"
	"cuelang.org/go/cue/load"

	"hawser.dev/hawser/internal/cuelang"
	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/lazyregexp"
	"hawser.dev/hawser/internal/module"
)

// Text gets a file of a module for reading: "readme" its README.md, "values" its values.cue, "schema" the file that
// defines #Config, "license" its LICENSE.
func (t *Tools) Text(ctx context.Context, m Module, what string) (string, error) {
	content, err := t.fetch(ctx, m)
	if err != nil {
		return "", err
	}
	name := map[string]string{"readme": "README.md", "values": "values.cue", "license": "LICENSE", "schema": schemaFile(content)}[what]
	if name == "" || !slices.Contains(content.Files, name) {
		return "", failure("no-such-file", "the module has no "+what, "")
	}
	return readFile(content, name)
}

func readFile(c module.Content, name string) (string, error) {
	data, err := c.ReadFile(name, cuelang.DefaultLimits().SourceBytes)
	return string(data), err
}

var configDefinition = lazyregexp.New(`(?m)^#Config:`)

// schemaFile is the first file that defines #Config.
func schemaFile(c module.Content) string {
	for _, name := range c.Files {
		if strings.HasSuffix(name, ".cue") && path.Dir(name) != "." && !strings.HasPrefix(name, "cue.mod/") {
			if text, err := readFile(c, name); err == nil && configDefinition.MatchString(text) {
				return name
			}
		}
	}
	return ""
}

// Info is what a module says of itself.
type Info struct {
	Module      string            `json:"module"`
	Path        string            `json:"path"`
	Version     string            `json:"version"`
	Digest      string            `json:"digest"`
	Annotations map[string]string `json:"annotations,omitempty"`
	Files       []string          `json:"files"`
}

// Info tells version, digest, annotations and files of a module.
func (t *Tools) Info(ctx context.Context, m Module) (Info, error) {
	content, err := t.fetch(ctx, m)
	if err != nil {
		return Info{}, err
	}
	text, err := readFile(content, "cue.mod/module.cue")
	if err != nil {
		return Info{}, err
	}
	p, err := pathOf([]byte(text))
	return Info{Module: m.url(), Path: p, Version: content.Version, Digest: content.Digest, Annotations: content.Annotations, Files: content.Files}, err
}

// Setting is one value a user may give.
type Setting struct {
	// Key is the path below values.
	Key string `json:"key"`
	// Type is CUE's name of the kind, Default the default as CUE, "" for none.
	Type     string `json:"type"`
	Default  string `json:"default,omitempty"`
	Required bool   `json:"required,omitempty"`
	// Doc is the comment on it.
	Doc string `json:"doc,omitempty"`
}

// Config lists the values a module takes, with types, defaults and comments, from its schema.
func (t *Tools) Config(ctx context.Context, m Module) ([]Setting, error) {
	content, err := t.fetch(ctx, m)
	if err != nil {
		return nil, err
	}
	defer t.Watchdog.Enter("the module")()
	v, err := evaluate(content)
	if err != nil {
		return nil, cuelang.FindingsFor(err, cuelang.Show{Code: "module", Rename: func(f string) string { return strings.TrimPrefix(f, virtualRoot+"/") }}).Err()
	}
	var out []Setting
	settings(&out, v.LookupPath(cue.ParsePath("values")), nil)
	return out, nil
}

// virtualRoot is where the loader sees a module: a directory that is on no disk, so that it reads nothing else.
const virtualRoot = "/@hawser/module"

// evaluate loads a module without a registry; tags stay open.
func evaluate(c module.Content) (cue.Value, error) {
	overlay := map[string]load.Source{}
	for _, name := range c.Files {
		if !strings.HasSuffix(name, ".cue") {
			continue
		}
		text, err := readFile(c, name)
		if err != nil {
			return cue.Value{}, err
		}
		if fs := cuelang.CheckSource(name, []byte(text), cuelang.Limits{}); fs.HasErrors() {
			return cue.Value{}, fs.Err()
		}
		overlay[virtualRoot+"/"+name] = load.FromString(text)
	}
	insts := load.Instances([]string{"."}, &load.Config{Dir: virtualRoot, ModuleRoot: virtualRoot, Overlay: overlay, Package: "main",
		Env: []string{"CUE_REGISTRY=none"}})
	if len(insts) != 1 {
		return cue.Value{}, diag.Findings{diag.Errorf("module", "the module's root holds %d packages, want main", len(insts))}.Err()
	}
	if insts[0].Err != nil {
		return cue.Value{}, insts[0].Err
	}
	v, err := cuelang.Build(cuecontext.New(), insts[0])
	if err != nil {
		return v, err
	}
	return v, v.LookupPath(cue.ParsePath("values")).Err()
}

// set by whoever renders a module, not by its user.
var set = map[string]bool{"metadata": true, "moduleVersion": true, "kubeVersion": true}

const settingsDepth = 6

func settings(out *[]Setting, v cue.Value, at []string) {
	it, err := v.Fields(cue.Optional(true))
	if err != nil || len(at) > settingsDepth {
		return
	}
	for it.Next() {
		sel := it.Selector()
		if !sel.IsString() || len(at) == 0 && set[sel.Unquoted()] || sel.Unquoted() == "reference" && v.LookupPath(cue.ParsePath("repository")).Exists() {
			continue // the last is an image's, made of its other fields
		}
		key := append(slices.Clone(at), cue.MakePath(cue.Str(sel.Unquoted())).String())
		field := it.Value()
		if sel.ConstraintType() != cue.OptionalConstraint && field.IncompleteKind() == cue.StructKind && hasFields(field) {
			settings(out, field, key)
			continue
		}
		s := Setting{Key: strings.Join(key, "."), Type: field.IncompleteKind().String(), Doc: docOf(field)}
		if d, ok := field.Default(); (ok || field.IsConcrete()) && (sel.ConstraintType() != cue.OptionalConstraint || !open(field)) {
			if text, err := d.MarshalJSON(); err == nil {
				s.Default = string(text)
			}
		}
		s.Required = sel.ConstraintType() == cue.RequiredConstraint || s.Default == "" && sel.ConstraintType() == 0 && !open(field)
		*out = append(*out, s)
	}
}

func hasFields(v cue.Value) bool {
	it, err := v.Fields(cue.Optional(true))
	return err == nil && it.Next()
}

// open reports lists and structs, which are empty when nothing is said.
func open(v cue.Value) bool {
	return v.IncompleteKind() == cue.ListKind || v.IncompleteKind() == cue.StructKind
}

func docOf(v cue.Value) string {
	var parts []string
	for _, c := range v.Doc() {
		parts = append(parts, strings.Join(strings.Fields(c.Text()), " "))
	}
	return strings.Join(slices.Compact(parts), " ")
}

// String is the setting on one line.
func (s Setting) String() string { return fmt.Sprintf("%s %s", s.Key, s.Type) }

package document

import (
	"path/filepath"
	"slices"

	"cuelang.org/go/cue"
	"cuelang.org/go/cue/token"

	"hawser.dev/hawser/api/v1alpha1"
	"hawser.dev/hawser/internal/cuelang"
	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/fleet"
	"hawser.dev/hawser/internal/specdecode"
)

// The decoder's words, which the checks of this room are written with.
type (
	reporter  = specdecode.Decoder
	field     = specdecode.Field
	structure = specdecode.Struct
)

// decoder reads a program's values into the documents' types. What was injected is hidden in all it says.
type decoder struct {
	reporter
	p  *Program
	in *injection
}

// newDecoder makes a decoder; in is nil where nothing was injected.
func newDecoder(p *Program, in *injection) *decoder {
	same := func(text string) string { return text }
	d := &decoder{p: p, in: in}
	d.reporter = reporter{Rules: rules(), Locate: d.pos, Dir: d.dir, Mask: same, MaskPath: same}
	if in != nil {
		d.Mask, d.MaskPath = func(text string) string { return in.masker.Value("", text) }, in.masker.Redact
	}
	return d
}

// dropped is what could not be read and nothing among the findings explains: what is left out silently would change
// the meaning of the rest.
func (d *decoder) dropped(said diag.Findings) diag.Findings {
	if d.CUEErrors == nil || said.HasErrors() {
		return nil
	}
	in := d.in
	if in == nil {
		in = newInjection(fleet.Facts{})
	}
	return d.p.cueFindings(in, d.CUEErrors)
}

// bundle reads one bundle; key is its name in `bundles`, which stands for one that it does not say.
func (d *decoder) bundle(v cue.Value, key string) (out v1alpha1.BundleSpec) {
	var implied []string
	if key != "" {
		implied = append(implied, "name")
	}
	s, ok := d.Decode(v, &out, implied...)
	switch at := s.At("name"); {
	case !ok || key == "":
	case !at.Exists():
		out.Name = key
		isName("the name of a bundle").Check(&d.reporter, field{Value: v}, key)
	case out.Name != "" && out.Name != key:
		d.Fixf(at, "leave name out here, or list the bundle under its name", "name-mismatch", "the name differs from %q, under which the bundle is listed", d.Mask(key))
	}
	return out
}

// fleet reads the fleet.
func (d *decoder) fleet(v cue.Value) *v1alpha1.FleetSpec {
	out := &v1alpha1.FleetSpec{}
	d.Decode(v, out)
	out.Dir = d.p.dirOf(v.Pos())
	// The order is the order of changes: over several files it is theirs, within one it is CUE's field order.
	slices.SortStableFunc(out.Clusters, func(a, b v1alpha1.ClusterSpec) int {
		return d.p.fileIndex(a.Pos.File) - d.p.fileIndex(b.Pos.File)
	})
	return out
}

// fileIndex is the place of a file in the order given; files that were imported come first.
func (p *Program) fileIndex(name string) int {
	return slices.IndexFunc(p.all, func(s *source) bool { return s.name == name })
}

// pos is where a value stands in the user's files.
func (d *decoder) pos(v cue.Value) diag.Pos {
	at := cuelang.Pos(v.Pos())
	if at.IsValid() {
		at.File = display(d.p.cwd, at.File)
	}
	return at
}

// dir is the directory of the file that holds the value's literal, also when the value is a reference to it.
func (d *decoder) dir(v cue.Value) string {
	pos := v.Pos()
	for range 8 {
		next := cue.Dereference(v)
		if next.Path().String() == v.Path().String() {
			break
		}
		v = next
		if p := v.Pos(); p.IsValid() {
			pos = p
		}
	}
	return d.p.dirOf(pos)
}

// dirOf is the directory of a position's file; standard input stands in the current directory.
func (p *Program) dirOf(pos token.Pos) string {
	name := ""
	if pos.IsValid() {
		name = pos.Filename()
	}
	for _, s := range p.all {
		if s.name == name {
			return s.dir
		}
	}
	if filepath.IsAbs(name) {
		return filepath.Dir(name)
	}
	return p.cwd
}

func lookup(v cue.Value, name string) (cue.Value, bool) {
	out := v.LookupPath(cue.MakePath(cue.Str(name)))
	return out, out.Exists()
}

package cue

import (
	"cuelang.org/go/cue"
	"cuelang.org/go/cue/ast"
	"cuelang.org/go/cue/cuecontext"
	"cuelang.org/go/cue/errors"
	"cuelang.org/go/cue/token"

	"hawser.dev/hawser/internal/cuelang"
	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/render"
)

// Paths in an evaluated module.
var (
	versionPath  = cue.ParsePath("timoni.apiVersion")
	instancePath = cue.ParsePath("timoni.instance")
	configPath   = cue.ParsePath("timoni.instance.config")
	applyPath    = cue.ParsePath("timoni.apply")
	checksPath   = cue.ParsePath("timoni.healthChecks")
	rulesPath    = cue.ParsePath("hawser.health")
)

// evaluation is one evaluated module; it is dropped after reading.
type evaluation struct {
	root cue.Value
	// notes are worth knowing and no warnings.
	notes diag.Findings
}

// evaluate builds the root package for one request in a context of its own and validates it.
func (p *pkg) evaluate(req render.Request, from *origins) (*evaluation, error) {
	values, notes, err := p.valuesFile(req, from)
	if err != nil {
		return nil, err
	}
	keep := func(source) bool { return true }
	if values != nil {
		keep = func(s source) bool { return s.name != p.values.name }
	}
	v, err := p.build(req, keep, values)
	if err != nil {
		return nil, err
	}
	e := &evaluation{root: v, notes: notes}
	return e, e.validate()
}

// build parses the chosen files of the root package again, injects tags and builds them with the schema and, when
// there is one, the values file.
func (p *pkg) build(req render.Request, keep func(source) bool, values *ast.File) (cue.Value, error) {
	files := make([]*ast.File, 0, len(p.sources)+2)
	for _, s := range p.sources {
		if !keep(s) {
			continue
		}
		f, err := s.parse()
		if err != nil {
			return cue.Value{}, err
		}
		files = append(files, f)
	}
	in := injection{
		keys:       map[string]string{"name": req.Instance.Name, "namespace": req.Instance.Namespace},
		vars:       map[string]string{"moduleVersion": req.Content.Version, "kubeVersion": req.KubeVersion},
		shorthands: p.tags,
	}
	if err := in.inject(files); err != nil {
		return cue.Value{}, err
	}
	s, err := schema(p.name)
	if err != nil {
		return cue.Value{}, err
	}
	files = append(files, s)
	if values != nil {
		files = append(files, values)
	}
	inst := p.newInstance()
	for _, f := range files {
		if err := inst.AddSyntax(f); err != nil {
			return cue.Value{}, err
		}
	}
	if err := p.complete(inst); err != nil {
		return cue.Value{}, err
	}
	return cuelang.Build(cuecontext.New(), inst)
}

// validate reports all errors of the package, then what is not concrete where it must be.
func (e *evaluation) validate() error {
	if err := e.root.Validate(); err != nil {
		return err
	}
	for _, path := range []cue.Path{versionPath, instancePath, applyPath} {
		if !e.root.LookupPath(path).Exists() {
			return errors.Newf(token.NoPos, "the module has no field %s: is its package another one?", path)
		}
	}
	var errs errors.Error
	for _, path := range []cue.Path{instancePath, applyPath} {
		if err := e.root.LookupPath(path).Validate(cue.Concrete(true), cue.Final()); err != nil {
			errs = errors.Append(errs, errors.Promote(err, ""))
		}
	}
	if errs != nil {
		return errs
	}
	return nil
}

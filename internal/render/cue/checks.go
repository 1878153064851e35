package cue

import (
	"fmt"
	"strings"

	"cuelang.org/go/cue"
	"cuelang.org/go/cue/ast"
	"cuelang.org/go/cue/ast/astutil"
	"cuelang.org/go/cue/cuecontext"
	"cuelang.org/go/cue/errors"
	"cuelang.org/go/cue/format"

	"hawser.dev/hawser/api/v1alpha1"
	"hawser.dev/hawser/internal/cuelang"
	"hawser.dev/hawser/internal/health"
)

// rules of a health check in the order they are asked; the first true one decides.
var rules = []struct {
	field string
	state health.State
}{
	{"inProgress", health.Progressing},
	{"failed", health.Failed},
	{"current", health.Ready},
}

var objectPath = cue.MakePath(cue.Def("#object"))

// checks reads the module's health checks, each as CUE text that needs nothing of the module.
func (r *reader) checks(v cue.Value) {
	if !v.Exists() {
		return
	}
	it, err := v.Fields()
	if err != nil {
		r.fail(err, "health-check")
		return
	}
	seen := map[string]string{}
	for it.Next() {
		name, check := it.Selector().Unquoted(), it.Value()
		c, err := readCheck(name, check)
		if err != nil {
			r.fail(err, "health-check")
			continue
		}
		target := c.Group + "/" + c.Kind
		if first, dup := seen[target]; dup {
			r.fail(cuelang.Errorf(check.Pos(), cuelang.PathOf(check), "health checks %s and %s are for the same kind", first, name), "health-check")
			continue
		}
		seen[target] = name
		r.out.Checks = append(r.out.Checks, c)
	}
}

// rules reads the module's health rules in CEL: the list hawser.health beside timoni. A field that no rule has is an
// error.
func (r *reader) rules(v cue.Value) {
	if !v.Exists() {
		return
	}
	items, err := v.List()
	if err != nil {
		r.fail(err, "health-rule")
		return
	}
	for items.Next() {
		rule, err := r.readRule(items.Value())
		if err != nil {
			r.fail(err, "health-rule")
			continue
		}
		r.out.Health = append(r.out.Health, rule)
	}
}

func (r *reader) readRule(v cue.Value) (v1alpha1.HealthRule, error) {
	rule := v1alpha1.HealthRule{Pos: v1alpha1.Position(r.place(v))}
	fields := map[string]*string{"group": &rule.Group, "kind": &rule.Kind, "name": &rule.Name, "ready": &rule.Ready,
		"failed": &rule.Failed, "progressing": &rule.Progressing, "message": &rule.Message}
	it, err := v.Fields()
	if err != nil {
		return rule, err
	}
	for it.Next() {
		to, known := fields[it.Selector().Unquoted()]
		if !known {
			return rule, cuelang.Errorf(it.Value().Pos(), cuelang.PathOf(it.Value()), "a health rule has no field %s", it.Selector())
		}
		if *to, err = it.Value().String(); err != nil {
			return rule, err
		}
	}
	if rule.Kind == "" || rule.Ready == "" {
		return rule, cuelang.Errorf(v.Pos(), cuelang.PathOf(v), "a health rule needs kind and ready")
	}
	return rule, nil
}

func readCheck(name string, v cue.Value) (health.Check, error) {
	c := health.Check{Name: name}
	if err := v.Validate(cue.Final()); err != nil {
		return c, err
	}
	var err error
	if c.Group, err = v.LookupPath(cue.ParsePath("group")).String(); err != nil {
		return c, err
	}
	if c.Group == "" || strings.Contains(c.Group, "/") {
		return c, cuelang.Errorf(v.Pos(), cuelang.PathOf(v), "group must be the API group of custom resources, such as cert-manager.io")
	}
	if kind := v.LookupPath(cue.ParsePath("kind")); kind.Exists() {
		if c.Kind, err = kind.String(); err != nil {
			return c, err
		}
	}
	if c.Source, err = exportCheck(v); err != nil {
		return c, cuelang.Errorf(v.Pos(), cuelang.PathOf(v), "the check cannot be evaluated on its own: %v", err)
	}
	if len(c.Source) > maxCheck {
		return c, cuelang.Errorf(v.Pos(), cuelang.PathOf(v), "the check has more than %d KiB with what it imports", maxCheck>>10)
	}
	return c, nil
}

// exportCheck writes the check as a file of its own, imports inlined, and proves that it compiles.
func exportCheck(v cue.Value) (string, error) {
	node := v.Syntax(cue.Raw(), cue.Definitions(true), cue.Hidden(true), cue.Optional(true), cue.InlineImports(true), cue.Docs(false))
	var f *ast.File
	switch x := node.(type) {
	case *ast.File:
		f = x
	case *ast.StructLit:
		f = &ast.File{Decls: x.Elts}
	case ast.Expr:
		var err error
		if f, err = astutil.ToFile(x); err != nil {
			return "", err
		}
	default:
		return "", fmt.Errorf("unexpected syntax %T", node)
	}
	text, err := format.Node(f)
	if err != nil {
		return "", err
	}
	compiled := cuecontext.New().CompileBytes(text, cue.Filename("check.cue"))
	if err := compiled.Err(); err != nil {
		return "", err
	}
	if !compiled.LookupPath(cue.ParsePath("current")).Exists() {
		return "", fmt.Errorf("field current is missing")
	}
	return string(text), nil
}

// Vet finds nothing: what Checks holds was compiled when the module was rendered.
func (r *Renderer) Vet(health.Check) error { return nil }

// Check evaluates a check against a live object, in a context that is dropped. It does not apply to objects of another
// group or kind (a check without a kind applies to the whole group). A rule that refers to fields the object does not
// have yet counts as false; when no rule is true the object is progressing.
func (r *Renderer) Check(c health.Check, obj map[string]any) (health.Status, bool, error) {
	version, _ := obj["apiVersion"].(string)
	kind, _ := obj["kind"].(string)
	group, _, found := strings.Cut(version, "/")
	if !found || group != c.Group || c.Kind != "" && c.Kind != kind {
		return health.Status{}, false, nil
	}
	st, err := r.bounded(c, obj, func() (health.Status, error) { return r.evaluated(c, obj) })
	return st, true, err
}

// evaluated asks the rules of a check.
func (r *Renderer) evaluated(c health.Check, obj map[string]any) (health.Status, error) {
	ctx := cuecontext.New()
	v := ctx.CompileString(c.Source, cue.Filename("check.cue")).FillPath(objectPath, obj)
	if err := v.Err(); err != nil {
		return health.Status{}, fmt.Errorf("health check %s does not fit the object: %s", c.Name, r.text(err))
	}
	for _, rule := range rules {
		is, err := ruleHolds(v.LookupPath(cue.ParsePath(rule.field)))
		if err != nil {
			return health.Status{}, fmt.Errorf("health check %s, rule %s: %s", c.Name, rule.field, r.text(err))
		}
		if is {
			return health.Status{State: rule.state, Reason: "module's health check " + c.Name + ": " + rule.field}, nil
		}
	}
	return health.Status{State: health.Progressing, Reason: "module's health check " + c.Name + ": not yet current"}, nil
}

// ruleHolds is false for a rule that is absent or not yet decidable.
func ruleHolds(v cue.Value) (bool, error) {
	if !v.Exists() {
		return false, nil
	}
	is, err := v.Bool()
	if err == nil {
		return is, nil
	}
	if v.Validate() == nil && !v.IsConcrete() {
		return false, nil
	}
	return false, err
}

func (r *Renderer) text(err error) string {
	if e := errors.Errors(err); len(e) > 0 {
		return r.opts.Redact(cuelang.Said(e[0]))
	}
	return r.opts.Redact(err.Error())
}

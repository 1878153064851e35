package document

import (
	"regexp"
	"strings"

	"cuelang.org/go/cue"

	"hawser.dev/hawser/api/v1alpha1"
	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/fleet"
)

var (
	healthFields = []string{"group", "kind", "name", "ready", "failed", "progressing", "message"}
	ignoreFields = []string{"group", "kind", "name", "paths", "managers"}
)

var (
	groupRule = regexp.MustCompile(`^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`)
	kindRule  = regexp.MustCompile(`^[A-Z][A-Za-z0-9]*$`)
)

// running reads how an instance is waited for, held still and judged.
func (d *decoder) running(f field, out *v1alpha1.Instance) {
	switch f.name {
	case "wait":
		wait := d.boolean(f.value)
		out.Wait = &wait
	case "timeout":
		s, ok := d.str(f.value)
		if !ok {
			return
		}
		before := len(d.findings)
		if out.Timeout = d.duration(f.value); out.Timeout.Duration == 0 && len(d.findings) == before {
			n := diag.Errorf("invalid-duration", "timeout must be more than %s", d.mask(s))
			n.Fix = "write wait: false to wait for nothing, or leave timeout out for the run's"
			d.add(n, f.value)
		}
	case "suspend":
		out.Suspend = d.boolean(f.value)
	case "health":
		out.Health = d.healthRules(f.value)
	case "ignore":
		out.Ignore = d.ignoreRules(f.value)
	}
}

func (d *decoder) healthRules(v cue.Value) []v1alpha1.HealthRule {
	items, _ := d.list(v)
	var out []v1alpha1.HealthRule
	for _, item := range items {
		r := v1alpha1.HealthRule{Pos: d.apiPos(item)}
		into := map[string]*string{"group": &r.Group, "kind": &r.Kind, "name": &r.Name, "ready": &r.Ready, "failed": &r.Failed,
			"progressing": &r.Progressing, "message": &r.Message}
		seen := map[string]bool{}
		for _, f := range d.fields(item, healthFields) {
			s, ok := d.str(f.value)
			*into[f.name], seen[f.name] = s, true
			switch {
			case !ok:
			case f.name == "group" || f.name == "kind" || f.name == "name":
				d.chooses(f, s)
			case strings.TrimSpace(s) == "":
				d.errorf(f.value, "invalid-rule", "%s is empty", f.name)
			}
		}
		for _, name := range []string{"kind", "ready"} {
			if !seen[name] && d.is(item, cue.StructKind, "a struct") {
				d.require(item, name)
			}
		}
		out = append(out, r)
	}
	return out
}

func (d *decoder) ignoreRules(v cue.Value) []v1alpha1.IgnoreRule {
	items, _ := d.list(v)
	var out []v1alpha1.IgnoreRule
	for _, item := range items {
		r := v1alpha1.IgnoreRule{Pos: d.apiPos(item)}
		into := map[string]*string{"group": &r.Group, "kind": &r.Kind, "name": &r.Name}
		for _, f := range d.fields(item, ignoreFields) {
			switch f.name {
			case "paths":
				r.Paths = d.fieldPaths(f.value)
			case "managers":
				r.Managers = d.globs(f.value)
			default:
				s, ok := d.str(f.value)
				if *into[f.name] = s; ok {
					d.chooses(f, s)
				}
			}
		}
		if len(r.Paths) == 0 && len(r.Managers) == 0 && d.is(item, cue.StructKind, "a struct") {
			n := diag.Errorf("invalid-rule", "the rule does not say what is left to others")
			n.Fix = "give it paths or managers"
			d.add(n, item)
		}
		out = append(out, r)
	}
	return out
}

// chooses checks what a rule chooses objects by: group, kind or name.
func (d *decoder) chooses(f field, s string) {
	switch f.name {
	case "group":
		if group, version, ok := strings.Cut(s, "/"); ok {
			n := diag.Errorf("invalid-rule", "a group has no version")
			n.Fix = "write " + d.mask(group) + " without /" + d.mask(version)
			d.add(n, f.value)
		} else if s != "" && !groupRule.MatchString(s) {
			d.errorf(f.value, "invalid-rule", "%q cannot be the group of a kind", d.mask(s))
		}
	case "kind":
		if !kindRule.MatchString(s) {
			d.errorf(f.value, "invalid-rule", "%q cannot be a kind", d.mask(s))
		}
	case "name":
		if err := fleet.CheckGlob(s); err != nil {
			d.errorf(f.value, "invalid-glob", "%q: %v", d.mask(s), err)
		}
	}
}

// fieldPaths is a list of paths in the documents' grammar.
func (d *decoder) fieldPaths(v cue.Value) []string {
	items, ok := d.list(v)
	if !ok {
		return nil
	}
	out := []string{}
	for _, item := range items {
		s, ok := d.str(item)
		if !ok {
			continue
		}
		if strings.HasPrefix(s, "/") {
			n := diag.Errorf("invalid-path", "path %q is a JSON pointer", d.mask(s))
			n.Fix = "write " + strings.ReplaceAll(strings.Trim(d.mask(s), "/"), "/", ".")
			d.add(n, item)
		} else if _, err := v1alpha1.ParsePath(s); err != nil {
			d.errorf(item, "invalid-path", "%s", d.mask(err.Error()))
		}
		out = append(out, s)
	}
	return out
}

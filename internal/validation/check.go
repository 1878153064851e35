package validation

import (
	"context"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"hawser.dev/hawser/api/v1alpha1"
	"hawser.dev/hawser/internal/answer"
	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/object"
	"hawser.dev/hawser/internal/openapi"
	"hawser.dev/hawser/internal/render"
)

// Object is one that is going to be written.
type Object struct {
	Object object.Object
	// Whole: nobody else has fields in it yet, so that what it lacks is missing.
	Whole bool
	// Values are those of the instance of a chart or a module that it comes from, nil for others.
	Values *v1alpha1.Value
}

// Check checks objects against the cluster's schemas, custom ones first by the definitions that are in bodies, which come with
// them. Where a cluster publishes none, nothing is checked.
func (s *Schemas) Check(ctx context.Context, list []Object, bodies map[object.Ref]object.Object) diag.Findings {
	own := openapi.Definitions(bodies)
	var versions []schema.GroupVersion
	for _, u := range list {
		k := u.Object.GVK()
		if own[k.GroupKind()] == nil && !slices.Contains(versions, k.GroupVersion()) {
			versions = append(versions, k.GroupVersion())
		}
	}
	published, findings := s.documents(ctx, versions)
	definition := openapi.Reader(func(gk schema.GroupKind) map[string]any { return s.Server.Definition(ctx, gk) })
	for _, u := range list {
		k := u.Object.GVK()
		doc := own[k.GroupKind()]
		if doc == nil {
			doc = published[k.GroupVersion()]
		}
		if doc == nil {
			continue
		}
		private := u.Object.Ref().IsSecret() || len(u.Object.Sensitive) > 0
		o := openapi.Options{Whole: u.Whole, Hide: func(openapi.Path) bool { return private }}
		problems := doc.Check(k, u.Object.Body, o)
		if len(problems) > 0 && own[k.GroupKind()] == nil && s.Server != nil && u.Object.Ref().Custom() {
			problems = openapi.Confirm(problems, definition(k.GroupKind()), k, u.Object.Body, o)
		}
		findings = append(findings, s.invalid(u, problems)...)
	}
	return findings
}

// invalid is what a schema says of an object, each problem at its own line.
func (s *Schemas) invalid(u Object, problems []openapi.Problem) diag.Findings {
	var findings diag.Findings
	for _, p := range problems {
		f := diag.Errorf(answer.CodeInvalidObject, "%s", s.Redact(p.Text))
		f.Path, f.Fix, f.Pos = p.Path.String(), p.Fix, u.Object.Pos
		f.Object, f.Instance = u.Object.Ref().String(), u.Object.Instance
		if s.Locate != nil {
			f.Pos = s.Locate(u.Object.Pos, p.Path.Steps())
		}
		if at, pos := render.GivenBy(u.Values, u.Object.Body, p.Path.Steps()); at != "" {
			f.Pos, f.Why = pos, s.Redact(at)+" gives it"
			if u.Object.Pos.IsValid() {
				f.Why += ", in an object of " + u.Object.Pos.String()
			}
		}
		findings = append(findings, f)
	}
	return findings
}

// Uncertain are the findings about objects of which nobody knows whether they are there: what is wrong in any case, and as
// warnings what is wrong only where they are new, which whole says too.
func Uncertain(wrong, whole diag.Findings) diag.Findings {
	out := slices.Clone(wrong)
	for _, f := range whole {
		if f.Code == answer.CodeInvalidObject && !slices.Contains(wrong, f) {
			f.Severity = diag.Warning
			out = append(out, f)
		}
	}
	return out
}

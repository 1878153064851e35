package helm

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"helm.sh/helm/v4/pkg/chart/common"
	"helm.sh/helm/v4/pkg/chart/common/util"
	chartutil "helm.sh/helm/v4/pkg/chart/v2/util"
	"helm.sh/helm/v4/pkg/engine"

	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/object"
	"hawser.dev/hawser/internal/render"
)

// job is one render of one instance.
type job struct {
	req   render.Request
	opts  Options
	chart *loaded
	// prefix is how the chart's directory is shown.
	prefix   string
	caps     *common.Capabilities
	warnings diag.Findings
}

// run renders once, and again as often as it takes to tell whether anything random reaches an object.
func (j *job) run(ctx context.Context) ([]object.Object, error) {
	var err error
	if j.caps, err = j.chart.capabilitiesOf(j.req); err != nil {
		return nil, err
	}
	if err := checkKubeVersion(j.chart.chart, j.caps); err != nil {
		return nil, err
	}
	j.warnings = deprecated(j.chart.chart)
	if user, err := values(j.req); err == nil {
		j.warnings = append(j.warnings, j.shapes(user, j.chart.chart.Values, nil)...)
	}
	usual := &answers{}
	objects, err := j.once(ctx, usual)
	if err != nil {
		return nil, err
	}
	called := usual.called
	warnings := append(j.warnings, j.offline(called)...)
	called = slices.DeleteFunc(slices.Clone(called), func(name string) bool { return slices.Contains(offline, j.site(name).fn) })
	if len(called) > 0 {
		if err := j.settled(ctx, objects, called); err != nil {
			return nil, err
		}
	}
	j.warnings = warnings
	return objects, nil
}

// once renders the chart with the given answers of the watched functions.
func (j *job) once(ctx context.Context, a *answers) ([]object.Object, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	c := clone(j.chart.chart)
	user, err := values(j.req)
	if err != nil {
		return nil, err
	}
	if err := chartutil.ProcessDependencies(c, user); err != nil {
		return nil, failure("values", "the values do not fit the chart's dependencies: "+err.Error(), "")
	}
	top, err := util.ToRenderValuesWithSchemaValidation(c, user, common.ReleaseOptions{
		Name: releaseName(j.req), Namespace: j.req.Instance.Namespace, Revision: 1, IsInstall: true,
	}, j.caps, true)
	if err != nil {
		return nil, failure("values", "the values do not fit the chart: "+err.Error(), "")
	}
	if merged, ok := top["Values"].(common.Values); ok && !source(j.req).SkipSchema {
		if found := j.checkSchema(c, merged.AsMap(), nil); len(found) > 0 {
			return nil, found.Err()
		}
	}
	e := engine.Engine{CustomTemplateFuncs: functions(j.chart.sites, a)}
	files, err := e.RenderWithContext(ctx, c, top)
	if err != nil {
		return nil, j.templateError(err)
	}
	return j.objects(c, files)
}

// site is the place with the given name; a plain name is that of a function in a text that was handed to tpl.
func (j *job) site(name string) site {
	for _, s := range j.chart.sites {
		if s.name == name {
			return s
		}
	}
	return site{fn: name, name: name}
}

func (j *job) sitePos(s site) diag.Pos {
	if s.template == "" {
		return diag.Pos{}
	}
	return diag.Pos{File: j.file(s.template), Line: s.line}
}

// offline says which look-ups were answered with nothing.
func (j *job) offline(called []string) diag.Findings {
	var out diag.Findings
	for _, name := range called {
		s := j.site(name)
		if !slices.Contains(offline, s.fn) {
			continue
		}
		f := diag.Warnf("lookup", "%s finds nothing: a render asks no cluster and no network", s.what())
		f.Fix = "give the chart the value it would look up"
		f.Pos = j.sitePos(s)
		out = append(out, f)
	}
	return out
}

func (s site) what() string {
	if s.template == "" {
		return s.fn + " in a text that is given to tpl"
	}
	return s.fn
}

// settled reports the called sites whose answer reaches an object: those that change one when their answer varies.
func (j *job) settled(ctx context.Context, objects []object.Object, called []string) error {
	changed, err := j.vary(ctx, objects, &answers{all: true})
	if err != nil || len(changed) == 0 {
		return err
	}
	var found diag.Findings
	for _, name := range called[:min(len(called), maxBlamed)] {
		refs, err := j.vary(ctx, objects, &answers{varied: map[string]bool{name: true}})
		if err == nil && len(refs) > 0 {
			found = append(found, j.unsettled(j.site(name), refs))
		}
	}
	if len(found) == 0 {
		for _, name := range called[:min(len(called), maxBlamed)] {
			found = append(found, j.unsettled(j.site(name), changed))
		}
	}
	return found.Err()
}

// maxBlamed bounds the renders that look for the places to blame.
const maxBlamed = 20

// vary renders with other answers and names the objects that differ.
func (j *job) vary(ctx context.Context, usual []object.Object, a *answers) ([]string, error) {
	kept := j.warnings
	defer func() { j.warnings = kept }()
	other, err := j.once(ctx, a)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil {
		return []string{"the question whether the chart renders at all"}, nil
	}
	count := map[string]int{}
	name := map[string]string{}
	tally := func(objs []object.Object, by int) {
		for i, o := range objs {
			id := fmt.Sprintf("%d %s", i, o.Digest())
			count[id] += by
			name[id] = o.Ref().String()
		}
	}
	tally(usual, 1)
	tally(other, -1)
	refs := map[string]bool{}
	for id, n := range count {
		if n > 0 {
			refs[name[id]] = true
		}
	}
	if len(refs) == 0 && len(other) != len(usual) {
		refs["the number of objects"] = true
	}
	return slices.Sorted(maps.Keys(refs)), nil
}

func (j *job) unsettled(s site, refs []string) diag.Finding {
	if len(refs) > 3 {
		refs = append(refs[:3:3], fmt.Sprintf("%d more", len(refs)-3))
	}
	kind := "a random value"
	if slices.Contains(clock, s.fn) {
		kind = "the time"
	}
	f := diag.Errorf("not-deterministic", "%s puts %s into %s", s.what(), kind, strings.Join(refs, ", "))
	f.Why = "every render would give another object, so that a plan could never be applied as it was shown"
	f.Fix = "give the chart the value it would make up: often a password, a certificate or the name of an existing Secret"
	f.Pos = j.sitePos(s)
	return f
}

// file is how a template is shown; name is Helm's, CHART/templates/x.yaml.
func (j *job) file(name string) string {
	if rest, ok := strings.CutPrefix(name, j.chart.chart.Name()+"/"); ok {
		return j.prefix + rest
	}
	return name
}

// order sorts by a list of kinds; kinds that are not listed come last, by name.
func order(kinds []string) func(a, b object.Object) int {
	rank := make(map[string]int, len(kinds))
	for i, k := range kinds {
		rank[k] = i + 1
	}
	return func(a, b object.Object) int {
		x, y := kindOf(a), kindOf(b)
		if rank[x] == 0 && rank[y] == 0 {
			return cmp.Compare(x, y)
		}
		last := len(kinds) + 1
		return cmp.Compare(cmp.Or(rank[x], last), cmp.Or(rank[y], last))
	}
}

func kindOf(o object.Object) string {
	kind, _ := o.Body["kind"].(string)
	return kind
}

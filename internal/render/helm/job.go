package helm

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"helm.sh/helm/v4/pkg/chart/common"
	"helm.sh/helm/v4/pkg/chart/common/util"
	chart "helm.sh/helm/v4/pkg/chart/v2"
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
	prefix string
	caps   *common.Capabilities
	// brings are the kinds that the chart's crds folders define, "GROUP/VERSION/KIND"; nil before they were read.
	brings   []string
	warnings diag.Findings
	// out gets what is known about answers.
	out *render.Result
}

// run renders once, and again as often as it takes to tell whether anything made up reaches an object.
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
		found := j.shapes(user)
		if err := found.Errors().Err(); err != nil {
			return nil, err
		}
		j.warnings = append(j.warnings, found...)
		objects, err := j.settle(ctx)
		if err != nil && len(found) > 0 && ctx.Err() == nil {
			return nil, blamed(found, err)
		}
		return objects, err
	}
	return j.settle(ctx)
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
	}, j.capsWith(c), true)
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

// capsWith are the capabilities with the kinds that the crds folders of a chart, and of its dependencies that are enabled, define:
// Helm asks the cluster when it has installed them.
func (j *job) capsWith(c *chart.Chart) *common.Capabilities {
	if source(j.req).SkipCRDs || !j.chart.depends(j.req) {
		return j.caps
	}
	if j.brings == nil {
		var crds []object.Object
		for _, f := range c.CRDObjects() {
			objs, _ := j.documents(f.Filename, string(f.File.Data)) // what is wrong with them is found with the objects
			crds = append(crds, objs...)
		}
		j.brings = append([]string{}, object.Serving(nil, object.DefinedKinds(crds))...)
	}
	out := j.caps.Copy()
	out.APIVersions = slices.Compact(slices.Sorted(slices.Values(slices.Concat(out.APIVersions, apiVersions(j.brings)))))
	return out
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

// offline says which look-ups were answered with nothing, but for those of the chart's own Secrets.
func (j *job) offline(t try) diag.Findings {
	var own []string
	for _, o := range t.objects {
		if o.Ref().Kind == "Secret" {
			own = append(own, namespaceOf(o, j.req.Instance.Namespace)+"/"+o.Ref().Name)
		}
	}
	var out diag.Findings
	for _, name := range t.called {
		s := j.site(name)
		elsewhere := func(l look) bool { return l.site == name && !slices.Contains(own, l.secret) }
		if !slices.Contains(offline, s.fn) || s.fn == "lookup" && !slices.ContainsFunc(t.looked, elsewhere) {
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

package helm

import (
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"helm.sh/helm/v4/pkg/chart/common"
	chart "helm.sh/helm/v4/pkg/chart/v2"
	"helm.sh/helm/v4/pkg/chart/v2/util"

	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/render"
)

// installable reports what Helm refuses before it renders: libraries, and dependencies that are not in charts/.
func installable(c *chart.Chart) error {
	if t := c.Metadata.Type; t != "" && t != "application" {
		return failure("not-installable", fmt.Sprintf("chart %s is of type %q and renders nothing by itself", c.Name(), t),
			"name a chart that depends on it")
	}
	var missing []string
	for _, d := range c.Metadata.Dependencies {
		if d == nil || slices.ContainsFunc(c.Dependencies(), func(s *chart.Chart) bool { return s.Name() == d.Name }) {
			continue
		}
		missing = append(missing, strings.TrimSpace(d.Name+" "+d.Version))
	}
	if len(missing) > 0 {
		return failure("dependencies-missing",
			fmt.Sprintf("chart %s declares dependencies that are not in its charts folder: %s", c.Name(), strings.Join(missing, ", ")),
			"run `helm dependency build` in the chart's directory; only what lies in charts/ is read, also for a repository of file://")
	}
	return nil
}

// clone is a chart that may be changed: values and metadata are copied, texts are shared.
func clone(c *chart.Chart) *chart.Chart {
	out := &chart.Chart{Metadata: cloneMetadata(c.Metadata), Lock: c.Lock, Templates: c.Templates, Schema: c.Schema, Files: c.Files,
		Values: cloneMap(c.Values)}
	for _, d := range c.Dependencies() {
		out.AddDependency(clone(d))
	}
	return out
}

func cloneMetadata(m *chart.Metadata) *chart.Metadata {
	out := *m
	out.Annotations = maps.Clone(m.Annotations)
	out.Dependencies = nil
	for _, d := range m.Dependencies {
		if d == nil {
			continue
		}
		x := *d
		x.ImportValues = cloneList(d.ImportValues)
		out.Dependencies = append(out.Dependencies, &x)
	}
	return &out
}

func cloneMap(m map[string]any) map[string]any {
	if m == nil {
		return nil
	}
	out := make(map[string]any, len(m))
	for k, v := range m {
		out[k] = cloneValue(v)
	}
	return out
}

func cloneList(l []any) []any {
	if l == nil {
		return nil
	}
	out := make([]any, 0, len(l))
	for _, v := range l {
		out = append(out, cloneValue(v))
	}
	return out
}

func cloneValue(v any) any {
	switch v := v.(type) {
	case map[string]any:
		return cloneMap(v)
	case []any:
		return cloneList(v)
	}
	return v
}

// namesCapabilities reports whether any text of the chart, those of packed charts included, names the capabilities or
// may hand them on unnamed. It errs on the side of yes: a chart that says so is only rendered again more often.
func namesCapabilities(c *chart.Chart) bool {
	if c.Metadata.KubeVersion != "" {
		return true
	}
	for _, files := range [][]*common.File{c.Raw, c.Templates, c.Files} {
		for _, f := range files {
			if mayUseCapabilities(string(f.Data)) {
				return true
			}
		}
	}
	return slices.ContainsFunc(c.Dependencies(), namesCapabilities)
}

// dumps are what may print the whole context, capabilities included.
var dumps = []string{"toYaml $ ", "toYaml $}", "toJson $ ", "toJson $}", "toPrettyJson $", "toRawJson $ ", "toString $ ", "range $ ", "values $ "}

func mayUseCapabilities(text string) bool {
	if strings.Contains(text, "Capabilities") {
		return true
	}
	return slices.ContainsFunc(dumps, func(d string) bool { return strings.Contains(text, d) })
}

// depends reports whether the render depends on the cluster's version and kinds.
func (l *loaded) depends(req render.Request) bool {
	if l.capabilities {
		return true
	}
	// Values are templates too where the chart hands them to tpl.
	values, err := values(req)
	if err != nil {
		return true
	}
	text, err := json.Marshal(values)
	return err != nil || mayUseCapabilities(string(text))
}

// environment is what the key holds of the cluster.
func (l *loaded) environment(req render.Request) string {
	if !l.depends(req) {
		return ""
	}
	return req.KubeVersion + "\n" + strings.Join(slices.Sorted(slices.Values(req.APIs)), "\n")
}

// capabilities are those of the target; the library's own where the target does not say, or where the chart does not
// ask, so that the output cannot depend on what the key leaves out.
func (l *loaded) capabilitiesOf(req render.Request) (*common.Capabilities, error) {
	caps := common.DefaultCapabilities.Copy()
	caps.HelmVersion.Version = Version // the library itself knows no patch
	if !l.depends(req) {
		return caps, nil
	}
	if req.KubeVersion != "" {
		v, err := common.ParseKubeVersion(req.KubeVersion)
		if err != nil {
			return nil, failure("kube-version", fmt.Sprintf("%q is no version of Kubernetes", req.KubeVersion), "")
		}
		caps.KubeVersion = *v
	}
	if len(req.APIs) > 0 {
		caps.APIVersions = apiVersions(req.APIs)
	}
	return caps, nil
}

// apiVersions are the kinds as Helm knows them: "apps/v1/Deployment" and, by themselves, "apps/v1".
func apiVersions(apis []string) common.VersionSet {
	seen := make(map[string]bool, 2*len(apis))
	for _, a := range apis {
		seen[a] = true
		if i := strings.LastIndexByte(a, '/'); i > 0 {
			seen[a[:i]] = true
		}
	}
	return slices.Sorted(maps.Keys(seen))
}

// checkKubeVersion refuses a cluster the chart was not written for.
func checkKubeVersion(c *chart.Chart, caps *common.Capabilities) error {
	want := c.Metadata.KubeVersion
	if want == "" || util.IsCompatibleRange(want, caps.KubeVersion.String()) {
		return nil
	}
	return failure("kube-version",
		fmt.Sprintf("chart %s wants Kubernetes %s, the cluster has %s", c.Name(), want, caps.KubeVersion.Version),
		"choose another version of the chart, or place the instance elsewhere")
}

// deprecated is what the chart says of itself.
func deprecated(c *chart.Chart) diag.Findings {
	if !c.Metadata.Deprecated {
		return nil
	}
	return diag.Findings{diag.Warnf("deprecated", "chart %s %s is deprecated", c.Name(), c.Metadata.Version)}
}

// displayRoot is how files of the chart are shown: below the path the user wrote for a local directory, else below the
// chart's name; with a trailing slash.
func displayRoot(req render.Request, l *loaded) string {
	src := source(req)
	if src.Repo == "" && src.Chart != "" && !strings.Contains(src.Chart, "://") && filepath.Ext(src.Chart) != ".tgz" {
		p := filepath.FromSlash(src.Chart)
		if !filepath.IsAbs(p) {
			p = filepath.Join(src.Dir, p)
		}
		return strings.TrimSuffix(render.DisplayPath(p), "/") + "/"
	}
	return l.chart.Name() + "/"
}

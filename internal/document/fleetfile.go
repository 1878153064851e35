package document

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"cuelang.org/go/cue"
	"k8s.io/apimachinery/pkg/util/validation"

	"hawser.dev/hawser/api/v1alpha1"
	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/fleet"
)

var (
	fleetFields      = []string{"apiVersion", "name", "clusters", "values", "rollout", "secretStores", "releases", "health", "ignore", "signatures"}
	clusterFields    = []string{"group", "kubeContext", "kubeconfig", "proxyURL", "labels", "vars", "taints", "uid"}
	kubeconfigFields = []string{"path", "context"}
	kubeconfigLater  = []string{"content", "secretRef", "url", "resource"}
	queryFields      = []string{"query", "for", "optional"}
	waveFields       = []string{"name", "groups", "clusters", "clusterSelector", "canary", "maxParallel", "maxFailures", "soak", "window", "approval"}
)

func (d *decoder) fleet(v cue.Value, runtime bool) *v1alpha1.FleetSpec {
	out := &v1alpha1.FleetSpec{Pos: d.apiPos(v), Dir: d.p.dirOf(v.Pos())}
	seen := map[string]bool{}
	var rollout cue.Value
	for _, f := range d.fields(v, fleetFields) {
		seen[f.name] = true
		switch f.name {
		case "apiVersion":
			out.APIVersion = d.apiVersion(f.value)
		case "name":
			var ok bool
			if out.Name, ok = d.str(f.value); ok {
				d.name(f.value, "the name of a fleet", out.Name)
			}
		case "clusters":
			out.Clusters = d.clusters(f.value, runtime)
		case "values":
			items, _ := d.list(f.value)
			for _, item := range items {
				out.Values = append(out.Values, d.query(item))
			}
		case "rollout":
			rollout = f.value
			out.Rollout = d.rollout(f.value)
		case "secretStores":
			out.SecretStores = d.secretStores(f.value)
		case "releases":
			out.Releases = d.releases(f.value)
		case "health":
			out.Health = d.healthRules(f.value)
		case "ignore":
			out.Ignore = d.ignoreRules(f.value)
		case "signatures":
			out.Signatures = d.signatures(f.value)
		}
	}
	if !d.is(v, cue.StructKind, "a struct") {
		return out
	}
	for _, name := range []string{"apiVersion", "name"} {
		if !seen[name] {
			d.require(v, name)
		}
	}
	if out.Rollout != nil && !d.findings.Unknown() {
		d.checkWaves(rollout, out)
	}
	return out
}

func (d *decoder) clusters(v cue.Value, runtime bool) []v1alpha1.ClusterSpec {
	fields, ok := d.anyFields(v)
	if ok && len(fields) == 0 { // without clusters the current context would be meant, which nobody says here
		n := diag.Errorf("no-clusters", "the fleet has no clusters")
		n.Fix = "declare them, or leave clusters out to mean the current context"
		d.add(n, v)
	}
	var out []v1alpha1.ClusterSpec
	uids := map[string]string{}
	for _, f := range fields {
		d.name(f.value, "the name of a cluster", f.name)
		if !d.is(f.value, cue.StructKind, "a struct") {
			continue
		}
		c := d.cluster(f.value, f.name, runtime)
		if first, twice := uids[c.UID]; twice && c.UID != "" {
			uid, _ := lookup(f.value, "uid")
			d.errorf(uid, "duplicate-uid", "cluster %s has this uid too: two names of one cluster", first)
		}
		uids[c.UID] = f.name
		out = append(out, c)
	}
	// The order is the order of changes: over several files it is theirs, within one it is CUE's field order.
	slices.SortStableFunc(out, func(a, b v1alpha1.ClusterSpec) int {
		return d.p.fileIndex(a.Pos.File) - d.p.fileIndex(b.Pos.File)
	})
	return out
}

// fileIndex is the place of a file in the order given; files that were imported come first.
func (p *Program) fileIndex(name string) int {
	return slices.IndexFunc(p.all, func(s *source) bool { return s.name == name })
}

func (d *decoder) cluster(v cue.Value, name string, runtime bool) v1alpha1.ClusterSpec {
	out := v1alpha1.ClusterSpec{Name: name, Pos: d.apiPos(v)}
	seen, before := map[string]bool{}, len(d.findings)
	for _, f := range d.fields(v, clusterFields) {
		seen[f.name] = true
		switch f.name {
		case "group":
			out.Group = d.group(f.value)
		case "kubeContext":
			s, ok := d.str(f.value)
			if out.KubeContext = s; ok && s == "" {
				d.noAccess(f.value)
			}
		case "kubeconfig":
			out.Kubeconfig = d.kubeconfig(f.value)
		case "proxyURL":
			out.ProxyURL, _ = d.str(f.value)
			d.proxy(f.value, out.ProxyURL)
		case "labels":
			out.Labels = d.stringMap(f.value)
			d.labels(f.value, out.Labels)
		case "vars":
			if x := d.data(f.value); x.Struct != nil {
				out.Vars, _ = x.Struct.Exact().(map[string]any)
			}
		case "taints":
			items, _ := d.list(f.value)
			for _, item := range items {
				out.Taints = append(out.Taints, d.taint(item))
			}
		case "uid":
			out.UID, _ = d.str(f.value)
		}
	}
	switch {
	case runtime && (!seen["group"] || !seen["kubeContext"]):
		for _, name := range []string{"group", "kubeContext"} {
			if !seen[name] {
				d.require(v, name)
			}
		}
	case seen["kubeContext"] && seen["kubeconfig"]:
		n := diag.Errorf("two-accesses", "a cluster has kubeContext or kubeconfig, not both")
		n.Fix = "kubeconfig takes a context, too: kubeconfig: {path: ..., context: ...}"
		d.add(n, v)
	case !seen["kubeContext"] && !seen["kubeconfig"] && len(d.findings) == before: // else a field of another name may be meant
		d.noAccess(v)
	}
	return out
}

func (d *decoder) noAccess(v cue.Value) {
	n := diag.Errorf("no-access", "nothing says how the cluster is reached")
	n.Why, n.Fix = "the current context is never assumed for a declared cluster", "give it kubeContext or kubeconfig"
	d.add(n, v)
}

func (d *decoder) group(v cue.Value) string {
	s, ok := d.str(v)
	if ok && (s == "" || strings.ContainsAny(s, "*?[],\\ \t\r\n")) {
		d.errorf(v, "invalid-name", "%q cannot be the name of a group", s)
	}
	return s
}

func (d *decoder) kubeconfig(v cue.Value) *v1alpha1.KubeconfigAccess {
	out := &v1alpha1.KubeconfigAccess{Pos: d.apiPos(v), Dir: d.dir(v)}
	seen := map[string]bool{}
	for _, f := range d.fields(v, kubeconfigFields, kubeconfigLater...) {
		seen[f.name] = true
		s, ok := d.str(f.value)
		if f.name == "path" {
			out.Path, out.Dir, out.Pos = s, d.dir(f.value), d.apiPos(f.value)
		} else {
			out.Context = s
		}
		if ok && s == "" {
			d.errorf(f.value, "no-access", "%s is empty", f.name)
		}
	}
	for _, name := range kubeconfigLater {
		if _, ok := lookup(v, name); ok {
			return out
		}
	}
	if !seen["path"] && d.is(v, cue.StructKind, "a struct") {
		d.require(v, "path")
	}
	return out
}

func (d *decoder) proxy(v cue.Value, s string) {
	scheme, host, ok := strings.Cut(s, "://")
	switch scheme {
	case "http", "https", "socks5":
		if ok && host != "" {
			return
		}
	}
	d.errorf(v, "invalid-url", "proxyURL must be http://, https:// or socks5:// and a host")
}

func (d *decoder) labels(v cue.Value, labels map[string]string) {
	for name, value := range labels {
		at, _ := lookup(v, name)
		for _, why := range validation.IsQualifiedName(name) {
			d.errorf(at, "invalid-label", "%q cannot be a label: %s", name, why)
		}
		for _, why := range validation.IsValidLabelValue(value) {
			d.errorf(at, "invalid-label", "%q cannot be the value of a label: %s", value, why)
		}
	}
}

func (d *decoder) taint(v cue.Value) v1alpha1.Taint {
	var out v1alpha1.Taint
	for _, f := range d.demanded(v, []string{"key", "effect"}, "value") {
		s, ok := d.str(f.value)
		switch f.name {
		case "key":
			out.Key = s
		case "value":
			out.Value = s
		case "effect":
			if out.Effect = s; ok {
				d.effect(f.value, s)
			}
		}
	}
	return out
}

func (d *decoder) query(v cue.Value) v1alpha1.RuntimeQuery {
	out := v1alpha1.RuntimeQuery{Pos: d.apiPos(v)}
	seen := map[string]bool{}
	for _, f := range d.fields(v, queryFields) {
		seen[f.name] = true
		switch f.name {
		case "query":
			s, ok := d.str(f.value)
			if out.Query = s; ok {
				if _, err := fleet.ParseQuery(s); err != nil {
					n := diag.Errorf("invalid-query", "%v", err)
					n.Fix = "k8s:v1:ConfigMap:NAMESPACE:NAME, or k8s:v1:Namespace:NAME"
					d.add(n, f.value)
				}
			}
		case "for":
			vars, _ := d.anyFields(f.value)
			for _, one := range vars {
				out.For = append(out.For, d.queryVar(one))
			}
		case "optional":
			out.Optional = d.boolean(f.value)
		}
	}
	for _, name := range []string{"query", "for"} {
		if !seen[name] && d.is(v, cue.StructKind, "a struct") {
			d.require(v, name)
		}
	}
	return out
}

func (d *decoder) queryVar(f field) v1alpha1.QueryVar {
	expr, ok := d.str(f.value)
	if !fleet.ValidVar(f.name) {
		d.errorf(f.value, "invalid-name", "%q cannot name a runtime value: letters, digits, '-' and '_' only", f.name)
	}
	if ok {
		if err := fleet.CheckExpr(expr); err != nil {
			n := diag.Errorf("invalid-query", "the expression for %s is no CUE over obj", f.name)
			n.Why = err.Error()
			d.add(n, f.value)
		}
	}
	return v1alpha1.QueryVar{Name: f.name, Expr: expr}
}

func (d *decoder) rollout(v cue.Value) *v1alpha1.Rollout {
	out := &v1alpha1.Rollout{}
	for _, f := range d.demanded(v, []string{"waves"}, "onFailure") {
		if f.name == "onFailure" {
			out.OnFailure, _ = d.str(f.value)
			d.addAny(fleet.WrongOnFailure(out.OnFailure), f.value)
			continue
		}
		items, _ := d.list(f.value)
		for _, item := range items {
			out.Waves = append(out.Waves, d.wave(item))
		}
		if items != nil && len(items) == 0 {
			d.errorf(f.value, "no-waves", "waves is empty")
		}
	}
	return out
}

func (d *decoder) wave(v cue.Value) v1alpha1.Wave {
	out := v1alpha1.Wave{Pos: d.apiPos(v)}
	for _, f := range d.fields(v, waveFields) {
		switch f.name {
		case "name":
			out.Name, _ = d.str(f.value)
		case "groups":
			out.Groups = d.globs(f.value)
		case "clusters":
			out.Clusters = d.globs(f.value)
		case "clusterSelector":
			out.ClusterSelector = d.labelSelector(f.value)
		case "canary":
			out.Canary = d.clusterCount(f.value)
		case "maxParallel":
			out.MaxParallel = d.count(f.value)
		case "maxFailures":
			out.MaxFailures = d.count(f.value)
		case "soak":
			out.Soak = d.duration(f.value)
		case "approval":
			out.Approval, _ = d.str(f.value)
			d.addAny(fleet.WrongApproval(out.Approval), f.value)
		case "window":
			out.Window = d.window(f.value)
		}
	}
	return out
}

func (d *decoder) window(v cue.Value) *v1alpha1.Window {
	w, before := &v1alpha1.Window{}, len(d.findings)
	texts := map[string]*string{"from": &w.From, "to": &w.To, "tz": &w.TZ}
	for _, g := range d.fields(v, []string{"days", "from", "to", "tz"}) {
		if g.name == "days" {
			w.Days = d.strings(g.value)
		} else {
			*texts[g.name], _ = d.str(g.value)
		}
	}
	if d.is(v, cue.StructKind, "a struct"); len(d.findings) == before {
		d.addAny(fleet.WrongWindow(w), v)
	}
	return w
}

// clusterCount is a number of clusters; a share of them has a word of its own.
func (d *decoder) clusterCount(v cue.Value) int {
	if x, _ := v.Default(); x.Kind() == cue.StringKind {
		d.add(diag.Finding{Severity: diag.Error, Code: "wrong-type", What: "must be a number of clusters, is a string", Why: "a share of the clusters cannot be said", Fix: "write for example 1"}, v)
		return 0
	}
	return d.count(v)
}

func (d *decoder) duration(v cue.Value) v1alpha1.Duration {
	if x, _ := v.Default(); x.Kind()&cue.NumberKind != 0 {
		d.add(diag.Finding{Severity: diag.Error, Code: "wrong-type", What: "must be a duration, is a number without a unit", Fix: "write for example 90s, 2m30s or 1h"}, v)
		return v1alpha1.Duration{}
	}
	s, ok := d.str(v)
	if !ok {
		return v1alpha1.Duration{}
	}
	t, err := time.ParseDuration(s)
	if err != nil || t < 0 {
		n := diag.Errorf("invalid-duration", "%q is no duration", s)
		n.Fix = "write for example 90s, 2m30s or 1h"
		d.add(n, v)
		return v1alpha1.Duration{}
	}
	return v1alpha1.Duration{Duration: t}
}

// checkWaves: every cluster is in exactly one wave, and every name in a wave means something.
func (d *decoder) checkWaves(v cue.Value, f *v1alpha1.FleetSpec) {
	waves, _ := lookup(v, "waves")
	items, _ := d.list(waves)
	before := len(d.findings)
	for i, w := range f.Rollout.Waves {
		if i >= len(items) {
			break
		}
		if w.Groups == nil && w.Clusters == nil && w.ClusterSelector == nil {
			n := diag.Errorf("no-clusters", "the wave does not say which clusters are in it")
			n.Fix = "give it groups, clusters or clusterSelector"
			d.add(n, items[i])
			continue
		}
		d.knownInWave(items[i], w, f)
	}
	sound := len(d.findings) == before // else a cluster is in no wave because of what a wave says
	d.findings = append(d.findings, fleet.OutsideWaves(f, sound)...)
}

func (d *decoder) knownInWave(v cue.Value, w v1alpha1.Wave, f *v1alpha1.FleetSpec) {
	names, groups := fleet.Names(f.Clusters), fleet.Groups(f.Clusters)
	check := func(field, what string, patterns, have []string) {
		list, _ := lookup(v, field)
		items, _ := d.list(list)
		for i, pattern := range patterns {
			if i < len(items) && !fleet.AnyMatch(pattern, have) {
				n := diag.Errorf("unknown-"+what, "there is no %s %q", what, pattern)
				n.Fix = cmp.Or(diag.OneOf(pattern, have), "no cluster has one: write "+what+": NAME at the clusters that are meant")
				d.add(n, items[i])
			}
		}
	}
	check("groups", "group", w.Groups, groups)
	check("clusters", "cluster", w.Clusters, names)
}

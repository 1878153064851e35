package helm

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"sort"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	jsonutil "k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/yaml"

	chart "helm.sh/helm/v4/pkg/chart/v2"
	releaseutil "helm.sh/helm/v4/pkg/release/v1/util"

	"hawser.dev/hawser/internal/cuelang"
	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/object"
	"hawser.dev/hawser/internal/render"
)

// Helm's annotations on hooks.
const (
	annHook   = "helm.sh/hook"
	annWeight = "helm.sh/hook-weight"
	annDelete = "helm.sh/hook-delete-policy"
)

const notesFile = "NOTES.txt"

// objects reads what was rendered: CRDs, lasting objects in Helm's order of kinds, hooks.
func (j *job) objects(c *chart.Chart, files map[string]string) ([]object.Object, error) {
	total := 0
	for _, text := range files {
		total += len(text)
	}
	if total > j.opts.Limits.OutputBytes {
		return nil, failure("output-too-large", fmt.Sprintf("the chart renders %d MiB, at most %d MiB are read",
			total>>20, j.opts.Limits.OutputBytes>>20), "")
	}
	var crds, lasting, hooks []object.Object
	var found diag.Findings
	if !source(j.req).SkipCRDs {
		for _, f := range c.CRDObjects() {
			objs, fs := j.documents(f.Filename, string(f.File.Data))
			crds, found = append(crds, objs...), append(found, fs...)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if strings.HasSuffix(name, notesFile) || strings.HasPrefix(path.Base(name), "_") {
			continue
		}
		objs, fs := j.documents(name, files[name])
		found = append(found, fs...)
		for _, o := range objs {
			isHook, keep, fs := j.asHook(&o)
			found = append(found, fs...)
			switch {
			case isHook && keep:
				hooks = append(hooks, o)
			case !isHook:
				lasting = append(lasting, o)
			}
		}
	}
	hooks, fs := apart(lasting, hooks)
	if found = append(found, fs...); found.HasErrors() {
		return nil, found.Errors().Err()
	}
	j.warnings = append(j.warnings, found.Warnings()...)
	byKind := order(releaseutil.InstallOrder)
	slices.SortStableFunc(lasting, byKind)
	slices.SortStableFunc(hooks, byKind)
	return slices.Concat(crds, lasting, hooks), nil
}

// documents are the objects in one rendered file, those in Lists by themselves; documents without content are left out.
func (j *job) documents(name, text string) ([]object.Object, diag.Findings) {
	if strings.TrimSpace(text) == "" {
		return nil, nil
	}
	docs := releaseutil.SplitManifests(text)
	keys := slices.Collect(maps.Keys(docs))
	sort.Sort(releaseutil.BySplitManifestsOrder(keys))
	pos := diag.Pos{File: j.file(name)}
	var out []object.Object
	var found diag.Findings
	for i, k := range keys {
		// Helm writes all lasting objects into one manifest, each with a line's end after it; a hook stands for itself.
		body, err := decoded(docs[k] + "\n")
		if m, ok := body.(map[string]any); ok && isHook(m) {
			body, err = decoded(docs[k])
		}
		if err != nil {
			f := diag.Errorf("not-yaml", "the template renders something that is not YAML (document %d)", i+1)
			f.Why, f.Pos = cuelang.YAMLFault(err.Error()), pos
			f.Fix = "look at the indentation the template gives; lines count from the document's start"
			found = append(found, f)
			continue
		}
		if body == nil {
			continue
		}
		m, ok := body.(map[string]any)
		if !ok {
			f := diag.Errorf("not-an-object", "the template renders a document that is no object (document %d)", i+1)
			f.Pos = pos
			found = append(found, f)
			continue
		}
		for _, item := range items(m) {
			out = append(out, object.Object{Body: item, Instance: j.req.Instance.Name, Pos: pos})
		}
	}
	return out, found
}

// decoded is a document as JSON types.
func decoded(text string) (body any, err error) {
	if fs := cuelang.CheckAliases("-", []byte(text)); fs != nil {
		return nil, fmt.Errorf("line %d: %s", fs[0].Pos.Line, fs[0].What)
	}
	data, err := yaml.YAMLToJSON([]byte(text))
	if err == nil {
		err = jsonutil.Unmarshal(data, &body)
	}
	return body, err
}

func isHook(body map[string]any) bool {
	_, is := (&unstructured.Unstructured{Object: body}).GetAnnotations()[annHook]
	return is
}

// items are the objects of a List, at every depth, or the object itself.
func items(body map[string]any) []map[string]any {
	kind, _ := body["kind"].(string)
	list, ok := body["items"].([]any)
	if !ok || !strings.HasSuffix(kind, "List") {
		return []map[string]any{body}
	}
	var out []map[string]any
	for _, x := range list {
		if m, ok := x.(map[string]any); ok {
			out = append(out, items(render.ListItem(body, m))...)
		}
	}
	return out
}

// events are Helm's names that have the same meaning here.
var events = map[string]object.HookPhase{
	"pre-install": object.PreInstall, "post-install": object.PostInstall,
	"pre-upgrade": object.PreUpgrade, "post-upgrade": object.PostUpgrade,
	"pre-rollback": object.PreRollback, "post-rollback": object.PostRollback,
	"pre-delete": object.PreDelete, "post-delete": object.PostDelete,
	"test": object.Test, "test-success": object.Test,
}

// asHook reads the annotations of a hook into o.Hook. keep is false for one that does not run: a test that was not
// asked for, a hook of a moment there is not, or all hooks where the source leaves them out.
func (j *job) asHook(o *object.Object) (isHook, keep bool, found diag.Findings) {
	ann := (&unstructured.Unstructured{Object: o.Body}).GetAnnotations()
	text, isHook := ann[annHook]
	if !isHook || source(j.req).SkipHooks {
		return isHook, false, nil
	}
	warn := func(code, annotation, what string) {
		quoted := "" // as it is written, or not at all: a secret value is not known by a word of it, nor in small letters
		if value := ann[annotation]; len(value) <= 256 {
			quoted = fmt.Sprintf(" %q", value)
		}
		f := diag.Warnf(code, "%s%s names what is no %s", annotation, quoted, what)
		f.Pos, f.Object = o.Pos, o.Ref().String()
		found = append(found, f)
	}
	h := &object.Hook{}
	h.Weight, _ = strconv.Atoi(ann[annWeight])
	tests := false
	for _, name := range words(text) {
		e, ok := events[name]
		switch {
		case !ok:
			warn("hook-event", annHook, "moment to run at")
		case e == object.Test && !j.req.Tests:
			tests = true
		case !slices.Contains(h.Events, e):
			h.Events = append(h.Events, e)
		}
	}
	for _, p := range words(ann[annDelete]) {
		switch p {
		case object.BeforeHookCreation, object.HookSucceeded, object.HookFailed:
			h.Delete = append(h.Delete, p)
		default:
			warn("hook-delete-policy", annDelete, "delete policy")
		}
	}
	found = slices.CompactFunc(found, func(a, b diag.Finding) bool { return a.Code == b.Code })
	if len(h.Events) == 0 {
		if tests {
			return true, false, nil
		}
		if len(found) > 0 {
			found[0].What += "; the object is left out"
		}
		return true, false, found
	}
	o.Hook = h
	return true, true, found
}

// apart leaves out hooks of rollbacks alone whose object another one of the chart is: Helm makes one after the other of the same name,
// and here an object is declared once.
func apart(lasting, hooks []object.Object) (kept []object.Object, found diag.Findings) {
	alone := func(o object.Object) bool {
		return o.Hook != nil && !slices.ContainsFunc(o.Hook.Events, func(e object.HookPhase) bool { return e != object.PreRollback && e != object.PostRollback })
	}
	others := map[object.Ref]bool{}
	for _, o := range slices.Concat(lasting, hooks) {
		others[o.Ref()] = others[o.Ref()] || !alone(o)
	}
	for _, o := range hooks {
		if !alone(o) || !others[o.Ref()] {
			kept = append(kept, o)
			continue
		}
		f := diag.Warnf("hook-event", "the chart has another object of this name: the hook of rollbacks is left out")
		f.Pos, f.Object, f.Fix = o.Pos, o.Ref().String(), "give it a name of its own"
		found = append(found, f)
	}
	return kept, found
}

func words(list string) []string {
	var out []string
	for w := range strings.SplitSeq(list, ",") {
		if w = strings.ToLower(strings.TrimSpace(w)); w != "" {
			out = append(out, w)
		}
	}
	return out
}

package engine

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"hawser.dev/hawser/internal/fleetplan"
)

// definition is a custom resource definition "things" in the rig's own group; versions are "v1", with + where it is stored.
func (r *rig) definition(versions ...string) string {
	var list []string
	for _, v := range versions {
		name, stored := strings.CutSuffix(v, "+")
		list = append(list, fmt.Sprintf("{name: %s, served: true, storage: %t, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}", name, stored))
	}
	return "---\napiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: things." + r.name + ".example}\nspec:\n  group: " + r.name +
		".example\n  scope: Namespaced\n  names: {plural: things, singular: thing, kind: Thing, listKind: ThingList}\n  versions: [" + strings.Join(list, ", ") + "]\n"
}

func (r *rig) thing(version, name string) string {
	return "---\napiVersion: " + r.name + ".example/" + version + "\nkind: Thing\nmetadata: {name: " + name + "}\nsize: " + version + "\n"
}

// ask sends a request as the administrator; what is "" has no body.
func (r *rig) ask(verb, path, body string) error {
	req := r.admin.CoreV1().RESTClient().Verb(verb).AbsPath(path).SetHeader("Content-Type", map[string]string{"PATCH": "application/merge-patch+json"}[verb])
	if verb != "PATCH" {
		req.SetHeader("Content-Type", "application/yaml")
	}
	if body != "" {
		req.Body([]byte(strings.TrimPrefix(body, "---\n")))
	}
	return req.Do(r.t.Context()).Error()
}

// releases applies what is declared, one release after the other.
func (r *rig) releases(manifests ...string) {
	r.t.Helper()
	for _, m := range manifests {
		r.write("bundle.yaml", r.bundle(m))
		req := r.request()
		if n := r.plan(req).Counts().Delete; n > 0 {
			req.ConfirmDelete = &n
		}
		r.applied(req)
	}
}

// Where custom resource definitions and their objects are.
const crdOf, thingsOf = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/things.%s.example", "/apis/%[1]s.example/%[2]s/namespaces/%[1]s/things/"

// marker is an object that tells which release there is.
func (r *rig) marker(v string) string { return r.configMap("a", "key: "+v) }

// rollsBack is the plan of a rollback.
func (r *rig) rollsBack(req Request) *Prepared {
	r.t.Helper()
	fp, err := r.Plan(r.t.Context(), req.For(Rollback))
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(fp.run.close)
	return fp
}

// refusesBack fails the test unless going back is refused in words before anything is written.
func (r *rig) refusesBack(words ...string) {
	r.t.Helper()
	was := r.keys("a")
	fp, err := r.Plan(r.t.Context(), r.back("").For(Rollback))
	text := fmt.Sprint(err)
	if err == nil { // there is a plan, which cannot be applied
		text = fmt.Sprint(fp.Findings.Errors())
		if _, err := r.Apply(r.t.Context(), fp, r.back("")); !errors.Is(err, fleetplan.ErrRefused) {
			r.t.Error(err)
		}
	}
	for _, w := range words {
		if !strings.Contains(text, w) {
			r.t.Errorf("%q is not in %s", w, text)
		}
	}
	if r.keys("a") != was {
		r.t.Error(r.keys("a"))
	}
}

// goesBack fails the test unless going back to a release with the marker "one" works.
func (r *rig) goesBack(to string) {
	r.t.Helper()
	req := r.back(to)
	fp := r.rollsBack(req)
	if n := fp.Counts().Delete; n > 0 {
		req.ConfirmDelete = &n
		fp = r.rollsBack(req)
	}
	r.carried(fp, req)
	if r.keys("a") != "one" {
		r.t.Error(r.keys("a"))
	}
}

// hasThing fails the test unless there is a custom resource in a version.
func (r *rig) hasThing(version, name string) {
	r.t.Helper()
	if err := r.ask("GET", fmt.Sprintf(thingsOf, r.name, version)+name, ""); err != nil {
		r.t.Errorf("%s %s: %v", version, name, err)
	}
}

// TestRollbackOverDefinitions: going back over a definition that has changed or gone since works where the API server lets it.
func TestRollbackOverDefinitions(t *testing.T) {
	t.Parallel()
	t.Run("a version added and stored since that stays served", func(t *testing.T) {
		r := newRig(t)
		r.releases(r.marker("one")+r.definition("v1+", "v2")+r.thing("v1", "one"), r.marker("two")+r.definition("v1", "v2+")+r.thing("v2", "one"))
		r.goesBack("")
		r.hasThing("v1", "one")
	})
	t.Run("a version removed since", func(t *testing.T) {
		r := newRig(t)
		r.releases(r.marker("one")+r.definition("v1+", "v2")+r.thing("v1", "one"), r.marker("two")+r.definition("v1", "v2+")+r.thing("v2", "one"))
		if err := r.ask("PATCH", fmt.Sprintf(crdOf, r.name)+"/status", `{"status":{"storedVersions":["v2"]}}`); err != nil {
			t.Fatal(err)
		}
		r.releases(r.marker("three") + r.definition("v2+") + r.thing("v2", "one"))
		r.goesBack("1")
		r.hasThing("v1", "one")
	})
	t.Run("a definition that went with its objects", func(t *testing.T) {
		r := newRig(t)
		r.releases(r.marker("one")+r.definition("v1+")+r.thing("v1", "one"), r.marker("two"))
		r.goesBack("")
		r.hasThing("v1", "one")
	})
}

// TestRollbackRefusesDefinitions: where the definitions of now do not let it, that is found before anything is written.
func TestRollbackRefusesDefinitions(t *testing.T) {
	t.Parallel()
	t.Run("to a version that is stored no longer", func(t *testing.T) {
		r := newRig(t)
		r.releases(r.marker("one")+r.definition("v1+")+r.thing("v1", "one"), r.marker("two")+r.definition("v1", "v2+")+r.thing("v2", "one"))
		r.refusesBack("things."+r.name+".example", "storedVersions", "v2")
	})
	t.Run("a definition that came since and that others use", func(t *testing.T) {
		r := newRig(t)
		r.releases(r.marker("one"), r.marker("two")+r.definition("v1+")+r.thing("v1", "one"))
		if err := r.ask("POST", fmt.Sprintf(thingsOf, r.name, "v1"), r.thing("v1", "theirs")); err != nil {
			t.Fatal(err)
		}
		r.refusesBack("theirs")
		r.hasThing("v1", "one")
		if err := r.ask("DELETE", fmt.Sprintf(thingsOf, r.name, "v1")+"theirs", ""); err != nil {
			t.Fatal(err)
		}
		r.goesBack("")
		if err := r.ask("GET", fmt.Sprintf(crdOf, r.name), ""); err == nil {
			t.Error("the definition is still there")
		}
	})
	t.Run("of somebody else", func(t *testing.T) {
		r := newRig(t)
		of := func(versions ...string) string { return strings.TrimPrefix(r.definition(versions...), "---\n") }
		if err := r.ask("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", of("v1+", "v2")); err != nil {
			t.Fatal(err)
		}
		r.served("v1")
		r.releases(r.marker("one")+r.thing("v1", "one"), r.marker("two"))
		const schema = `"schema":{"openAPIV3Schema":{"type":"object","x-kubernetes-preserve-unknown-fields":true}}`
		if err := r.ask("PATCH", fmt.Sprintf(crdOf, r.name), `{"spec":{"versions":[{"name":"v1","served":false,"storage":true,`+schema+`},{"name":"v2","served":true,"storage":false,`+schema+`}]}}`); err != nil {
			t.Fatal(err)
		}
		r.unserved("v1")
		r.refusesBack("Thing", "v1")
		if err := r.ask("DELETE", fmt.Sprintf(crdOf, r.name), ""); err != nil {
			t.Fatal(err)
		}
		r.unserved("v2")
		r.refusesBack("Thing")
	})
}

// served waits until the API server serves a version of the rig's definition; unserved until it does no longer.
func (r *rig) served(version string)   { r.t.Helper(); r.serves(version, true) }
func (r *rig) unserved(version string) { r.t.Helper(); r.serves(version, false) }

func (r *rig) serves(version string, want bool) {
	r.t.Helper()
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(100 * time.Millisecond) {
		list, err := r.admin.Discovery().ServerResourcesForGroupVersion(r.name + ".example/" + version)
		if (err == nil && len(list.APIResources) > 0) == want {
			return
		}
	}
	r.t.Fatalf("%s is served: not %t within a minute", version, want)
}

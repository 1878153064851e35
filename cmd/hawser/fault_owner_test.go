package main

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"
)

// The object is somebody else's: kubectl's, or fields of ours that somebody took. The plan names object, owner and
// field, nothing is written anywhere, and taking it over has to be said.
func TestFault09ForeignOwner(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.files(faultFleet + faultBundle)
	s.namespace(clusters...)
	s.admin("production-us", http.MethodPost, "api/v1/namespaces/$NS/configmaps",
		"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: b, annotations: {kubectl.kubernetes.io/last-applied-configuration: '{}'}}\ndata: {v: theirs, x: theirs}\n",
		"fieldManager", "kubectl-client-side-apply")
	s.mark()
	r := s.want(5, onFleet("plan")...)
	s.has(r.Stdout, "ConfigMap", "$NS/b", "kubectl", "production-us")
	s.has(s.want(5, onFleet("apply", "-y")...).Stderr, "kubectl", "--adopt")
	s.untouched(clusters...)
	s.wantData("production-us", "b", "v", "theirs")

	s.want(0, onFleet("apply", "-y", "--adopt")...)
	s.wantData("production-us", "b", "v", "1")
	s.wantData("production-us", "b", "x", "") // what they had beside ours went with them
	s.mark()
	s.want(0, onFleet("apply", "-y")...)
	s.untouched(clusters...)
}

func TestFault09FieldsOfSomebodyElse(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.files(faultBundle)
	s.want(0, onOne("staging", "apply", "-y")...)
	s.admin("staging", http.MethodPatch, "api/v1/namespaces/$NS/configmaps/a",
		"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {w: theirs}\n", "fieldManager", "operator", "force", "false")
	s.edit("m/a.yaml", `data: {v: "1"}`, `data: {v: "1", w: ours}`)
	s.mark()
	r := s.want(5, onOne("staging", "plan")...)
	s.has(r.Stdout, "data.w", "operator")
	r = s.run(onOne("staging", "apply", "-y")...)
	if r.Code == 0 {
		t.Errorf("the field was taken without a word: %s", r)
	}
	s.has(r.Stderr+r.Stdout, "data.w", "operator")
	s.wantData("staging", "a", "w", "theirs")
	s.want(0, onOne("staging", "apply", "-y", "--adopt")...)
	s.wantData("staging", "a", "w", "ours")
}

// The object is another bundle's: refused. Moving it is an adoption by the one and a release by the other, and deletes
// nothing.
func TestFault10AnotherBundle(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.files(faultBundle + `
-- other.yaml --
bundle:
  apiVersion: v1alpha1
  name: $B-other
  instances:
    all: {manifests: {paths: [./o]}, namespace: $NS}
-- o/a.yaml --
apiVersion: v1
kind: ConfigMap
metadata: {name: a}
data: {v: other}
`)
	s.want(0, onOne("staging", "apply", "-y")...)
	uid := s.get("staging", "api/v1/namespaces/$NS/configmaps/a").Metadata.UID
	s.mark()
	other := []string{"apply", "-y", "-f", "other.yaml", "--kube-context", "staging"}
	s.has(s.want(5, other...).Stderr, "$NS/a", "bundle $B")
	s.untouched("staging")

	s.want(0, append(other, "--adopt")...)
	s.wantData("staging", "a", "v", "other")
	s.write("m/a.yaml", "# moved\n")
	s.want(0, onOne("staging", "apply", "-y")...)
	s.wantData("staging", "a", "v", "other")
	s.want(0, "delete", s.bundle, "-y", "--kube-context", "staging")
	if got := s.get("staging", "api/v1/namespaces/$NS/configmaps/a"); got == nil || got.Metadata.UID != uid {
		t.Errorf("the object that was moved is not the same any more: %+v", got)
	}
	s.gone("staging", "b")
}

// An immutable field changes: the plan says that the object has to be recreated and what is lost; it happens only when
// allowed, and for a volume claim only with the number.
func TestFault11ImmutableField(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.files(faultBundle + `
-- m/fixed.yaml --
apiVersion: v1
kind: ConfigMap
metadata: {name: fixed}
immutable: true
data: {v: "1"}
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: disk}
spec: {accessModes: [ReadWriteOnce], storageClassName: none, resources: {requests: {storage: 1Gi}}}
`)
	s.want(0, onOne("staging", "apply", "-y", "--wait=false")...)
	uid := func(path string) string { return s.get("staging", "api/v1/namespaces/$NS/"+path).Metadata.UID }
	fixed, disk := uid("configmaps/fixed"), uid("persistentvolumeclaims/disk")

	s.edit("m/fixed.yaml", `data: {v: "1"}`, `data: {v: "2"}`)
	s.mark()
	s.has(s.want(5, onOne("staging", "plan")...).Stdout, "deleted and created again", "immutable", "--recreate")
	s.untouched("staging")
	s.has(s.want(5, onOne("staging", "apply", "-y", "--wait=false")...).Stderr, "immutable", "--recreate", "Nothing was written")
	s.untouched("staging")
	s.wantData("staging", "fixed", "v", "1")
	s.want(0, onOne("staging", "apply", "-y", "--wait=false", "--recreate")...)
	s.wantData("staging", "fixed", "v", "2")
	if uid("configmaps/fixed") == fixed {
		t.Error("the ConfigMap was not recreated")
	}

	s.edit("m/fixed.yaml", "accessModes: [ReadWriteOnce]", "accessModes: [ReadOnlyMany]")
	s.mark()
	r := s.want(5, onOne("staging", "apply", "-y", "--wait=false", "--recreate")...)
	s.has(r.Stderr, "data of the volume", "--confirm-delete=1")
	s.untouched("staging")
	if uid("persistentvolumeclaims/disk") != disk {
		t.Error("the claim was recreated without the number")
	}
}

const faultCRD = `
-- m/crd.yaml --
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: boats.$NS.example.com}
spec:
  group: $NS.example.com
  names: {kind: Boat, plural: boats, singular: boat, listKind: BoatList}
  scope: Namespaced
  versions:
  - name: v1
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {size: {type: integer}}}}}}
-- m/boat.yaml --
apiVersion: $NS.example.com/v1
kind: Boat
metadata: {name: one}
spec: {size: 1}
`

// A definition and its objects in one release: written in order, without a second run, and the plan says what cannot
// be checked before.
func TestFault13DefinitionAndItsObjects(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.files(faultFleet + faultBundle + faultCRD)
	r := s.want(0, onFleet("plan", "--server-check")...)
	s.has(r.Stdout, "Boat $NS/one", "deferred")
	s.want(0, onFleet("apply", "-y")...)
	for _, c := range clusters {
		if s.get(c, "apis/$NS.example.com/v1/namespaces/$NS/boats/one") == nil {
			t.Errorf("%s: the object is missing", c)
		}
	}
	s.mark()
	s.want(0, onFleet("apply", "-y")...)
	s.untouched(clusters...)
}

// The definition leaves the bundle while objects of its kind exist that are not ours: blocked, with their number.
func TestFault14DefinitionInUse(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.files(faultBundle + faultCRD)
	s.want(0, onOne("staging", "apply", "-y")...)
	boats := "apis/$NS.example.com/v1/namespaces/$NS/boats"
	for i := range 3 {
		s.admin("staging", http.MethodPost, boats, fmt.Sprintf("apiVersion: $NS.example.com/v1\nkind: Boat\nmetadata: {name: theirs%d}\n", i))
	}
	s.write("m/crd.yaml", "# gone\n")
	s.write("m/boat.yaml", "# gone\n")
	s.mark()
	for _, extra := range [][]string{nil, {"--confirm-delete", "2"}} {
		r := s.want(5, onOne("staging", append([]string{"apply", "-y"}, extra...)...)...)
		s.has(r.Stderr, "boats.$NS.example.com", "3 objects")
	}
	s.untouched("staging")
	for i := range 3 {
		s.admin("staging", http.MethodDelete, boats+fmt.Sprintf("/theirs%d", i), "")
	}
	s.has(s.want(5, onOne("staging", "apply", "-y")...).Stderr, "--confirm-delete=2")
	s.want(0, onOne("staging", "apply", "-y", "--confirm-delete", "2")...)
	if s.get("staging", "apis/apiextensions.k8s.io/v1/customresourcedefinitions/boats.$NS.example.com") != nil {
		t.Error("the definition is still there")
	}
}

// A finalizer never ends: waiting is bounded, the finalizer is named, the other objects go, and so do other clusters.
func TestFault15Finalizer(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.files(faultFleet + faultBundle)
	s.want(0, onFleet("apply", "-y")...)
	held := "api/v1/namespaces/$NS/configmaps/a"
	s.admin("production-us", http.MethodPatch, held, `{"metadata": {"finalizers": ["example.com/never"]}}`)
	r := s.run(append(onFleet("delete", "-y"), "--timeout", "20s")...)
	if r.Code != 3 && r.Code != 4 {
		t.Fatalf("want not ready or partly done, got %s", r)
	}
	if r.Elapsed > 5*time.Minute {
		t.Errorf("took %s", r.Elapsed)
	}
	s.has(r.Stderr+r.Stdout, "example.com/never", "$NS/a")
	s.gone("production-us", "b")
	s.gone("production-eu", "a", "b")

	s.admin("production-us", http.MethodPatch, held, `{"metadata": {"finalizers": null}}`)
	s.want(0, onFleet("delete", "-y")...)
	for _, c := range clusters {
		s.gone(c, "a", "b")
	}
}

// The namespace is stuck in deletion: the apply does not wait for ever and says what holds it.
func TestFault15TerminatingNamespace(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.files(faultBundle)
	s.namespace("staging")
	s.admin("staging", http.MethodPost, "api/v1/namespaces/$NS/configmaps", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: stuck, finalizers: [example.com/never]}\n")
	s.admin("staging", http.MethodDelete, "api/v1/namespaces/$NS", "")
	r := s.run(append(onOne("staging", "apply", "-y"), "--timeout", "5s")...)
	if r.Code == 0 || r.Elapsed > 5*time.Minute {
		t.Fatalf("want a failure in time, got %s", r)
	}
	text := r.Stderr + r.Stdout
	if !strings.Contains(text, "example.com/never") && !strings.Contains(text, "terminating") && !strings.Contains(text, "being deleted") {
		t.Errorf("the reason is missing: %s", r)
	}
	s.admin("staging", http.MethodPatch, "api/v1/namespaces/$NS/configmaps/stuck", `{"metadata": {"finalizers": null}}`)
	eventually(t, "the namespace goes", func() bool { return s.get("staging", "api/v1/namespaces/$NS") == nil })
	s.want(0, onOne("staging", "apply", "-y")...)
	s.there("staging", "a", "b")
}

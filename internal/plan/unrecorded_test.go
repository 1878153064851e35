package plan

import (
	"reflect"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"hawser.dev/hawser/internal/object"
)

func TestUnrecorded(t *testing.T) {
	ref := func(group, kind, name string) object.Ref {
		return object.Ref{Group: group, Kind: kind, Namespace: "ns", Name: name}
	}
	desired := []Desired{
		{Ref: ref("", "ConfigMap", "same"), Version: "v1", Digest: "1"},
		{Ref: ref("apps", "Deployment", "changed"), Version: "v1", Digest: "2"},
		{Ref: ref("apps", "Deployment", "also"), Version: "v1", Digest: "2"},
		{Ref: ref("batch", "Job", "new"), Version: "v1", Digest: "1"},
		{Ref: ref("batch", "CronJob", "hook"), Version: "v2", Digest: "1", Hook: &object.Hook{}},
		{Ref: ref("example.com", "Widget", "new"), Version: "v1", Digest: "1"},
		{Ref: object.Ref{Kind: "Namespace", Name: "ns"}, Version: "v1", Digest: "1", OwnNamespace: true},
	}
	recorded := []InventoryEntry{{Ref: ref("", "ConfigMap", "same"), Digest: "1"}, {Ref: ref("apps", "Deployment", "changed"), Digest: "1"}}
	defined := map[schema.GroupKind]object.DefinedKind{{Group: "example.com", Kind: "Widget"}: {}}
	versions := []schema.GroupVersion{{Group: "apps", Version: "v1"}, {Group: "batch", Version: "v1"}}
	changing := Unrecorded(desired, recorded)
	if got := Versions(changing, defined); !reflect.DeepEqual(got, versions) {
		t.Errorf("versions %v, want %v", got, versions)
	}
	if got := Places(changing); !reflect.DeepEqual(got, []string{object.SystemNamespace, "ns"}) {
		t.Errorf("places %q", got)
	}
	if got := Places(Unrecorded(desired, nil)); !reflect.DeepEqual(got, []string{"", object.SystemNamespace, "ns"}) {
		t.Errorf("places of a first apply %q", got)
	}
}

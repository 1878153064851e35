package kube_test

import (
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"hawser.dev/hawser/internal/object"
	"hawser.dev/hawser/internal/release"
	"hawser.dev/hawser/internal/release/kube"
	"hawser.dev/hawser/internal/release/storetest"
)

// TestSecretsOfOthers: whoever writes a bundle's index has no Secret of others read or deleted by who writes the next record,
// whatever the index names and whatever a label says.
func TestSecretsOfOthers(t *testing.T) {
	r := storetest.Record(t, 1)
	foreign := map[string]corev1.Secret{}
	for _, name := range []string{"hawser-9106310082b1747b215a", "hawser-9106310082b1747b215a-r1-set-abc-0", "hawser-" + r.Owner + "-kept", "credentials"} {
		foreign[name] = corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{object.LabelOwner: r.Owner}}}
	}
	for field, put := range map[string]func(x map[string]any, name string){
		"sweep":    func(x map[string]any, name string) { x["sweep"] = []string{name} },
		"overflow": func(x map[string]any, name string) { x["overflow"] = []string{name} },
		"kept": func(x map[string]any, name string) {
			x["kept"] = []any{map[string]any{"revision": 1, "phase": "succeeded", "set": "s", "digest": "d", "secrets": []string{name}}}
		},
		"label": nil,
	} {
		for _, name := range append(slices.Sorted(maps.Keys(foreign)), "../../default/secrets/hawser-"+r.Owner+"-r1-x") {
			c := &shelf{secrets: maps.Clone(foreign)}
			s := kube.New(c, "c")
			h, err := s.Put(t.Context(), r, storetest.Objects(2, "x"), "")
			if err != nil {
				t.Fatal(err)
			}
			head := c.secrets["hawser-"+r.Owner]
			if put != nil {
				var index map[string]any
				if err := json.Unmarshal(head.Data["index"], &index); err != nil {
					t.Fatal(err)
				}
				put(index, name)
				if head.Data["index"], err = json.Marshal(index); err != nil {
					t.Fatal(err)
				}
				s = kube.New(c, "c")
				_, _, err = s.Current(t.Context(), r.Owner)
				damaged, ok := errors.AsType[*release.DamagedError](err)
				if !ok || !strings.Contains(err.Error(), "none of its Secrets") && !strings.Contains(err.Error(), "its index names a Secret") {
					t.Errorf("%s %s: %v", field, name, err)
					continue
				}
				h = damaged.Handle
			}
			open := storetest.Record(t, 2)
			for _, phase := range []release.Phase{release.Applying, release.Applying, release.Succeeded} {
				open.Phase = phase
				if h, err = s.Put(t.Context(), open, storetest.Objects(2, "y"), h); err != nil {
					t.Fatal(err)
				}
			}
			if err := s.Delete(t.Context(), r.Owner, h); err != nil {
				t.Error(err)
			}
			for name := range foreign {
				if _, ok := c.secrets[name]; !ok {
					t.Errorf("%s: %s is deleted", field, name)
				}
			}
			if left := len(c.secrets); put == nil && left != len(foreign) {
				t.Errorf("%d Secrets are left, %d are of others", left, len(foreign))
			}
		}
	}
}

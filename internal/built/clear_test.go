package built

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hawser.dev/hawser/internal/fleetplan"
	"hawser.dev/hawser/internal/object"
)

// TestSecretsInClearAreSaid: what a build writes with secret values is named on one line, once for all clusters, and is for its
// owner alone; where there is none nothing is said.
func TestSecretsInClearAreSaid(t *testing.T) {
	make := func(kind, name string, data any, sensitive ...string) object.Object {
		body := map[string]any{"apiVersion": "v1", "kind": kind, "metadata": map[string]any{"name": name, "namespace": "shop"}}
		if data != nil {
			body["data"] = data
		}
		return object.Object{Body: body, Sensitive: sensitive}
	}
	write := func(objs ...object.Object) (said, dir string) {
		dir = t.TempDir()
		r := &fleetplan.BuildResult{Bundle: "shop", MultiCluster: true, Clusters: []string{"eu", "us"}, Whole: true}
		for _, c := range r.Clusters {
			r.Items = append(r.Items, fleetplan.BuildItem{Instance: "api", Cluster: c, Objects: objs})
		}
		var b bytes.Buffer
		if err := Files([]*fleetplan.BuildResult{r}, dir, &b); err != nil {
			t.Fatal(err)
		}
		return b.String(), dir
	}
	token := map[string]any{"token": "aHVudGVyMg=="}
	said, dir := write(make("Secret", "login", token), make("Secret", "empty", nil), make("ConfigMap", "dsn", map[string]any{"dsn": "u:p@h"}, "data.dsn"), make("ConfigMap", "plain", token))
	want := "holds secret values in clear: ConfigMap shop/dsn (data.dsn), Secret shop/login (token) (2 clusters): do not publish them"
	if !strings.Contains(said, want) || strings.Count(said, "\n") != 2 || strings.Contains(said, "aHVud") {
		t.Errorf("%q, want %q", said, want)
	}
	for name, mode := range map[string]os.FileMode{"v1_secret_login": 0o600, "v1_configmap_dsn": 0o600, "v1_configmap_plain": 0o644} {
		if info, err := os.Stat(filepath.Join(dir, "eu", "api", name+".yaml")); err != nil || info.Mode().Perm() != mode {
			t.Errorf("%s: %v %v, want mode %v", name, info, err, mode)
		}
	}
	if said, _ := write(make("ConfigMap", "plain", token)); strings.Contains(said, "warning") {
		t.Error(said)
	}
	var many []object.Object
	for i := range 8 {
		many = append(many, make("Secret", fmt.Sprint("s", i), token))
	}
	if said, _ := write(many...); !strings.Contains(said, "Secret shop/s4 (token) and 3 more (2 clusters)") {
		t.Error(said)
	}
}

//go:build bench

package bench

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// configMap is one object of the plain fixtures.
type configMap struct {
	name string
	data map[string]string
}

// configMaps returns n of them, of some 400 bytes each. The first changed ones differ from what they are at 0.
func configMaps(n, changed int) []configMap {
	out := make([]configMap, n)
	for i := range out {
		version := "1"
		if i < changed {
			version = "2"
		}
		out[i] = configMap{fmt.Sprintf("settings-%04d", i), map[string]string{
			"version": version, "name": fmt.Sprintf("service-%d.example.com", i),
			"text": strings.Repeat(fmt.Sprintf("line %d of a configuration file; ", i), 8),
		}}
	}
	return out
}

func (c configMap) body(namespace string, labels map[string]string) map[string]any {
	return map[string]any{"apiVersion": "v1", "kind": "ConfigMap",
		"metadata": map[string]any{"name": c.name, "namespace": namespace, "labels": labels}, "data": c.data}
}

// manifests are the objects as a user keeps them: a hundred documents in a file, without namespace.
func (u *user) manifests(dir string, objects []configMap) {
	u.t.Helper()
	for from := 0; from < len(objects); from += 100 {
		var b strings.Builder
		for _, o := range objects[from:min(from+100, len(objects))] {
			fmt.Fprintf(&b, "---\napiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: %s\ndata:\n  version: %q\n  name: %q\n  text: %q\n",
				o.name, o.data["version"], o.data["name"], o.data["text"])
		}
		u.write(fmt.Sprintf("%s/objects-%02d.yaml", dir, from/100), b.String())
	}
}

// plainBundle is a bundle of the manifests in a directory.
func plainBundle(name, dir, namespace string) string {
	return fmt.Sprintf("bundle:\n  apiVersion: v1alpha1\n  name: %s\n  instances:\n    all:\n      manifests: {paths: [./%s]}\n      namespace: %s\n",
		name, dir, namespace)
}

// moduleBundle has n instances of the fixture module. With own, every cluster has other values.
func moduleBundle(name, namespace string, n int, own bool) string {
	var b strings.Builder
	fmt.Fprintf(&b, "bundle:\n  apiVersion: v1alpha1\n  name: %s\n  instances:\n", name)
	for i := range n {
		fmt.Fprintf(&b, "    app-%02d:\n      module: {url: file://./module}\n      namespace: %s\n      values:\n        message: Service number %d\n", i, namespace, i)
		if own {
			b.WriteString("        settings: {CLUSTER: {$cluster: name}}\n")
		}
	}
	return b.String()
}

// module copies the fixture module into the user's directory, with the Kubernetes schemas of the examples.
func (u *user) module() {
	u.t.Helper()
	for from, to := range map[string]string{"testdata/module": "module", filepath.Join(examples, "modules/web/cue.mod/gen"): "module/cue.mod/gen"} {
		if err := os.CopyFS(filepath.Join(u.dir, to), os.DirFS(from)); err != nil {
			u.t.Fatal(err)
		}
	}
}

// fleetFile declares the clusters, all in one wave at once.
func fleetFile(clusters []string, maxFailures int) string {
	var b strings.Builder
	b.WriteString("fleet:\n  apiVersion: v1alpha1\n  name: bench\n  clusters:\n")
	for _, c := range clusters {
		fmt.Fprintf(&b, "    %s: {group: all, kubeContext: %s}\n", c, c)
	}
	fmt.Fprintf(&b, "  rollout:\n    waves:\n    - {name: all, groups: [all], maxParallel: %d, maxFailures: %d}\n", len(clusters), maxFailures)
	return b.String()
}

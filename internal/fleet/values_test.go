package fleet

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hawser.dev/hawser/api/v1alpha1"
	"hawser.dev/hawser/internal/diag"
)

func TestRuntimeValues(t *testing.T) {
	declared := Cluster{ClusterSpec: v1alpha1.ClusterSpec{Name: "production-eu", Group: "production"}}
	env := map[string]string{"TIMONI_CLUSTER_GROUP": "staging", "DOMAIN": "not.set", "CLIENT": "false", "DB_PASSWORD": "x"}
	queried := map[string]Value{"DOMAIN": {Value: "example.com", Layer: LayerQuery, Origin: "k8s:v1:Secret:a:b", Secret: true}}
	for _, c := range []struct {
		reason  string
		cluster Cluster
		env     map[string]string
		queried map[string]Value
		name    string
		want    Value
	}{
		{"the declared cluster is highest", declared, env, queried, "TIMONI_CLUSTER_GROUP", Value{Value: "production", Layer: LayerDeclared, Origin: "cluster production-eu"}},
		{"both spellings", declared, env, queried, "HAWSER_CLUSTER_NAME", Value{Value: "production-eu", Layer: LayerDeclared, Origin: "cluster production-eu"}},
		{"query over environment (T8)", declared, env, queried, "DOMAIN", queried["DOMAIN"]},
		{"environment alone (T8)", declared, env, queried, "CLIENT", Value{Value: "false", Layer: LayerEnv, Origin: "env CLIENT"}},
		{"secret by name", declared, env, queried, "DB_PASSWORD", Value{Value: "x", Layer: LayerEnv, Origin: "env DB_PASSWORD", Secret: true}},
		{"the implicit cluster is lowest", Implicit(""), nil, nil, "TIMONI_CLUSTER_NAME", Value{Value: "default", Layer: LayerImplicit, Origin: "implicit cluster", DefaultOnly: true}},
		{"environment over the implicit cluster", Implicit(""), env, nil, "TIMONI_CLUSTER_GROUP", Value{Value: "staging", Layer: LayerEnv, Origin: "env TIMONI_CLUSTER_GROUP"}},
		{"for the other spelling too", Implicit(""), env, nil, "HAWSER_CLUSTER_GROUP", Value{Value: "staging", Layer: LayerEnv, Origin: "env TIMONI_CLUSTER_GROUP"}},
		{"without a group the group is empty, not the environment's", Cluster{ClusterSpec: v1alpha1.ClusterSpec{Name: "a"}}, env, nil, "TIMONI_CLUSTER_GROUP", Value{Layer: LayerDeclared, Origin: "cluster a"}},
	} {
		t.Run(c.reason, func(t *testing.T) {
			if d := cmp.Diff(c.want, RuntimeValues(c.env, c.queried, c.cluster)[c.name]); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestParseQuery(t *testing.T) {
	for _, c := range []struct {
		query string
		want  Query
	}{
		{"k8s:v1:ConfigMap:default:cluster-info", Query{"v1", "ConfigMap", "default", "cluster-info"}},
		{"k8s:v1:Namespace:kube-system", Query{"v1", "Namespace", "", "kube-system"}},
		{"k8s:source.toolkit.fluxcd.io/v1beta2:GitRepository:flux-system:main", Query{"source.toolkit.fluxcd.io/v1beta2", "GitRepository", "flux-system", "main"}},
		{"k8s:rbac.authorization.k8s.io/v1:ClusterRole:system:node", Query{"rbac.authorization.k8s.io/v1", "ClusterRole", "", "system:node"}},
		{"k8s:rbac.authorization.k8s.io/v1:Role:kube-system:system:controller:token", Query{"rbac.authorization.k8s.io/v1", "Role", "kube-system", "system:controller:token"}},
	} {
		got, err := ParseQuery(c.query)
		if err != nil || got != c.want {
			t.Errorf("%s: %+v, %v", c.query, got, err)
		}
		if got.String() != c.query {
			t.Errorf("%s is printed as %s", c.query, got)
		}
	}
	for _, bad := range []string{"", "k8s", "k8s:v1:ConfigMap", "k8s:v1:ConfigMap:", "v1:ConfigMap:a:b", "k8s:v1:configmap:a:b", "k8s:1:ConfigMap:a:b",
		"k8s:v1:ConfigMap:A_b:c", "k8s:v1:ConfigMap:a:b/../c", "k8s:v1:ConfigMap:a:..", "k8s:v1:ConfigMap::b", "k8s:v1:ConfigMap:a:"} {
		if q, err := ParseQuery(bad); err == nil {
			t.Errorf("%q is read as %+v", bad, q)
		}
	}
}

func secretObject() map[string]any {
	return map[string]any{
		"apiVersion": "v1", "kind": "Secret",
		"metadata": map[string]any{"name": "dGVzdA==", "labels": map[string]any{"a.b/c": "d"}, "annotations": map[string]any{"copy": "hunter2"}},
		"data":     map[string]any{"password": "aHVudGVyMg==", "binary": "/wAB", "ca.crt": "Y2E="},
	}
}

func TestEvaluateQuery(t *testing.T) {
	config := map[string]any{
		"data": map[string]any{"name": "x", "b64": "dGVzdA=="}, "spec": map[string]any{"n": int64(3), "f": 1.5, "b": true, "l": []any{}},
		"status": map[string]any{"conditions": []any{map[string]any{"type": "Ready", "status": "True"}}},
	}
	for _, c := range []struct {
		reason, query, expr string
		obj                 map[string]any
		want                Value
		text                string
	}{
		{"string", "k8s:v1:ConfigMap:a:b", "obj.data.name", config, Value{Value: "x"}, ""},
		{"no decoding of others", "k8s:v1:ConfigMap:a:b", "obj.data.b64", config, Value{Value: "dGVzdA=="}, ""},
		{"integer", "k8s:v1:ConfigMap:a:b", "obj.spec.n", config, Value{Value: "3"}, ""},
		{"float", "k8s:v1:ConfigMap:a:b", "obj.spec.f", config, Value{Value: "1.5"}, ""},
		{"bool", "k8s:v1:ConfigMap:a:b", "obj.spec.b", config, Value{Value: "true"}, ""},
		{"comprehension", "k8s:v1:ConfigMap:a:b", `[for c in obj.status.conditions if c.type=="Ready" {c.status}][0]`, config, Value{Value: "True"}, ""},
		{"interpolation", "k8s:v1:ConfigMap:a:b", `"\(obj.data.name)-\(obj.spec.n)"`, config, Value{Value: "x-3"}, ""},
		{"default", "k8s:v1:ConfigMap:a:b", `*obj.data.nope | "d"`, config, Value{Value: "d"}, ""},
		{"struct", "k8s:v1:ConfigMap:a:b", "obj.data", config, Value{}, "must be a string, number or bool"},
		{"list", "k8s:v1:ConfigMap:a:b", "obj.spec.l", config, Value{}, "must be a string, number or bool"},
		{"missing", "k8s:v1:ConfigMap:a:b", "obj.data.nope", config, Value{}, "nope"},
		{"Secret data is decoded", "k8s:v1:Secret:a:b", "obj.data.password", secretObject(), Value{Value: "hunter2", Secret: true}, ""},
		{"quoted key", "k8s:v1:Secret:a:b", `obj.data."ca.crt"`, secretObject(), Value{Value: "ca", Secret: true}, ""},
		{"binary data stays as it is", "k8s:v1:Secret:a:b", "obj.data.binary", secretObject(), Value{Value: "/wAB", Secret: true}, ""},
		{"metadata is neither decoded nor secret", "k8s:v1:Secret:a:b", "obj.metadata.name", secretObject(), Value{Value: "dGVzdA=="}, ""},
		{"annotations may hold a copy of the data", "k8s:v1:Secret:a:b", `obj.metadata.annotations.copy`, secretObject(), Value{Value: "hunter2", Secret: true}, ""},
		{"mixed is secret", "k8s:v1:Secret:a:b", `"\(obj.metadata.name)\(obj.data.password)"`, secretObject(), Value{Value: "dGVzdA==hunter2", Secret: true}, ""},
		{"the whole object is secret", "k8s:v1:Secret:a:b", `[for k, v in obj {k}][0]`, secretObject(), Value{Value: "apiVersion", Secret: true}, ""},
		{"errors never show a secret", "k8s:v1:Secret:a:b", `obj.data.password & "x"`, secretObject(), Value{}, "cannot be evaluated"},
	} {
		t.Run(c.reason, func(t *testing.T) {
			q := v1alpha1.RuntimeQuery{Query: c.query, For: []v1alpha1.QueryVar{{Name: "V", Expr: c.expr}}}
			got, fs := EvaluateQuery(q, c.obj)
			if c.text != "" {
				if fs.Err() == nil || !strings.Contains(fs.Err().Error(), c.text) || strings.Contains(fs.Err().Error(), "hunter2") {
					t.Errorf("got %v", fs)
				}
				return
			}
			c.want.Layer, c.want.Origin = LayerQuery, c.query
			if d := cmp.Diff(map[string]Value{"V": c.want}, got); d != "" || fs != nil {
				t.Error(d, fs)
			}
		})
	}
}

// What an expression reads and the object has not is named, with the line of the expression, and nothing that the object has.
func TestQueryNamesWhatIsMissing(t *testing.T) {
	for expr, want := range map[string]string{
		"obj.data.pass": "has no data.pass", `obj.data["hunter2 x"]`: "has no data.hunter2 x", `strings.ToUpper(obj.data."tls.key")`: "has no data.tls.key",
		"obj.status.ready": "has no status", "obj.data.password.x": "cannot be evaluated", `obj.data.password & "x"`: "cannot be evaluated", "obj.metadata.nam": "has no metadata.nam",
	} {
		at := v1alpha1.Position{File: "fleet.yaml", Line: 9}
		q := v1alpha1.RuntimeQuery{Query: "k8s:v1:Secret:a:b", Pos: v1alpha1.Position{File: "fleet.yaml", Line: 7}, For: []v1alpha1.QueryVar{{Name: "V", Expr: expr, ExprPos: at}}}
		_, fs := EvaluateQuery(q, secretObject())
		if len(fs) != 1 || !strings.HasPrefix(fs[0].What, "V: ") || !strings.Contains(fs[0].What, want) || fs[0].Pos != diag.Pos(at) || fs[0].Fix == "" && strings.Contains(want, "has no") || strings.Contains(fs[0].String()+fs[0].Fix, "password") {
			t.Errorf("%s: %+v", expr, fs)
		}
	}
}

func TestSnapshotHoldsNoSecrets(t *testing.T) {
	s := Snapshot{Fleet: "shop", Clusters: []Facts{{
		Name: "a", Group: "g", UID: "u", Version: "1.36.3", APIs: []string{"v1/Pod"},
		Vars: map[string]any{"zones": int64(3), "nested": map[string]any{"list": []any{int64(1), "x"}}},
		Values: map[string]Value{
			"PASS": {Value: "hunter2", Secret: true, Layer: LayerQuery, Origin: "k8s:v1:Secret:a:b"},
			"HOST": {Value: "h", Layer: LayerQuery}, "SHELL": {Value: "from-env", Layer: LayerEnv},
		},
	}}}
	path := filepath.Join(t.TempDir(), "facts.json")
	b, err := s.Marshal()
	if err := errors.Join(err, os.WriteFile(path, b, 0o600)); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(b), "hunter2") || strings.Contains(string(b), "from-env") {
		t.Fatalf("%s %v", b, err)
	}
	got, fs := LoadSnapshot(path)
	if fs != nil {
		t.Fatal(fs)
	}
	want := s
	want.V, want.File = 1, path
	want.Clusters = []Facts{s.Clusters[0]}
	want.Clusters[0].Values = map[string]Value{
		"PASS": {Secret: true, Absent: true, Layer: LayerQuery, Origin: "k8s:v1:Secret:a:b"}, "HOST": {Value: "h", Layer: LayerQuery},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if _, ok := got.Facts("a"); !ok {
		t.Error("facts of a are missing")
	}
	if _, ok := got.Facts("b"); ok {
		t.Error("facts of b")
	}
}

func TestSnapshotErrors(t *testing.T) {
	for text, why := range map[string]string{"": "not a facts file: EOF", "{}": "facts of version 0", `{"v": 2}`: "facts of version 2", `{"v":1,"clusters":[{"name":""}]}`: "has no name", `{"v":1,"unknown":1}`: `unknown field "unknown"`} {
		if _, err := ParseSnapshot([]byte(text)); err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("%q: %v, want %s", text, err, why)
		}
	}
	if _, fs := LoadSnapshot(filepath.Join(t.TempDir(), "nope")); len(fs) != 1 || !fs.HasErrors() || fs[0].What != "facts cannot be read" && !strings.Contains(fs[0].String(), "no such file") {
		t.Errorf("a missing file: %v", fs)
	}
}

func FuzzQuery(f *testing.F) {
	f.Add("k8s:v1:ConfigMap:default:cluster-info", `obj.data.name`)
	f.Add("k8s:rbac.authorization.k8s.io/v1:ClusterRole:system:node", `"\(obj.kind)"`)
	f.Add("k8s:v1:Secret:a:b", `[for c in obj.status.conditions if c.type=="Ready" {c.status}][0]`)
	f.Fuzz(func(t *testing.T, query, expr string) {
		q, err := ParseQuery(query)
		if err == nil && q.String() != query {
			t.Errorf("%q is printed as %q", query, q)
		}
		if len(expr) < 200 {
			_ = CheckExpr(expr)
		}
	})
}

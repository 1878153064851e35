package bind

import (
	"strings"
	"testing"

	"hawser.dev/hawser/internal/diag"
)

func from(t *testing.T, src string) From {
	t.Helper()
	froms, fs := Froms(values(t, "b.yaml", "{v: {from: "+src+"}}"))
	if len(fs) > 0 || len(froms) != 1 {
		t.Fatalf("%s: %s", src, lines(fs))
	}
	return froms[0]
}

func TestValueOf(t *testing.T) {
	secret := map[string]any{"apiVersion": "v1", "kind": "Secret", "metadata": map[string]any{"name": "conn", "namespace": "shop"},
		"data": map[string]any{"uri": "cG9zdGdyZXM6Ly9kYg==", "bin": "/wA=", "json": "eyJhIjogWzEsIDIuNV19", "bad": "bm90IGpzb24ge3NlY3JldH0="}}
	object := map[string]any{"apiVersion": "example.com/v1", "kind": "Database", "metadata": map[string]any{"name": "d"},
		"data": map[string]any{"x": "YQ=="},
		"spec": map[string]any{"n": int64(3), "f": 2.5, "big": int64(9007199254740993), "on": true, "nil": nil,
			"ports": []any{map[string]any{"name": "http", "port": int64(80)}}}}
	for _, c := range []struct {
		object     map[string]any
		path, as   string
		want, fail string
	}{
		{secret, "data.uri", "", `"postgres://db"`, ""},
		{secret, ".data.json", "json", `{a: [1, 2.5]}`, ""},
		{secret, "data.json", "yaml", `{a: [1, 2.5]}`, ""},
		{secret, "metadata.name", "", `"conn"`, ""},
		{secret, "data.bin", "", "", "error b.yaml:1:5: Secret shop/conn: v: data.bin is no text, but bytes"},
		{secret, "data", "", "", "error b.yaml:1:5: Secret shop/conn: v: data is no text, but bytes"},
		{secret, "data.url", "", "", `error b.yaml:1:5: Secret shop/conn: v: Secret shop/conn of instance db has no data.url: data has no url; there is: bad, bin, json, uri (did you mean "uri"?)`},
		{secret, "data.uri.x", "", "", "error b.yaml:1:5: Secret shop/conn: v: Secret shop/conn of instance db has no data.uri.x: data.uri has no x"},
		{secret, "data.bad", "json", "", "error b.yaml:1:5: v: data.bad in Secret shop/conn is not JSON"},
		{object, "data.x", "", `"YQ=="`, ""},
		{object, "spec.n", "", "3", ""},
		{object, "spec.n", "text", `"3"`, ""},
		{object, "spec.big", "", "9007199254740993", ""},
		{object, "spec.f", "", "2.5", ""},
		{object, "spec.on", "text", `"true"`, ""},
		{object, "spec.nil", "", "null", ""},
		{object, "spec.nil", "text", "", "error b.yaml:1:5: v: spec.nil in Database d is no text"},
		{object, "spec.ports[name=http]", "", `{name: "http", port: 80}`, ""},
		{object, "spec.ports", "text", "", "error b.yaml:1:5: v: spec.ports in Database d is no text"},
		{object, "spec.n", "json", "", "error b.yaml:1:5: v: spec.n in Database d is no text to read as json"},
	} {
		t.Run(c.path+" "+c.as, func(t *testing.T) {
			src := "{instance: db, object: v1/Secret/conn, path: '" + c.path + "'"
			if c.as != "" {
				src += ", as: " + c.as
			}
			x, n := ValueOf(from(t, src+"}"), c.object)
			if n != nil {
				same(t, "finding", c.fail, lines(diag.Findings{*n}))
				if strings.Contains(n.String(), "secret}") {
					t.Error("the value is shown")
				}
				return
			}
			same(t, "value", c.want, show(x))
			if x.Pos.Line != 1 || x.Pos.File != "b.yaml" {
				t.Errorf("the value stands at %v", x.Pos)
			}
		})
	}
	if secret["data"].(map[string]any)["uri"] != "cG9zdGdyZXM6Ly9kYg==" {
		t.Error("the object is changed")
	}
}

func TestStandIn(t *testing.T) {
	plain := from(t, "{instance: db, object: v1/Secret/x, path: a}")
	preview := from(t, "{instance: db, object: v1/Secret/x, path: a, preview: {host: example.org, port: 5432, tls: true}}")
	same(t, "stand-in", `"known after db"`, show(StandIn(plain)))
	same(t, "preview", `{host: "example.org", port: 5432, tls: true}`, show(StandIn(preview)))
	for _, c := range []struct {
		reason string
		body   any
		froms  []From
		want   bool
	}{
		{"inside of a text, in a list", map[string]any{"a": []any{"x", "u=known after db;"}}, []From{plain}, true},
		{"in base64", map[string]any{"data": map[string]any{"a": "cG9zdGdyZXM6Ly9rbm93biBhZnRlciBkYg=="}}, []From{plain}, true},
		{"not at all", map[string]any{"a": []any{"known", int64(1), nil, true}}, []From{plain}, false},
		{"nothing is taken", map[string]any{"a": "known after db"}, nil, false},
		{"a file is known", map[string]any{"a": "known after "}, []From{from(t, "{file: x}")}, false},
		{"a number of the preview", map[string]any{"port": int64(5432)}, []From{preview}, true},
		{"a number of the preview, as a text", map[string]any{"port": "5432"}, []From{preview}, true},
		{"a number of the preview, in a text", map[string]any{"port": "15432"}, []From{preview}, false},
		{"a number as JSON reads it", map[string]any{"port": float64(5432)}, []From{preview}, true},
		{"a text of the preview, in a text", map[string]any{"url": "https://example.org/"}, []From{plain, preview}, true},
		{"a boolean of the preview", map[string]any{"tls": true}, []From{preview}, true},
	} {
		if got := Holds(c.body, c.froms); got != c.want {
			t.Errorf("%s: %v", c.reason, got)
		}
	}
}

// What a declared ConfigMap or Secret does not hold will not come, unless it is made for somebody else to fill in.
func TestLacks(t *testing.T) {
	object := func(kind, more string) map[string]any {
		v, err := values(t, "o.yaml", `{apiVersion: v1, kind: `+kind+`, metadata: {name: o}`+more+`}`).Struct.Any()
		if err != nil {
			t.Fatal(err)
		}
		return v.(map[string]any)
	}
	for _, c := range []struct {
		kind, more, path string
		want             string
		filled           bool
	}{
		{"ConfigMap", `, data: {k: a}`, "data.k", "", false},
		{"ConfigMap", `, data: {k: a}`, "data.kk", `ConfigMap o of instance db has no data.kk`, false},
		{"ConfigMap", `, data: {k: a}`, "binaryData.k", `ConfigMap o of instance db has no binaryData.k`, false},
		{"ConfigMap", `, binaryData: {k: YQ==}`, "data.k", `ConfigMap o of instance db has no data.k`, false},
		{"ConfigMap", `, data: {k: a}`, "metadata.uid", "", false},
		{"ConfigMap", "", "data.k", "", true},
		{"ConfigMap", `, data: {}`, "data.k", "", true},
		{"Secret", `, data: {k: YQ==}`, "data.kk", `Secret o of instance db has no data.kk`, false},
		{"Secret", `, data: {k: YQ==}, type: kubernetes.io/service-account-token`, "data.token", "", true},
		{"Service", `, spec: {type: ClusterIP}`, "spec.clusterIP", "", false},
	} {
		froms, fs := Froms(values(t, "b.yaml", `{v: {from: {instance: db, object: v1/`+c.kind+`/o, path: `+c.path+`}}}`))
		if len(fs) > 0 || len(froms) != 1 {
			t.Fatal(fs)
		}
		got, body := "", object(c.kind, c.more)
		if n := Lacks(froms[0], body); n != nil {
			got = n.What
		}
		if got != c.want || FilledByOthers(body) != c.filled {
			t.Errorf("%s%s, %s: %q, filled by others %v", c.kind, c.more, c.path, got, FilledByOthers(body))
		}
	}
}

//go:build unix

package kubeapi

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"hawser.dev/hawser/internal/answer"
	"hawser.dev/hawser/internal/redact"
)

// served are kinds as discovery has them.
func served(c *Client) *Client {
	c.kinds = &kinds{byKind: map[schema.GroupKind]KindInfo{}}
	for path, kind := range map[string]string{"apps/deployments": "Deployment", "/configmaps": "ConfigMap", "/secrets": "Secret", "/pods": "Pod", "rbac.authorization.k8s.io/roles": "Role"} {
		group, resource, _ := strings.Cut(path, "/")
		c.kinds.byKind[schema.GroupKind{Group: group, Kind: kind}] = KindInfo{Group: group, Kind: kind, Resource: resource, Namespaced: true, Preferred: "v1", Versions: []string{"v1"}}
	}
	return c
}

// at is an object called x with a text, or a key (*), at a place: names of fields with blanks between them, [] for a list of one.
func at(place, text string) map[string]any {
	o := map[string]any{"metadata": map[string]any{"name": "x"}}
	steps := strings.Fields(place)
	value := any(text)
	for i, step := range slices.Backward(steps) {
		list := strings.HasSuffix(step, "[]")
		if step = strings.TrimSuffix(step, "[]"); list {
			value = []any{value}
		}
		switch {
		case step == "*":
			value = map[string]any{text: "y"}
		case i == 0 && step == "metadata":
			fields, _ := value.(map[string]any)
			if fields["name"] == nil {
				fields["name"] = "x"
			}
			o["metadata"] = fields
		case i == 0:
			o[step] = value
		default:
			value = map[string]any{step: value}
		}
	}
	return o
}

// doors are the ways by which an object comes in at a path.
var doors = map[string]func(c *Client, path string) error{
	"read": func(c *Client, path string) error {
		var m map[string]any
		_, err := c.Do(context.Background(), Request{Path: path + "/x", Into: &m})
		return err
	},
	"metadata": func(c *Client, path string) error {
		var m Metadata
		_, err := c.Do(context.Background(), Request{Path: path + "/x", Into: &m})
		return err
	},
	"dry run": func(c *Client, path string) error {
		var m map[string]any
		_, err := c.Do(context.Background(), Request{Method: http.MethodPatch, Path: path + "/x", Query: map[string][]string{"dryRun": {"All"}}, Body: map[string]any{}, Into: &m})
		return err
	},
	"record": func(c *Client, path string) error {
		var m map[string]any
		return c.REST().Get(context.Background(), path+"/x", nil, &m)
	},
	"list": func(c *Client, path string) error {
		_, _, err := c.ListObjects(context.Background(), Request{Path: path})
		return err
	},
	"list of metadata": func(c *Client, path string) error {
		return c.ListMeta(context.Background(), path, nil, func() {}, func(Metadata) {})
	},
	"watch": func(c *Client, path string) error {
		return c.Watch(context.Background(), Request{Path: path}, "1", time.Minute, func(WatchEvent) error { return nil })
	},
}

// TestCredentialsInObjects: an API server that gives back what it was sent in an object, where nobody masks it, is refused, however the object comes;
// where values are masked it may stand.
func TestCredentialsInObjects(t *testing.T) {
	const token = "k8s-9f8xkq7zz-t0ken"
	for _, c := range []struct {
		path, place string
		refused     bool
	}{
		{"/apis/apps/v1/namespaces/a/deployments", "spec template spec containers[] image", true},
		{"/apis/apps/v1/namespaces/a/deployments", "spec template spec volumes[] secret secretName", true},
		{"/apis/apps/v1/namespaces/a/deployments", "spec template spec serviceAccountName", true},
		{"/apis/apps/v1/namespaces/a/deployments", "spec template spec nodeSelector any", true},
		{"/apis/apps/v1/namespaces/a/deployments", "spec template spec nodeSelector *", true},
		{"/apis/apps/v1/namespaces/a/deployments", "spec template spec securityContext sysctls[] name", true},
		{"/apis/apps/v1/namespaces/a/deployments", "spec template spec volumes[] hostPath path", true},
		{"/apis/apps/v1/namespaces/a/deployments", "spec *", true},
		{"/apis/apps/v1/namespaces/a/deployments", "metadata labels any", true},
		{"/apis/apps/v1/namespaces/a/deployments", "metadata labels *", true},
		{"/apis/apps/v1/namespaces/a/deployments", "metadata annotations *", true},
		{"/apis/apps/v1/namespaces/a/deployments", "metadata finalizers[]", true},
		{"/apis/apps/v1/namespaces/a/deployments", "metadata ownerReferences[] kind", true},
		{"/apis/apps/v1/namespaces/a/deployments", "METADATA labels any", true},
		{"/apis/apps/v1/namespaces/a/deployments", "kind", true},
		{"/apis/apps/v1/namespaces/a/deployments", "apiVersion", true},
		{"/apis/rbac.authorization.k8s.io/v1/namespaces/a/roles", "rules[] resources[]", true},
		{"/api/v1/namespaces/a/configmaps", "data *", true},
		{"/apis/example.com/v1/widgets", "spec image", true},
		{"/apis/apps/v1/namespaces/a/deployments", "spec template spec containers[] env[] value", false},
		{"/apis/apps/v1/namespaces/a/deployments", "metadata annotations any", false},
		{"/api/v1/namespaces/a/configmaps", "data image", false},
		{"/api/v1/namespaces/a/secrets", "data token", false},
		{"/apis/example.com/v1/widgets", "spec password", false},
	} {
		for form, text := range map[string]string{"as it is": token, "in base64": base64.StdEncoding.EncodeToString([]byte(token)), "in a name": "x." + token, "capitals": strings.ToUpper(token)} {
			for door, open := range doors {
				err := open(served(echoing(t, token, func(path, _ string) any {
					o := at(c.place, text)
					switch {
					case door == "watch":
						return map[string]any{"type": "ADDED", "object": o}
					case strings.HasPrefix(door, "list"):
						return map[string]any{"kind": "List", "items": []any{at("metadata labels a", "b"), o}}
					}
					return o
				})), c.path)
				if (err != nil) != c.refused || err != nil && (!isWrong(err) || strings.Contains(err.Error(), text)) {
					t.Errorf("%s of %s, %s, by %s: %v", c.place, c.path, form, door, err)
				}
			}
		}
	}
}

// TestCredentialsInOtherDocuments: nor does one stand anywhere in what is no object, whoever reads it, or in what an error is about.
func TestCredentialsInOtherDocuments(t *testing.T) {
	const token = "k8s-9f8xkq7zz-t0ken"
	for path, document := range map[string]any{
		"/openapi/v3":       map[string]any{"paths": map[string]any{"a": map[string]any{"serverRelativeURL": "/x?" + token}}},
		"/apis/apps/v1":     map[string]any{"resources": []any{map[string]any{"name": token}}},
		"/api/v1/nodes/x":   map[string]any{"metadata": map[string]any{"name": "x"}, "spec": map[string]any{token: 1}},
		"/api/v1/pods":      map[string]any{"kind": "List", "items": []any{map[string]any{"metadata": map[string]any{"name": token}}}},
		"/version":          map[string]any{"goVersion": token},
		"/api/v1/replaced":  json.RawMessage(`{"metadata":{"labels":{"a":"` + token + `"}},"metadata":{"name":"x"}}`),
		"/api/v1/escaped":   json.RawMessage(`{"metadata":{"name":"x","labels":{"a":"\u006b8s-9f8xkq7zz-t0ken"}}}`),
		"/api/v1/allescape": json.RawMessage(`{"metadata":{"name":"x","labels":{"a":"k8s-9f8xkq7zz\u002Dt0ken"}}}`),
	} {
		c := served(echoing(t, token, func(string, string) any { return document }))
		if _, err := c.Do(t.Context(), Request{Path: path, Into: func([]byte) error { return nil }}); err == nil || !isWrong(err) || strings.Contains(err.Error(), token) {
			t.Errorf("%s: %v", path, err)
		}
	}
	for what, details := range map[string]any{"name": map[string]any{"name": token}, "field": map[string]any{"causes": []any{map[string]any{"field": token}}},
		"manager": map[string]any{"causes": []any{map[string]any{"reason": "FieldManagerConflict", "message": `conflict with "` + token + `"`}}}} {
		c := served(echoing(t, token, func(string, string) any { return nil }))
		data, _ := json.Marshal(map[string]any{"kind": "Status", "code": 409, "details": details})
		resp := &http.Response{StatusCode: http.StatusConflict, Header: http.Header{}}
		c.sent(token)
		if err := c.statusError(Request{Path: "/api/v1/pods"}, resp, data); !isWrong(err) || strings.Contains(err.Error(), token) {
			t.Errorf("%s of an error: %v", what, err)
		}
		if err := c.watchError(data, "/api/v1/pods"); !isWrong(err) {
			t.Errorf("%s of an error of a watch: %v", what, err)
		}
	}
}

// TestCredentialsThatAreWords: a password that is a word, a name or an address refuses no object that has the same.
func TestCredentialsThatAreWords(t *testing.T) {
	for _, password := range []string{"nginx", "admin", "production", "registry.example.com/shop/web:2.1", "correct-horse-battery-staple", "4711", "v1", "kube-system"} {
		for door, open := range doors {
			err := open(served(echoing(t, `"`+password+`"`, func(string, string) any {
				o := at("spec template spec containers[] image", password)
				o["metadata"] = map[string]any{"name": "x", "labels": map[string]any{password: password}}
				switch {
				case door == "watch":
					return map[string]any{"type": "ADDED", "object": o}
				case strings.HasPrefix(door, "list"):
					return map[string]any{"kind": "List", "items": []any{o}}
				}
				return o
			})), "/apis/apps/v1/namespaces/a/deployments")
			if err != nil {
				t.Errorf("%s by %s: %v", password, door, err)
			}
		}
	}
}

// BenchmarkEchoes is what looking for credentials costs beside decoding a list of 500 objects, none of which has one.
func BenchmarkEchoes(b *testing.B) {
	const objects = 500
	var list []json.RawMessage
	for i := range objects {
		o := at("spec template spec containers[] image", fmt.Sprintf("ghcr.io/example/application:1.%d", i))
		o["metadata"] = map[string]any{"name": fmt.Sprint("web-", i), "namespace": "shop", "uid": fmt.Sprintf("3e0ef0f5-6a35-4d9e-8fd5-%012d", i*7919), "resourceVersion": fmt.Sprint(9_000_000 + i),
			"labels":      map[string]any{"app.kubernetes.io/name": "web", "hawser.dev/owner": fmt.Sprintf("%020x", i*7919)},
			"annotations": map[string]any{"checksum/config": fmt.Sprintf("%064x", i*7919), "note": "a line\nanother \"line\" <with> & more"},
			"managedFields": []any{map[string]any{"manager": "hawser:3f9a2b", "operation": "Apply", "fieldsV1": json.RawMessage(
				`{"f:metadata":{"f:labels":{"f:app.kubernetes.io/name":{},"f:hawser.dev/owner":{}}},"f:spec":{"f:replicas":{},"f:selector":{},"f:template":{"f:spec":{"f:containers":{"k:{\"name\":\"web\"}":{".":{},"f:image":{},"f:name":{},"f:ports":{"k:{\"containerPort\":8080,\"protocol\":\"TCP\"}":{".":{},"f:containerPort":{}}}}}}}}}`)}}}
		o["status"] = map[string]any{"replicas": 3, "readyReplicas": 3, "conditions": []any{map[string]any{"type": "Available", "status": "True", "lastTransitionTime": "2026-01-01T00:00:00Z",
			"reason": "MinimumReplicasAvailable", "message": "Deployment has minimum availability."}}}
		raw, err := json.Marshal(o)
		if err != nil {
			b.Fatal(err)
		}
		list = append(list, raw)
	}
	data, _ := json.Marshal(map[string]any{"kind": "List", "items": list})
	perObject := func(b *testing.B, run func() error) {
		b.SetBytes(int64(len(data)))
		for b.Loop() {
			if err := run(); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/objects, "ns/object")
	}
	b.Run("decode", func(b *testing.B) {
		perObject(b, func() error {
			_ = answer.Weight(data)
			_, err := answer.Items(data, func(raw []byte) error {
				var m map[string]any
				return Decode(raw, &m)
			})
			return err
		})
	})
	for name, token := range map[string]string{"of 8 bytes": "x9f8kq7z", "of 23 bytes": "abcdef.0123456789abcdef", "of 900 bytes": "eyJhbGciOiJSUzI1NiJ9." + strings.Repeat("x9F8kq7zQw", 80) + ".c2lnbmF0dXJl-9f8xkq7zz_A"} {
		c := &Client{connection: &connection{own: redact.New(), kinds: kindsOf()}}
		c.sent(token)
		b.Run("look for one "+name, func(b *testing.B) {
			perObject(b, func() error { return c.echoedIn("/apis/apps/v1/deployments", data) })
		})
	}
}

// TestShortCredentials: a short password may be what a cluster calls something, and refuses no object; nor does what a proxy was sent.
func TestShortCredentials(t *testing.T) {
	const path = "/apis/apps/v1/namespaces/a/deployments/x"
	for token, refused := range map[string]bool{"admin123": false, "squid2024": false, "k8s-9f8xkq7zz": true} {
		c := served(echoing(t, token, func(string, string) any { return at("metadata labels team", "x-"+token) }))
		var into map[string]any
		if _, err := c.Do(t.Context(), Request{Path: path, Into: &into}); (err != nil) != refused {
			t.Errorf("%s: %v", token, err)
		}
	}
}

// TestCredentialsWithoutEnd: what has a credential in more texts than anybody keeps, however deep, is refused before all are looked up.
func TestCredentialsWithoutEnd(t *testing.T) {
	const token = "k8s-9f8xkq7zz-t0ken"
	deep := strings.Repeat(`{"a":`, 5000) + "[" + strings.Repeat(`"`+token+`",`, 20_000) + `""]` + strings.Repeat("}", 5000)
	c := served(echoing(t, token, func(string, string) any { return json.RawMessage(`{"metadata":{"name":"x"},"spec":` + deep + `}`) }))
	var into map[string]any
	if _, err := c.Do(t.Context(), Request{Path: "/apis/example.com/v1/widgets/x", Into: &into}); err == nil || !strings.Contains(err.Error(), "more texts than anybody keeps") {
		t.Errorf("%.200v", err)
	}
}

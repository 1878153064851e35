package bind

import (
	"strings"
	"testing"

	"hawser.dev/hawser/internal/diag"
)

// A value of a Secret as a container's env has it, where something plain is wanted, is told with how it is written here, with the names that stand
// there. What is wrong with other values is told as ever.
func TestMeantKey(t *testing.T) {
	for text, want := range map[string]string{
		`message: {secretKeyRef: {name: db, key: password}}`:             "write ref://STORE:db/password with a store of the fleet, secretStores: {STORE: {kube: {namespace: NAMESPACE}}}; of a Secret that an instance makes: {from: {instance: INSTANCE, object: v1/Secret/db, path: data.password}}",
		`message: {valueFrom: {secretKeyRef: {name: db, key: tls.key}}}`: `path: data."tls.key"`,
		`message: {secretKeyRef: {name: db}}`:                            "write ref://STORE:db/KEY with",
		`message: {configMapKeyRef: {name: app, key: host}}`:             "write {from: {instance: INSTANCE, object: v1/ConfigMap/app, path: data.host}} of what an instance makes; ",
		`message: {valueFrom: {fieldRef: {fieldPath: x}}}`:               "as it was",
		`message: {secretKeyRef: {name: db, key: p}, other: 1}`:          "as it was",
		`{message: {a: 1}, other: {secretKeyRef: {name: db, key: p}}}`:   "as it was",
		`message: {secretRef: {name: db}}`:                               "write ref://STORE:db/KEY with",
		`message: {secretRef: hunter2}`:                                  "write ref://STORE:NAME/KEY with",
		`message: {generate: 24}`:                                        "write {generate: {length: 24}}",
		`message: {ref: X}`:                                              "write ref://[STORE:]NAME",
		`message: {$env: API_TOKEN}`:                                     "write ref://NAME with a store of the fleet",
		`message: {from: {secret: db}}`:                                  "a value of a store of secrets is ref://",
		`message: plain`:                                                 "as it was",
	} {
		for _, f := range []diag.Finding{diag.Errorf("values", "got object, want string"), diag.Warnf("values", "the value is a struct")} {
			f.Path, f.Fix = "values.message", "as it was"
			if got := MeantKey(diag.Findings{f}, values(t, "own.yaml", text))[0]; !strings.Contains(got.Fix, want) {
				t.Errorf("%s: %q, want %q", text, got.Fix, want)
			}
		}
	}
	list := diag.Errorf("values", "got object, want string")
	list.Path = "values.list.1"
	if got := MeantKey(diag.Findings{list}, values(t, "own.yaml", `list: [a, {secretKeyRef: {name: db, key: p}}]`))[0]; !strings.Contains(got.Fix, "ref://STORE:db/p") {
		t.Error(got.Fix)
	}
}

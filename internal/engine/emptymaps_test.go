package engine

import (
	"strings"
	"testing"
)

// TestEmptyMapsConverge: what is declared as an empty map, which the API server does not keep, is neither drift nor a change.
func TestEmptyMapsConverge(t *testing.T) {
	t.Parallel()
	for name, manifest := range map[string]string{
		"annotations":   "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: app, annotations: {}}\ndata: {key: one}\n",
		"labels":        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: app, labels: {}}\ndata: {key: one}\n",
		"data":          "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: app}\ndata: {}\nbinaryData: {}\n",
		"secret":        "apiVersion: v1\nkind: Secret\nmetadata: {name: app}\ndata: {}\nstringData: {}\n",
		"service":       "apiVersion: v1\nkind: Service\nmetadata: {name: app, annotations: {}}\nspec: {selector: {}, ports: [{port: 80}], clusterIP: None, sessionAffinityConfig: {}}\n",
		"finalizers":    "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: app, finalizers: [], ownerReferences: []}\ndata: {key: one}\n",
		"networkPolicy": "apiVersion: networking.k8s.io/v1\nkind: NetworkPolicy\nmetadata: {name: app}\nspec: {podSelector: {}, ingress: [{}], policyTypes: [Ingress]}\n",
		"account":       "apiVersion: v1\nkind: ServiceAccount\nmetadata: {name: app, annotations: {}}\nsecrets: []\nimagePullSecrets: []\n",
		"deployment": `apiVersion: apps/v1
kind: Deployment
metadata: {name: app, annotations: {}, labels: {}}
spec:
  replicas: 0
  selector: {matchLabels: {app: x}}
  strategy: {}
  template:
    metadata: {labels: {app: x}, annotations: {}}
    spec:
      nodeSelector: {}
      affinity: {}
      securityContext: {}
      tolerations: []
      imagePullSecrets: []
      volumes: [{name: v, emptyDir: {}}]
      containers:
      - {name: app, image: x, resources: {}, securityContext: {}, env: [], volumeMounts: [], args: []}
`,
		"resources": `apiVersion: apps/v1
kind: Deployment
metadata: {name: app}
spec:
  replicas: 0
  selector: {matchLabels: {app: x}, matchExpressions: []}
  template:
    metadata: {labels: {app: x}}
    spec:
      affinity: {podAntiAffinity: {}, nodeAffinity: {}}
      containers:
      - {name: app, image: x, resources: {limits: {}, requests: {}}}
`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			r.write("bundle.yaml", r.bundle(manifest, "      wait: false"))
			req := r.request()
			r.applied(req)
			kind := map[bool]string{true: "configmap", false: ""}[strings.Contains(manifest, "kind: ConfigMap")]
			if kind == "" {
				return
			}
			r.patch("controller", kind, "app", `{"metadata":{"annotations":{"by":"controller"},"labels":{"x":"y"}},"data":{"more":"x"}}`)
			fp, err := r.Plan(t.Context(), req)
			if err != nil {
				t.Fatal(err)
			}
			for _, c := range fp.Clusters {
				for _, ch := range c.Plan.Changes {
					if ch.Action != "unchanged" {
						t.Errorf("plan: %+v", ch)
					}
				}
			}
			for _, c := range r.drifted().Bundles[0].Clusters {
				for _, in := range c.Drifted {
					t.Errorf("drift: %+v", in)
				}
			}
		})
	}
}

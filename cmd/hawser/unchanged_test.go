package main

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// unchangedBundle has an instance of every kind of source, with what servers fill in, spell otherwise or throw away.
const unchangedBundle = `
-- bundle.yaml --
bundle:
  apiVersion: v1alpha1
  name: $B
  instances:
    defaults: {helm: {chart: ./defaults}, namespace: $NS}
    chance: {helm: {chart: ./chance}, namespace: $NS, values: {from: {file: chance.yaml}}}
    module: {module: {url: "file://./module"}, namespace: $NS}
    overlay: {kustomize: {path: ./overlay}, namespace: $NS}
    hooks: {manifests: {paths: [./hooks]}, namespace: $NS}
-- defaults/Chart.yaml --
apiVersion: v2
name: defaults
version: 1.0.0
-- defaults/crds/crd.yaml --
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: things.$NS.example.com, creationTimestamp: null}
spec:
  group: $NS.example.com
  scope: Namespaced
  names: {kind: Thing, plural: things}
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties: {spec: {type: object, properties: {size: {type: string, default: small}, n: {type: integer}}}}
status: {acceptedNames: {kind: "", plural: ""}, conditions: [], storedVersions: []}
-- defaults/templates/all.yaml --
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: $NS, namespace: elsewhere}
rules: [{apiGroups: [""], resources: [pods], verbs: [get]}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: $NS}
roleRef: {kind: ClusterRole, name: $NS, apiGroup: rbac.authorization.k8s.io}
subjects: [{kind: ServiceAccount, name: web, namespace: $NS}, {kind: User, name: someone}]
---
apiVersion: v1
kind: Service
metadata: {name: web, annotations: {}, labels: null}
spec: {selector: {app: web}, ports: [{port: 80, name: http}, {port: 80, protocol: UDP, name: udp, targetPort: http}], sessionAffinity: None}
---
apiVersion: batch/v1
kind: CronJob
metadata: {name: web, creationTimestamp: null}
spec:
  schedule: "*/5 * * * *"
  suspend: true
  jobTemplate:
    metadata: {creationTimestamp: null}
    spec:
      template:
        spec:
          restartPolicy: Never
          volumes: [{name: config, configMap: {name: web, defaultMode: 0644}}, {name: tmp, emptyDir: {sizeLimit: 1024Mi}}]
          containers:
          - name: main
            image: example.com/web:1
            env: [{name: A, value: ""}, {name: B, valueFrom: {fieldRef: {fieldPath: metadata.name}}}]
            resources: {limits: {cpu: 1000m, memory: 1024Mi}, requests: {cpu: 0.5}}
            ports: [{containerPort: 80}]
            securityContext: {}
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: $NS}
webhooks:
- name: web.$NS.example.com
  admissionReviewVersions: [v1]
  sideEffects: None
  failurePolicy: Ignore
  clientConfig: {service: {name: web, namespace: $NS}}
  rules: [{apiGroups: [$NS.example.com], apiVersions: [v9], operations: [CREATE], resources: [nothing]}]
---
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata: {name: web}
spec: {podSelector: {}, ingress: [{ports: [{port: 80}]}], egress: []}
---
apiVersion: v1
kind: LimitRange
metadata: {name: web}
spec: {limits: [{type: Container, default: {cpu: 1500m}, max: {memory: 2048Mi}}]}
---
apiVersion: $NS.example.com/v1
kind: Thing
metadata: {name: web}
spec: {n: 1}
-- chance/Chart.yaml --
apiVersion: v2
name: chance
version: 1.0.0
-- chance/values.yaml --
mode: 0
on: false
-- chance/templates/all.yaml --
{{- $ca := genCA "ca" 365 }}
apiVersion: v1
kind: Secret
metadata: {name: chance, annotations: {made: {{ now | date "2006-01-02" | quote }}}}
type: Opaque
stringData: {password: {{ randAlphaNum 20 | quote }}, ca: {{ $ca.Cert | quote }}, id: {{ uuidv4 }}}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: chance}
data: {mode: {{ .Values.mode | quote }}, live: {{ .Values.true | quote }}, line: "a\n\nb ", empty: ""}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: before, annotations: {helm.sh/hook: "pre-install,pre-upgrade", helm.sh/hook-delete-policy: hook-succeeded}}
-- chance.yaml --
mode: 0644
on: yes
-- overlay/kustomization.yaml --
resources: [sa.yaml]
namePrefix: o-
configMapGenerator: [{name: conf, literals: [a=b]}]
secretGenerator: [{name: key, literals: [a=b]}]
-- overlay/sa.yaml --
apiVersion: v1
kind: ServiceAccount
metadata: {name: sa}
automountServiceAccountToken: false
-- hooks/all.yaml --
apiVersion: v1
kind: ConfigMap
metadata: {name: hook, annotations: {helm.sh/hook: post-install}}
---
apiVersion: v1
kind: Secret
metadata: {name: plain}
stringData: {a: b}
data: {c: ZA==}
`

// TestUnchangedWritesNothing: the first apply after an install writes nothing and renders nothing, for every kind of
// source: what servers fill in, spell otherwise or throw away, what is made up, and hooks that have run are no change. What
// a chart says of a namespace where the kind has none is among that.
func TestUnchangedWritesNothing(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.files(unchangedBundle)
	if err := os.CopyFS(filepath.Join(s.dir, "module"), os.DirFS("../../internal/render/cue/testdata/modules/order")); err != nil {
		t.Fatal(err)
	}
	on := []string{"-f", "bundle.yaml", "--kube-context", "staging", "-y"}
	s.mark()
	s.want(0, append([]string{"apply"}, on...)...)
	if w := s.written("staging"); len(w) < 15 || !slices.Contains(w, "PATCH configmaps/before") || !slices.Contains(w, "PATCH configmaps/hook") {
		t.Errorf("written: %v", w)
	}
	s.wantData("staging", "chance", "mode", "420")
	s.wantData("staging", "chance", "live", "true")
	s.mark()
	again := s.want(0, append([]string{"apply"}, on...)...)
	s.untouched("staging")
	s.has(again.Stderr, "0 renders for 5 instances")
	s.want(0, "plan", "--detailed-exitcode", "-f", "bundle.yaml", "--kube-context", "staging")
	// rendered anew, by a process that finds no inputs digest that it knows
	s.edit("bundle.yaml", "defaults: {helm: {chart: ./defaults}", "defaults: {helm: {chart: ./defaults, skipSchema: true}")
	s.mark()
	s.has(s.want(0, append([]string{"apply"}, on...)...).Stderr, "1 render for 5 instances")
	if w := s.written("staging"); len(w) > 0 {
		t.Errorf("rendered anew, it writes %v", w)
	}
	s.want(0, "delete", s.bundle, "--kube-context", "staging", "-y")
}

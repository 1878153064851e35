package main

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
)

// canaryErrorFiles are a bundle of one chart and one module that take the canaries, and a fleet with the stores.
const canaryErrorFiles = `
-- fleet.yaml --
fleet:
  apiVersion: v1alpha1
  name: $B
  clusters: {staging: {kubeContext: staging}}
  secretStores:
    default: {env: {prefix: APP_}}
    files: {file: {path: ./files}}
    sealed: {sops: {path: ./sealed, age: {keyFile: ./age.txt}}}
-- shop.yaml --
bundle:
  apiVersion: v1alpha1
  name: $B
  instances:
    chart:
      helm: {chart: ./chart}
      namespace: $NS
      values: {env: "ref://ENV", file: "ref://files:key.pem", sops: "ref://sealed:db.yaml/db.password"}
    app:
      module: {url: "file://./modules/app"}
      namespace: $NS
      values:
        message: plain
-- chart/Chart.yaml --
apiVersion: v2
name: chart
version: 1.0.0
-- chart/templates/all.yaml --
apiVersion: v1
kind: ConfigMap
metadata: {name: all}
data: {plain: plain}
`

// What a library, a server or a webhook says when it refuses a value does not bring the value out.
func TestCanariesInErrors(t *testing.T) {
	t.Parallel()
	const inNamespace = "a namespace that is not there"
	const good = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: all}\n"
	for _, c := range []struct{ reason, template, schema, app, kustomization string }{
		{reason: "a constraint of a module", app: `{message: "ref://ENV", pattern: "^x"}`},
		{reason: "a value of another type", app: `{client: "ref://ENV", message: x}`},
		{reason: "a value of another type, of several lines", app: `{client: "ref://files:key.pem", message: x}`},
		{reason: "a field that is not declared", app: `{message: x, nobody: {knows: "ref://sealed:db.yaml/db.password"}}`},
		{reason: "helm's fail", template: `{{ fail (printf "bad %s and %s" .Values.env .Values.sops) }}`},
		{reason: "fail with a text of several lines", template: `{{ fail (printf "bad %s" (.Values.file | indent 3)) }}`},
		{reason: "fail in base64", template: `{{ fail (printf "user:%s" .Values.env | b64enc) }}`},
		{reason: "a template that is not there", template: `{{ include .Values.env . }}`},
		{reason: "an error of a function", template: `{{ index .Values.env "x" }}`},
		{reason: "a text where a number is wanted", template: `{{ add1 1 | div .Values.env }}{{ mustToDate "2006" .Values.env }}`},
		{reason: "YAML that is broken", template: good + "data:\n  a: \"{{ .Values.sops }}\"\n"},
		{reason: "YAML that is broken by lines", template: good + "data:\n  a: {{ .Values.file }}\n"},
		{reason: "no object", template: `{{ .Values.env }}`},
		{reason: "a kind that nobody knows", template: "apiVersion: v1\nkind: {{ .Values.env }}\nmetadata: {name: a}\n"},
		{reason: "an API that nobody knows", template: "apiVersion: {{ .Values.env }}/v1\nkind: X\nmetadata: {name: a}\n"},
		{reason: "a name that cannot be", template: "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: {{ .Values.env | quote }}}\n"},
		{reason: "a label that cannot be", template: "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, labels: {x: {{ .Values.sops | quote }}}}\n"},
		{reason: "a key that cannot be", template: "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {{ dict .Values.sops \"x\" | toJson }}\n"},
		{reason: inNamespace, template: "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: {{ .Values.env | lower }}}\n"},
		{reason: "a field of another type", template: "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {{ .Values.sops | quote }}\n"},
		{reason: "a field that does not exist", template: "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\nspec: {{ .Values.sops | quote }}\n"},
		{reason: "a value that the server refuses", template: "apiVersion: v1\nkind: Service\nmetadata: {name: a}\nspec: {type: {{ .Values.sops | quote }}, ports: [{port: 80}]}\n"},
		{reason: "a generator's literal that is no pair", kustomization: `secretGenerator: [{name: s, literals: ["c4nary-generated-1"]}]`},
		{reason: "a generator's lines that cannot be read", kustomization: `secretGenerator: [{name: s, envs: [lines.env]}]`},
		{reason: "a generator's value twice", kustomization: `secretGenerator: [{name: s, literals: ["a=c4nary-generated-1", "a=c4nary-generated-2"]}]`},
		{reason: "a replacement that does not fit", kustomization: "secretGenerator: [{name: s, literals: [\"a=c4nary-generated-1\"]}]\nreplacements:\n- source: {kind: Secret, name: s, fieldPath: data.a, options: {delimiter: \"x\", index: 9}}\n  targets: [{select: {kind: Secret}, fieldPaths: [metadata.c4nary.none]}]"},
		{reason: "a patch of another type", kustomization: "secretGenerator: [{name: s, literals: [\"a=c4nary-generated-1\"]}]\npatches: [{target: {kind: Secret}, patch: \"- {op: test, path: /data/a, value: c4nary-generated-1}\"}]"},
		{reason: "a patch that is broken", kustomization: "secretGenerator: [{name: s, literals: [\"a=c4nary-generated-1\"]}]\npatches: [{target: {kind: Secret}, patch: \"c4nary-generated-1: [\"}]"},
		{reason: "a schema of the chart", schema: `{"properties": {"env": {"pattern": "^x"}, "sops": {"enum": ["a"]}, "file": {"type": "integer"}}}`},
	} {
		t.Run(c.reason, func(t *testing.T) {
			t.Parallel()
			s := canaryScene(t, canaryErrorFiles)
			one := round(1)
			s.plant(one, canaries{})
			s.edit("modules/app/timoni.cue", "token?: string", "token?: string\n\tpattern?: string\n\tif pattern != _|_ {message: =~pattern}")
			if c.template != "" {
				s.write("chart/templates/all.yaml", c.template)
			}
			if c.schema != "" {
				s.write("chart/values.schema.json", c.schema)
			}
			if c.kustomization != "" {
				s.edit("shop.yaml", "    app:\n", "    generated: {kustomize: {path: ./generated}, namespace: $NS}\n    app:\n")
				s.write("generated/kustomization.yaml", c.kustomization)
				s.write("generated/lines.env", "c4nary-generated-1 c4nary-generated-2=x\nA=c4nary-generated-3\xff\n")
			}
			if c.app != "" {
				s.edit("shop.yaml", "values:\n        message: plain", "values: "+c.app)
			}
			for _, args := range [][]string{{"vet"}, {"plan"}, {"plan", "--server-check", "-o", "json"}, {"plan", "--isolate", "-o", "markdown"}, {"apply", "-y", "-o", "json"}} {
				r := s.run(append(args, "-f", "shop.yaml", "--fleet", "fleet.yaml")...)
				if args[0] == "apply" && r.Code == 0 {
					t.Errorf("nothing failed: %s", r)
				}
				out := r.Stdout + r.Stderr
				if c.reason == inNamespace { // names are not hidden; that one is secret is said
					if args[0] == "plan" {
						s.has(out, "holds a secret value")
					}
					out = strings.NewReplacer(`"namespace": "c4nary-env-1-mixed"`, "", `"namespace":"c4nary-env-1-mixed"`, "",
						"ConfigMap c4nary-env-1-mixed/a", "").Replace(out)
				}
				silent(t, strings.Join(args, " "), out, one)
			}
			r := s.run("build", "-f", "shop.yaml", "--fleet", "fleet.yaml")
			silent(t, "what build says", r.Stderr, one)
		})
	}
}

// A password of words is in no error either, with quotes around it or without.
func TestPassphrasesInErrors(t *testing.T) {
	t.Parallel()
	const passphrase = "correct-horse-battery-staple"
	s := canaryScene(t, canaryErrorFiles)
	one := round(1)
	one.env = passphrase
	s.plant(one, canaries{})
	for _, template := range []string{`{{ range $k := .Values.env }}x{{ end }}`, `{{ fail (toYaml .Values) }}`, `{{ fail (printf "the password %s is too weak" .Values.env) }}`,
		`{{ mustRegexFind (printf "(%s" .Values.env) "x" }}`, `{{ index .Values.env "x" }}`} {
		s.write("chart/templates/all.yaml", template)
		for _, args := range [][]string{{"vet"}, {"build"}, {"plan", "-o", "json"}, {"plan", "--isolate", "-o", "markdown"}} {
			r := s.run(append(args, "-f", "shop.yaml", "--fleet", "fleet.yaml")...)
			if out := r.Stdout + r.Stderr; strings.Contains(out, passphrase) || args[0] == "plan" && r.Code == 0 {
				t.Errorf("%s of %s: %s", args, template, r)
			}
		}
	}
}

// A webhook, or a server with a mind of its own, that repeats what it was sent.
func TestCanariesInAnswers(t *testing.T) {
	t.Parallel()
	for _, code := range []int{400, 403, 409, 418, 422, 500, 503} {
		t.Run(fmt.Sprint(code), func(t *testing.T) {
			t.Parallel()
			s := canaryScene(t, canaryErrorFiles)
			one := round(1)
			s.plant(one, canaries{})
			s.write("chart/templates/all.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: all}\ndata: {{ .Values | toJson }}\n")
			s.interpose("staging", func(w http.ResponseWriter, r *http.Request, pass func()) {
				if !writesOf(r, "configmaps") {
					pass()
					return
				}
				body, _ := io.ReadAll(r.Body)
				text := fmt.Sprintf("admission webhook \"w.example.com\" denied the request: %s, that is %q, %x", body, one.sops, one.file)
				if code == 418 {
					http.Error(w, text, code)
					return
				}
				status(w, code, "Invalid", text)
			})
			for _, args := range [][]string{{"plan", "--server-check"}, {"apply", "-y"}, {"apply", "-y", "-o", "json"}} {
				r := s.run(append(args, "-f", "shop.yaml", "--fleet", "fleet.yaml")...)
				if args[0] == "apply" && r.Code == 0 {
					t.Errorf("nothing failed: %s", r)
				}
				silent(t, strings.Join(args, " "), r.Stdout+r.Stderr, one)
			}
			r := s.run("status", s.bundle, "--fleet", "fleet.yaml", "-o", "json")
			silent(t, "status", r.Stdout+r.Stderr, one)
		})
	}
}

// What a health rule, or a controller, says of an object does not bring out what a secret stands in, also where nothing
// resolves the reference any more.
func TestCanariesInStatus(t *testing.T) {
	t.Parallel()
	s := canaryScene(t, canaryErrorFiles)
	one := round(1)
	s.plant(one, canaries{})
	s.write("chart/templates/all.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: all}\ndata: {{ .Values | toJson }}\n")
	s.edit("shop.yaml", "    chart:\n", `    chart:
      health: [{kind: ConfigMap, ready: "false", message: "'it says ' + self.data.env + ' and ' + self.data.sops"}]
`)
	args := []string{"-f", "shop.yaml", "--fleet", "fleet.yaml"}
	r := s.run(append([]string{"apply", "-y", "--wait=false"}, args...)...)
	silent(t, "apply", r.Stdout+r.Stderr, one)
	r = s.run(append([]string{"apply", "-y", "-o", "json", "--timeout", "1s"}, args...)...)
	silent(t, "apply that waits", r.Stdout+r.Stderr, one)
	for _, form := range []string{"text", "json", "yaml"} {
		r := s.want(4, "status", s.bundle, "--fleet", "fleet.yaml", "-v", "-o", form)
		s.has(r.Stdout, "it says")
		silent(t, "status -o "+form, r.Stdout+r.Stderr, one)
	}
}

// A value of another instance's Secret is secret, too: known in the run that makes it, and in the ones after.
func TestCanariesOfOtherInstances(t *testing.T) {
	t.Parallel()
	s := canaryScene(t, canaryErrorFiles)
	one, two := round(1), round(2)
	s.plant(one, canaries{})
	quiet := func(where, text string) {
		t.Helper()
		silent(t, where, text, one, two)
	}
	source := func(c canaries) {
		s.write("db.yaml", "apiVersion: v1\nkind: Secret\nmetadata: {name: db}\nstringData:\n  uri: \""+c.secret+"\"\n  json: '{\"deep\": \""+c.query+"\", \"pin\": 424242}'\n")
	}
	source(one)
	s.edit("shop.yaml", "    app:\n", "    db: {manifests: {paths: [./db.yaml]}, namespace: $NS}\n    app:\n")
	s.edit("shop.yaml", "        message: plain", `        message: {from: {instance: db, object: v1/Secret/db, path: data.uri}}
        settings:
          deep: {from: {instance: db, object: v1/Secret/db, path: data.json, as: json, preview: {deep: x, pin: 1}}}`)
	s.edit("modules/app/timoni.cue", "settings: [string]: string", "settings: deep: {deep: string, pin: int}")
	s.edit("modules/app/timoni.cue", "data: config.settings & {message: config.message}", `data: {message: config.message, deep: config.settings.deep.deep, pin: "pin=\(config.settings.deep.pin)"}`)
	args := []string{"-f", "shop.yaml", "--fleet", "fleet.yaml"}
	for i, c := range []canaries{one, two} {
		source(c)
		for _, verb := range [][]string{{"vet"}, {"plan", "--full"}, {"diff"}, {"plan", "--out", "p.plan"}, {"apply", "-y", "--diff", "-o", "json"},
			{"plan", "-o", "json"}, {"status", s.bundle}} {
			all := append(append([]string{}, verb...), args...)
			if verb[0] == "status" {
				all = []string{"status", s.bundle, "--fleet", "fleet.yaml", "-o", "json"}
			}
			r := s.run(all...)
			quiet(fmt.Sprint(i, " ", verb), r.Stdout+r.Stderr)
			s.lacks(r.Stdout+r.Stderr, "424242")
			if verb[0] == "apply" {
				s.exits(r, 0)
			}
		}
		quiet("the plan file", s.read("p.plan"))
		s.wantData("staging", "app", "message", c.secret)
		s.wantData("staging", "app", "deep", c.query)
		s.wantData("staging", "app", "pin", "pin=424242")
	}
	s.edit("modules/app/timoni.cue", "message: string", "message: =~\"^x\"")
	for _, verb := range []string{"vet", "plan", "apply"} {
		all := append([]string{verb}, args...)
		if verb == "apply" {
			all = append(all, "-y")
		}
		r := s.want(1, all...)
		quiet(verb+" that fails", r.Stdout+r.Stderr)
	}
}

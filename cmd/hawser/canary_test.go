package main

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"hawser.dev/hawser/internal/sopstest"
)

// Canaries are secret values that nothing may print. One of every round stands in every kind of input.
type canaries struct {
	env, file, sops, kube, query, runtime, secret, generated string

	// short is a value of five characters, number one of digits alone: what is not looked for inside of others.
	short, number string
}

// round makes values that have what is hard to hide: quotes, lines, words, characters of markup.
func round(n int) canaries {
	return canaries{
		env:     fmt.Sprintf("c4nary-env-%d-Mixed", n),
		file:    fmt.Sprintf("-----BEGIN C4NARY-----\nc4nary-file-%d-one\nc4nary-file-%d-two\n-----END C4NARY-----\n", n, n),
		sops:    fmt.Sprintf(`c4nary-sops-%d "quoted" <&> ü it's`, n),
		kube:    fmt.Sprintf("c4nary kube words %d which are many enough to be folded when somebody writes them as YAML", n),
		query:   fmt.Sprintf("c4nary-query-%d", n),
		runtime: fmt.Sprintf("c4nary-runtime-%d", n),
		secret:  fmt.Sprintf("c4nary-secret-%d", n),

		generated: fmt.Sprintf("c4nary-generated-%d", n),
		short:     fmt.Sprintf("q9z%dx", n),
		number:    fmt.Sprintf("481516%d", n),
	}
}

func (c canaries) all() []string {
	return []string{c.env, c.file, c.sops, c.kube, c.query, c.runtime, c.secret, c.generated}
}

// forms are a canary's traces: what a reader could make the value of, or recognise it by.
func canaryForms(c string) []string {
	quoted, _ := json.Marshal(c)
	out := []string{c, strings.ToUpper(c), strings.Trim(string(quoted), `"`), url.QueryEscape(c), url.PathEscape(c), hex.EncodeToString([]byte(c)),
		base64.StdEncoding.EncodeToString([]byte(c)), strings.TrimRight(base64.URLEncoding.EncodeToString([]byte(c)), "=")}
	for _, line := range strings.Split(c, "\n") {
		if strings.Contains(line, "c4nary") {
			out = append(out, line)
		}
	}
	for shift := range 3 { // inside the base64 of a longer text
		padded := base64.RawStdEncoding.EncodeToString(append(make([]byte, shift), c...))
		out = append(out, padded[4:len(padded)-4])
	}
	return out
}

// anyCanary finds what a canary starts with, in any case: the whole need not be there.
var anyCanary = regexp.MustCompile(`(?i)c4nary[- ](env|file|sops|kube|query|runtime|secret|generated)|\bq9z\dx\b|\b4,?815,?16[123](?:[kmMG]i?)?\b|\b4\.81516[123]e\+?0*6\b|\b0x49793[9ab]\b`)

// silent fails the test when an output shows a canary of any round.
func silent(t *testing.T, where, text string, rounds ...canaries) {
	t.Helper()
	if m := anyCanary.FindStringIndex(text); m != nil {
		t.Errorf("%s shows a canary: ...%s...", where, text[max(0, m[0]-120):min(len(text), m[1]+40)])
		return
	}
	for _, r := range rounds {
		for _, c := range r.all() {
			for _, form := range canaryForms(c) {
				if i := strings.Index(text, form); i >= 0 {
					t.Errorf("%s shows %q: ...%s...", where, c, text[max(0, i-80):min(len(text), i+len(form)+20)])
				}
			}
		}
	}
}

// canaryFiles are a fleet with a store of every kind and a bundle in which their values go wherever values go.
const canaryFiles = `
-- fleet.cue --
fleet: {
	apiVersion: "v1alpha1"
	name:       "$B"
	clusters: staging: {group: "staging", kubeContext: "staging"}
	secretStores: {
		default: env: prefix: "APP_"
		files: file: path: "./files"
		sealed: sops: {path: "./sealed", age: keyFile: "./age.txt"}
		cluster: kube: namespace: "$NS"
	}
	values: [{query: "k8s:v1:Secret:$NS:queried", for: QUERIED: "obj.data.token"}]
}
-- left.cue --
fleet: {
	apiVersion: "v1alpha1"
	name:       "$B"
	clusters: other: {group: "staging", kubeContext: "production-eu"}
}
-- both.cue --
fleet: {
	apiVersion: "v1alpha1"
	name:       "$B"
	clusters: staging: {group: "staging", kubeContext: "staging"}
	clusters: other: {group: "elsewhere", kubeContext: "production-eu"}
}
-- moved.cue --
fleet: releases: store: file: path: "./records"
-- more.cue --
fleet: clusters: other: {group: "elsewhere", kubeContext: "production-eu"}
-- shop.cue --
bundle: {
	apiVersion: "v1alpha1"
	name:       "$B"
	_queried: string @timoni(runtime:string:QUERIED)
	_runtime: string @timoni(runtime:string:RUNTIME_TOKEN)
	_copy: string @timoni(runtime:string:RUNTIME_COPY)
	instances: {
		app: {
			module: url: "file://./modules/app"
			namespace: "$NS"
			values: {
				message: "ref://ENV"
				token:   "ref://files:key.pem"
				settings: {
					file:    "ref://files:key.pem"
					sops:    "ref://sealed:db.yaml/db.password"
					kube:    "ref://cluster:stored/token"
					queried: _queried
					joined:  "user:\(_runtime)@host"
					copied:  _copy
				}
			}
		}
		chart: {
			helm: chart: "./chart"
			namespace: "$NS"
			values: {
				env:  "ref://ENV"
				file: "ref://files:key.pem"
				sops: "ref://sealed:db.yaml/db.password"
				kube: "ref://cluster:stored/token"
				odd: ["ref://JSON/list.0", _queried, _runtime]
				short:  "ref://files:short"
				number: "ref://files:number"
			}
		}
		plain: {manifests: paths: ["./plain.yaml"], namespace: "$NS"}
		generated: {kustomize: path: "./generated", namespace: "$NS"}
	}
}
-- generated/kustomization.yaml --
secretGenerator:
- {name: $B-literals, literals: ["token=GENERATED", 'quoted="GENERATED"']}
- {name: $B-lines, envs: [lines.env]}
- {name: $B-file, files: [lines.env], options: {disableNameSuffixHash: true}}
-- generated/lines.env --
# of lines
HOST=db
PASSWORD=GENERATED
-- plain.yaml --
apiVersion: v1
kind: Secret
metadata: {name: $B-plain}
stringData: {token: "SECRET"}
-- chart/Chart.yaml --
apiVersion: v2
name: chart
version: 1.0.0
-- chart/templates/all.yaml --
apiVersion: v1
kind: ConfigMap
metadata:
  name: {{ .Release.Name }}-all
  annotations:
    example.com/env: {{ .Values.env | quote }}
    example.com/auth: {{ printf "user:%s" .Values.env | b64enc }}
  labels:
    digest: d{{ .Values.env | sha256sum | trunc 20 }}
data:
  env: {{ .Values.env }}
  upper: {{ .Values.env | upper }}
  encoded: {{ .Values.file | b64enc }}
  url: "https://x/?q={{ .Values.sops | urlquery }}"
  json: {{ dict "a" (dict "b" .Values.sops) | toJson | quote }}
  words: {{ .Values.kube | quote }}
  wrapped: |
    {{- .Values.kube | wrap 30 | nindent 4 }}
  list: {{ .Values.odd | toJson | quote }}
  file: |
{{ .Values.file | indent 4 }}
  short: {{ .Values.short | quote }}
  shortly: "pin={{ .Values.short }}; {{ .Values.short | b64enc }}"
  number: {{ .Values.number | quote }}
  exponent: {{ printf "%e" (.Values.number | float64) | quote }}
  grouped: {{ regexReplaceAll "^(.)(...)(...)$" .Values.number "${1},${2},${3}" | quote }}
  hexadecimal: {{ printf "%#x" (.Values.number | int) | quote }}
---
apiVersion: batch/v1
kind: CronJob
metadata: {name: {{ .Release.Name }}-env}
spec:
  schedule: "0 0 1 1 *"
  suspend: true
  jobTemplate:
    spec:
      template:
        spec:
          restartPolicy: Never
          containers:
          - name: app
            image: example.com/app:{{ .Values.env }}
            args: ["--token={{ .Values.env }}"]
            env:
            - {name: PLAIN, value: plain}
            - {name: PASSWORD, value: {{ .Values.sops | quote }}}
            - {name: {{ .Values.env | quote }}, value: "the key of an item"}
            resources: {limits: {memory: "{{ .Values.number }}Mi"}}
`

// canaryScene is a scene with a round of canaries in all inputs.
func canaryScene(t *testing.T, files string) *scene {
	t.Helper()
	s := newScene(t)
	s.files(appModule)
	s.files(files)
	recipient, key := sopstest.Key(t)
	s.write("age.txt", key)
	s.write("recipient", recipient)
	s.namespace("staging")
	for _, name := range []string{"stored", "queried"} {
		s.admin("staging", http.MethodPost, "api/v1/namespaces/$NS/secrets", `{"metadata": {"name": "`+name+`"}, "stringData": {"token": "none"}}`)
	}
	return s
}

// plant puts a round's canaries into the stores.
func (s *scene) plant(c, before canaries) {
	s.t.Helper()
	list, err := json.Marshal(map[string]any{"list": []string{c.env}})
	if err != nil {
		s.t.Fatal(err)
	}
	s.env = append(s.env, "APP_ENV="+c.env, "APP_JSON="+string(list), "RUNTIME_TOKEN="+c.runtime, "RUNTIME_COPY="+c.env) // whose name does not say what it is
	s.write("files/key.pem", c.file)
	s.write("files/short", c.short)
	s.write("files/number", c.number)
	quoted, err := json.Marshal(c.sops)
	if err != nil {
		s.t.Fatal(err)
	}
	s.write("sealed/db.yaml", sopstest.Encrypt(s.t, "db: {password: "+string(quoted)+"}\n", s.read("recipient")))
	for name, value := range map[string]string{"stored": c.kube, "queried": c.query} {
		s.admin("staging", http.MethodPatch, "api/v1/namespaces/$NS/secrets/"+name, fmt.Sprintf(`{"stringData": {"token": %q}}`, value))
	}
	if old := s.read("plain.yaml"); old != "" {
		s.write("plain.yaml", strings.NewReplacer("SECRET", c.secret, before.secret+`"`, c.secret+`"`).Replace(old))
	}
	for _, name := range []string{"generated/kustomization.yaml", "generated/lines.env"} {
		if old := s.read(name); old != "" {
			was := before.generated
			if was == "" {
				was = "GENERATED"
			}
			s.write(name, strings.ReplaceAll(old, was, c.generated))
		}
	}
}

// Whatever a value came from, it is in no output: texts, JSON, plan files, events, what stays on disk; neither the new
// one nor, after a rotation, the old one that nothing knows any more but the cluster.
func TestCanaries(t *testing.T) {
	t.Parallel()
	s := canaryScene(t, canaryFiles)
	one, two := round(1), round(2)
	quiet := func(where, text string) {
		t.Helper()
		silent(t, where, text, one, two, round(3))
	}
	changed := s.watch()
	s.mark()
	s.plant(one, canaries{})
	s.outputs(0, quiet)
	s.wantData("staging", "app", "message", one.env) // the values did arrive
	s.wantData("staging", "app", "copied", one.env)
	s.wantData("staging", "app", "sops", one.sops)
	s.wantData("staging", "app", "kube", one.kube)
	s.wantData("staging", "app", "file", one.file)
	s.wantData("staging", "app", "queried", one.query)
	s.wantData("staging", "app", "joined", "user:"+one.runtime+"@host")
	s.wantData("staging", "chart-all", "env", one.env)

	s.wantData("staging", "chart-all", "short", one.short)
	s.wantData("staging", "chart-all", "exponent", "4.815161e+06")
	s.wantData("staging", "chart-all", "grouped", "4,815,161")

	s.plant(two, one)
	s.outputs(1, quiet)
	s.wantData("staging", "app", "message", two.env)
	s.wantData("staging", "chart-all", "words", two.kube)

	// drift, in a field that a secret stands in
	s.admin("staging", http.MethodPatch, "api/v1/namespaces/$NS/configmaps/chart-all", `{"data": {"env": "`+one.env+`"}}`, "fieldManager", "intruder")
	for _, args := range [][]string{{"plan", "--full"}, {"plan", "-o", "json"}, {"diff"}} {
		r := s.run(append(args, "-f", "shop.cue", "--fleet", "fleet.cue", "--runtime-from-env")...)
		s.has(r.Stdout, "env")
		quiet(strings.Join(args, " "), r.Stdout+r.Stderr)
	}
	// a reference that goes while its value changes: what was secret yesterday is hidden today
	three := round(3)
	s.plant(three, two)
	s.edit("shop.cue", `message: "ref://ENV"`, `message: "in the clear"`)
	for _, args := range [][]string{{"plan", "--full"}, {"diff"}, {"apply", "-y", "--diff", "--wait=false"}} {
		r := s.run(append(args, "-f", "shop.cue", "--fleet", "fleet.cue", "--runtime-from-env")...)
		quiet(strings.Join(args, " "), r.Stdout+r.Stderr)
	}
	for _, of := range [][]string{{"1", "2"}, {"2", "3"}, {"3", "1"}} { // what was secret in a release is hidden in every comparison with it
		for _, form := range [][]string{{"--full"}, {"-o", "json"}} {
			r := s.want(0, slices.Concat([]string{"history", "diff"}, of, form, []string{"--bundle", s.bundle, "--fleet", "fleet.cue"})...)
			s.has(r.Stdout, "chart-all")
			quiet("history diff "+strings.Join(of, " "), r.Stdout+r.Stderr)
		}
	}
	for _, form := range [][]string{{"--dry-run", "--full"}, {"--dry-run", "-o", "json"}, {"--dry-run", "-o", "markdown"}, {"-y", "--diff", "-o", "json", "--wait=false"}} {
		r := s.run(slices.Concat([]string{"rollback", s.bundle, "--to", "2", "--fleet", "fleet.cue"}, form)...)
		s.has(r.Stdout+r.Stderr, "chart-all") // what is shown, or cannot go back
		quiet("rollback "+strings.Join(form, " "), r.Stdout+r.Stderr)
	}
	s.keptAndPromoted(three, quiet)
	bodies := s.leftInCluster("staging", quiet)
	for _, c := range []canaries{one, two, three} {
		if !strings.Contains(bodies, c.env) {
			t.Errorf("the records were not unpacked: %q is in no object", c.env)
		}
	}
	r := s.want(0, "delete", s.bundle, "-y", "--fleet", "fleet.cue", "-o", "json")
	quiet("delete", r.Stdout+r.Stderr)
	for _, args := range [][]string{{"apply", "-y", "--wait=false", "-f", "shop.cue", "--runtime-from-env"}, {"delete", s.bundle, "-y"}} {
		r := s.run(append(args, "--fleet", "fleet.cue")...)
		quiet(args[0], r.Stdout+r.Stderr)
	}
	s.runs(canaryLocks, 0, quiet)
	s.leftOnDisk(quiet)
	for name, text := range changed() {
		if !slices.Contains(canaryInputs, name) {
			quiet("the file "+name+", which may have gone", unpacked([]byte(text)))
		}
	}
}

// canaryInputs are the files of the scene that hold canaries themselves.
var canaryInputs = []string{"files/key.pem", "files/short", "files/number", "plain.yaml", "generated/kustomization.yaml", "generated/lines.env"}

// leftOnDisk checks every file of the scene that is no input.
func (s *scene) leftOnDisk(quiet func(where, text string)) {
	s.t.Helper()
	err := filepath.WalkDir(s.dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		rel, err := filepath.Rel(s.dir, path)
		if err != nil || slices.Contains(canaryInputs, filepath.ToSlash(rel)) {
			return err
		}
		data, err := os.ReadFile(path)
		quiet("the file "+rel, unpacked(data))
		return err
	})
	if err != nil {
		s.t.Fatal(err)
	}
}

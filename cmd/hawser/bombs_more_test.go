//go:build unix

package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"hawser.dev/hawser/internal/sopstest"
)

// packed is an archive of these files, and of one of so many zeros, which are in nobody's memory: what a test's own process takes
// counts for what it starts.
func packed(t *testing.T, dir string, files map[string]string, zeros int64) string {
	t.Helper()
	var out bytes.Buffer
	zipped := gzip.NewWriter(&out)
	archive := tar.NewWriter(zipped)
	add := func(name string, size int64, from io.Reader) {
		err := archive.WriteHeader(&tar.Header{Name: dir + "/" + name, Size: size, Mode: 0o644})
		if err == nil {
			_, err = io.CopyN(archive, from, size)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	add("Chart.yaml", int64(len("apiVersion: v2\nname: \nversion: 1.0.0\n")+len(dir)), strings.NewReader("apiVersion: v2\nname: "+dir+"\nversion: 1.0.0\n"))
	for name, text := range files {
		add(name, int64(len(text)), strings.NewReader(text))
	}
	add("big", zeros, nothing{})
	_, _ = archive.Close(), zipped.Close()
	return out.String()
}

// nothing is zeros without an end.
type nothing struct{}

func (nothing) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}

// bombPlan is a plan file with these parts: what it depends on, its clusters, and the changes of one of them.
func bombPlan(request, clusters string) bomb {
	return bombOf("p.plan", `{"v":3,"kind":"hawser.dev/plan","salt":"00","request":`+request+`,"plan":{"v":2,"verb":"apply","bundle":"b","clusters":`+clusters+`}}`, "plan show p.plan --full")
}

// bombField is a plan file with a change of one field, whose texts are JSON in JSON.
func bombField(old, new string) bomb {
	return bombPlan("{}", fmt.Sprintf(`[{"cluster":"a","wave":1,"plan":{"cluster":"a","bundle":"b","changes":[{"action":"update","object":{"kind":"ConfigMap","namespace":"x","name":"mine"},"fields":[{"path":"data.a","old":%q,"new":%q}]}]}}]`, old, new))
}

// bombSchema is a chart whose values have this schema.
func bombSchema(schema string) bomb {
	return bombIn(map[string]string{"b.yaml": bombChart, "chart/values.schema.json": schema, "chart/values.yaml": "a: 1\n", "chart/templates/a.yaml": bombObject}, bombBuild)
}

// sharing is a schema whose definitions each name the next one twice.
func sharing(n int) string {
	var b strings.Builder
	b.WriteString(`{"$schema":"http://json-schema.org/draft-07/schema#","$ref":"#/definitions/d0","definitions":{`)
	for i := range n {
		fmt.Fprintf(&b, `"d%d":{"allOf":[{"$ref":"#/definitions/d%d"},{"$ref":"#/definitions/d%d"}]},`, i, i+1, i+1)
	}
	fmt.Fprintf(&b, `"d%d":{"type":"object"}}}`, n)
	return b.String()
}

// bombPolicy is a fleet with this policy of signatures, for a chart that would have to be signed.
func bombPolicy(sources, by string) bomb {
	return bombIn(map[string]string{"b.yaml": strings.Replace(bombChart, "./chart", "oci://127.0.0.1:1/x/app", 1),
		"f.yaml": bombFleet + "  signatures: {required: [{sources: [" + sources + "], by: [" + by + "]}]}\n"}, bombBuild+" --fleet f.yaml")
}

// bombLayers is a bundle whose instance has these layers of values.
func bombLayers(layers, chart string) bomb {
	return bombIn(map[string]string{"b.yaml": strings.Replace(bombChart, "}}", "}, valuesFor: {"+layers+"}}", 1), "chart/templates/a.yaml": chart,
		"f.yaml": bombFleet}, bombBuild+" --fleet f.yaml")
}

// bombPattern is a definition with a pattern.
const bombPattern = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: ks.g.io}
spec: {group: g.io, names: {kind: K}, versions: [{name: v1, served: true, schema: {openAPIV3Schema: {type: object, properties: {a: {type: string, pattern: 'PATTERN'}}}}}]}
`

// bombModule is a file of values for a module.
func bombModule(file, text string) bomb {
	return bombIn(map[string]string{file: text, "mod/cue.mod/module.cue": "module: \"x.test/x\"\nlanguage: version: \"v0.9.0\"\n", "mod/values.cue": "package main\nvalues: {}\n",
		"mod/timoni.cue": "package main\nvalues: {...}\ntimoni: {apiVersion: \"v1alpha1\", instance: {config: {...}}, apply: app: " +
			"[{apiVersion: \"v1\", kind: \"ConfigMap\", metadata: name: \"a\", data: n: \"\\(len(values.a))\"}]}\n"}, "module build ./mod -f "+file)
}

// moreBombs are what is read of charts, of other programs' files, and of the other commands.
func moreBombs(t *testing.T) map[string]bomb {
	const n = 900_000
	recipient, identity := sopstest.Key(t)
	sealed := func(text string) bomb {
		c := bombStored("sops:e.yaml", text)
		c.files["keys.txt"] = identity + "\n"
		return c
	}
	inner := packed(t, "sub", nil, 400<<20)
	kubeconfig := "apiVersion: v1\nkind: Config\n"
	closed := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("WWW-Authenticate", `Basic realm="x"`)
		w.WriteHeader(http.StatusUnauthorized)
	}))
	t.Cleanup(closed.Close)
	docker := func(text string) bomb {
		return bombOf("d/config.json", text, "module pull oci://"+closed.Listener.Addr().String()+"/x -o out --registry-insecure").with("DOCKER_CONFIG=d")
	}
	fleet := func(c bomb) bomb { c.args = "fleet import kubeconfig"; return c.with("KUBECONFIG=kc") }
	promote := func(name, text string) bomb {
		return bombIn(map[string]string{"f.yaml": bombFleet, name: text}, "promote b -f b.yaml --fleet f.yaml --from a --to a --dry-run")
	}
	long := bombLayers("x: {values: {from: {file: v.yaml}}}", "{{ toYaml .Values }}")
	long.files["v.yaml"] = longAliases("")
	return map[string]bomb{
		"module build: aliases":  bombModule("v.yaml", "values:\n  "+strings.ReplaceAll(aliases(), "\n", "\n  ")).says("aliases of this file, written out, stand for more than"),
		"module build: nested":   bombModule("v.yaml", "values: "+strings.Repeat("[", n)).says("exceeded max depth"),
		"module build: CUE":      bombModule("v.cue", "_a: \"aaaaaaaaaaaaaaaa\"*1000000\nvalues: a: \"\\(len(_a*1000))\"\n").says("more than 64 MiB"),
		"module build: colons":   bombModule("v.cue", "values: "+strings.Repeat("a: ", n/3)+"1\n").says("nested too deeply"),
		"template: a class":      bombTemplate(`{{ regexMatch "[` + strings.Repeat(`\\pL`, n/4) + `]" "x" }}`).says("the expression has more than 4096 bytes"),
		"schema: nested":         bombSchema(strings.Repeat(`{"properties":{"a":`, n/20)).says("exceeded max depth"),
		"schema: deep":           bombSchema(strings.Repeat(`{"properties":{"a":`, 3000) + "{}" + strings.Repeat("}}", 3000)).with(evaluationLimitEnv + "=3s,4GiB").says("evaluation takes longer than"),
		"schema: shared":         bombSchema(sharing(40)).with(evaluationLimitEnv + "=3s,4GiB").says("evaluation takes longer than"),
		"schema: itself":         bombSchema(`{"$ref":"#"}`).says("causing reference cycle"),
		"schema: pattern":        bombSchema(`{"properties":{"a":{"pattern":"` + strings.Repeat("(", n/9) + `"}}}`).says("cannot be used"),
		"schema: patterns":       bombSchema(`{"patternProperties":{"((a{1,10}){1,10}){1,10}":{"type":"string"}}}`).says("got number, want string"),
		"schema: many":           bombSchema(`{"allOf":[` + strings.Repeat(`{"enum":[1,2,3]},`, n/60) + `{}]}`).says("value must be one of"),
		"subchart: packed zeros": bombIn(map[string]string{"b.yaml": bombChart, "chart/charts/sub.tgz": inner, "chart/templates/a.yaml": bombObject}, bombBuild).says("the chart holds more than 100 MiB"),
		"subchart: within":       bombIn(map[string]string{"b.yaml": bombChart, "chart/charts/mid.tgz": packed(t, "mid", map[string]string{"charts/sub.tgz": inner}, 0), "chart/templates/a.yaml": bombObject}, bombBuild).says("the chart holds more than 100 MiB"),
		"plan file: lists":       bombField(strings.Repeat("[", n/10), "1").says("nothing vouches for what it shows"),
		"plan file: objects":     bombField("1", strings.Repeat(`{"a":`, 2000)+"1"+strings.Repeat("}", 2000)).says("nothing vouches for what it shows"),
		"plan file: lines":       bombField(`"`+strings.Repeat(`a\n`, n/8)+`"`, `"`+strings.Repeat(`b\nc\n`, n/16)+`"`).says("nothing vouches for what it shows"),
		"plan file: one line":    bombField(`"`+strings.Repeat(`a b`, n/8)+`"`, `"`+strings.Repeat(`b a`, n/8)+`"`).says("nothing vouches for what it shows"),
		"plan file: request":     bombPlan(`{"files":`+strings.Repeat("[", 9000)+strings.Repeat("]", 9000)+"}", "[]").says("cannot unmarshal array"),
		"plan file: clusters":    bombPlan("{}", "["+strings.Repeat("{},", n/4)+"{}]").says("is empty, or there twice"),
		"SOPS: nested":           sealed("sops: {age: [{recipient: age1x, enc: x}], mac: x}\nx: " + strings.Repeat("[", n)).says("it is not valid"),
		"SOPS: aliases":          sealed(aliases() + "sops: {age: [{recipient: age1x, enc: x}], mac: x}\n").says("sops gives no value"),
		"SOPS: long":             sealed(longAliases("") + "sops: {age: [{recipient: age1x, enc: x}], mac: x}\n").says("sops gives no value"),
		"SOPS: recipients":       sealed("x: 1\nsops: {mac: x, lastmodified: \"2026-01-01T00:00:00Z\", age: [" + strings.Repeat("{recipient: age1x, enc: x},", n/30) + "]}\n").says("sops gives no value"),
		"SOPS: expression":       sealed("x: 1\nsops: {mac: x, lastmodified: \"2026-01-01T00:00:00Z\", encrypted_regex: '[" + strings.Repeat(`\pL`, n/3) + "]', age: [{recipient: age1x, enc: x}]}\n").says("sops gives no value"),
		"CRD: a class":           bombVendored(strings.Replace(bombPattern, "PATTERN", "["+strings.Repeat(`\pL`, n/3)+"]", 1)).says("would take too long"),
		"SOPS: sealed":           sealed(sopstest.Encrypt(t, "x: ["+strings.Repeat("1,", 4000)+"1]\n", recipient)).says("is a list"),
		"age keys: long":         withKeys(sealed(sopstest.Encrypt(t, "x: a\n", recipient)), strings.Repeat("# a\n", n/4)).says("# Instance: a"),
		"age keys: many":         withKeys(sealed(sopstest.Encrypt(t, "x: a\n", recipient)), strings.Repeat(identity+"\n", n/80)).says("# Instance: a"),
		"signatures: expression": bombPolicy(`"**"`, `{identityRegexp: "`+strings.Repeat("(", n)+`", issuer: a}`).says("has more than 4096 bytes"),
		"signatures: repeated":   bombPolicy(`"**"`, `{identityRegexp: "((a{1,10}){1,10}){1,10}", issuer: a}`).says("registry 127.0.0.1:1 cannot be reached"),
		"signatures: patterns":   bombPolicy(strings.Repeat(`"**/a*", `, n/60)+`"**"`, `{identity: a, issuer: a}`).says("registry 127.0.0.1:1 cannot be reached"),
		"signatures: glob":       bombPolicy(`"`+strings.Repeat("**/", n/20)+`"`, `{identity: a, issuer: a}`).says("**/**/"),
		"layers: long":           long.says("aliases of this file, written out, stand for more than"),
		"layers: many":           bombLayers(manyLayers(5000), "{{ toYaml .Values }}").says("missing required field"),
		"layers: patterns":       bombLayers("x: {clusters: ["+strings.Repeat(`"*a*a*a*b", `, n/50)+"a], values: {a: 1}}", "").says("no cluster of the fleet matches"),
		"docker config: nested":  docker(`{"auths":` + strings.Repeat(`{"a":`, n/5)).says("exceeded max depth"),
		"docker config: many":    docker(`{"auths":{` + strings.Repeat(`"a":{"auth":"YTpi"},`, n/20) + `"example.com":{"auth":"YTpi"}}}`).says("does not accept the credentials"),
		"fleet import: aliases":  fleet(bombOf("kc", kubeconfig+aliases(), "")).says("aliases of this file, written out, stand for more than"),
		"fleet import: long":     fleet(bombOf("kc", kubeconfig+longAliases(""), "")).says("aliases of this file, written out, stand for more than"),
		"fleet import: nested":   fleet(bombOf("kc", strings.Repeat(`{"a":`, n/5), "")).says("is no kubeconfig"),
		"promote: bundle":        promote("b.yaml", bombBundle+longAliases("")).says("aliases of this file, written out, stand for more than"),
		"promote: fleet":         promote("f.yaml", bombFleet+longAliases("")).says("aliases of this file, written out, stand for more than"),
		"promote: lock":          promote("hawser.lock", longAliases("")).says("is not a lock file"),
		"stdin: colons":          bombOf("-", strings.Repeat("a: ", n/3)+"1", "build -f -").says("nested too deeply"),
		"stdin: multiplied":      bombOf("-", "_a: \"aaaaaaaaaaaaaaaa\"*1000000\nx: \"\\(len(_a*1000))\""+inCUE, "build -f -").says("more than 64 MiB"),
		"stdin: JSON":            bombOf("-", strings.Repeat(`{"a":`, n/5), "vet -f -").says("nested too deeply"),
		"stdin: fleet":           bombOf("-", "_a: \"aaaaaaaaaaaaaaaa\"*1000000\nfleet: {apiVersion: \"v1alpha1\", clusters: a: {kubeContext: \"a\", vars: x: \"\\(len(_a*200))\"}}\n", bombBuild+" --fleet -").says("more than 64 MiB"),
		"stdin: formatted":       bombOf("-", strings.Repeat("[", n), "fmt -").says("nested too deeply"),
		"lock: many":             bombOf("hawser.lock", `{"v":2,"sources":{`+entries(n/40, `"digest":"sha256:1"`)+"}}", bombBuild).says("# Instance: a"),
		"facts: many":            bombOf("facts.json", `{"v":1,"fleet":"f","clusters":[`+strings.Repeat(`{"name":"a"},`, n/20)+`{"name":"a"}]}`, "vet -f b.yaml --facts facts.json").says("there twice or has no name"),
	}
}

// entries are so many fields of a JSON object, each an object.
func entries(n int, of string) string {
	var out []string
	for i := range n {
		out = append(out, fmt.Sprintf(`"k%d":{%s}`, i, of))
	}
	return strings.Join(out, ",")
}

// manyLayers are layers that each bring a key of their own.
func manyLayers(n int) string {
	var out []string
	for i := range n {
		out = append(out, fmt.Sprintf("x%d: {values: {k%d: 1}}", i, i))
	}
	return strings.Join(out, ", ")
}

func withKeys(c bomb, keys string) bomb {
	c.files["keys.txt"] = keys + c.files["keys.txt"]
	return c
}

// TestMoreBombs is TestBombs for charts' schemas and subcharts, other programs' files and other commands.
func TestMoreBombs(t *testing.T) {
	t.Parallel()
	for name, c := range moreBombs(t) {
		t.Run(name, func(t *testing.T) { c.explode(t, "") })
	}
}

//go:build unix

package main

import (
	"fmt"
	"maps"
	"strings"
	"testing"
)

// aliases is a few lines of YAML that stand for 10^11 texts.
func aliases() string {
	var b strings.Builder
	b.WriteString("a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n")
	for i := 1; i < 12; i++ {
		fmt.Fprintf(&b, "a%d: &a%d [%s]\n", i, i, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*a%d,", i-1), 10), ","))
	}
	return b.String()
}

// longAliases is 0.8 MB of YAML that stands for 12 GB: one long text, named 30,000 times. Each line begins with indent.
func longAliases(indent string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%sbig: &b '%s'\n", indent, strings.Repeat("x", 400_000))
	for i := range 30_000 {
		fmt.Fprintf(&b, "%sk%d: *b\n", indent, i)
	}
	return b.String()
}

// doubled is a template that includes another twice, which does likewise, and so on.
var doubled = func() string {
	var b strings.Builder
	b.WriteString(`{{ define "t0" }}0123456789{{ end }}`)
	for i := range 40 {
		fmt.Fprintf(&b, `{{ define "t%d" }}{{ include "t%d" . }}{{ include "t%d" . }}{{ end }}`, i+1, i, i)
	}
	return b.String() + `{{ include "t40" . }}`
}()

// keys are entries of a generator that all read the file f.
func keys(n int) string {
	var out []string
	for i := range n {
		out = append(out, fmt.Sprintf("k%d=f", i))
	}
	return strings.Join(out, ",")
}

// twice are kustomizations of 25 levels that include the next one twice, under other names.
func twice(bundle, object string) map[string]string {
	files := map[string]string{"b.yaml": bundle, "k/kustomization.yaml": "resources: [a0]\n", "k/base/a.yaml": object, "k/base/kustomization.yaml": "resources: [a.yaml]\n"}
	for i := range 25 {
		for _, side := range []string{"a", "b"} {
			next := fmt.Sprintf("[../a%d, ../b%d]", i+1, i+1)
			if i == 24 {
				next = "[../base]"
			}
			files[fmt.Sprintf("k/%s%d/kustomization.yaml", side, i)] = fmt.Sprintf("namePrefix: %s%d-\nresources: %s\n", side, i, next)
		}
	}
	return files
}

// inCUE makes a bundle of a CUE file that evaluates x.
const inCUE = "\nbundle: {apiVersion: \"v1alpha1\", name: \"x\", instances: all: {manifests: paths: [\"m\"], namespace: \"x\", values: n: len(x)}}\n"

// What the bombs lie in.
const (
	bombBundle = "bundle:\n  apiVersion: v1alpha1\n  name: b\n  instances:\n    a: {namespace: x, manifests: {paths: [./m]}}\n"
	bombChart  = "bundle:\n  apiVersion: v1alpha1\n  name: b\n  instances:\n    a: {namespace: x, helm: {chart: ./chart}}\n"
	bombKust   = "bundle:\n  apiVersion: v1alpha1\n  name: b\n  instances:\n    a: {namespace: x, kustomize: {path: ./k}}\n"

	bombBuild      = "build -f b.yaml"
	bombKubeconfig = "plan -f b.yaml --kubeconfig kc --kube-context x"
)

func bombTemplate(text string) bomb {
	return bomb{files: map[string]string{"b.yaml": bombChart, "chart/templates/a.yaml": text}, args: bombBuild}
}

// bombStored is a file of a store that the bundle refers to: of texts, or sops:FILE.
func bombStored(name, text string) bomb {
	_, file, sealed := strings.Cut(name, ":")
	if !sealed {
		file = name
	}
	return bombIn(map[string]string{file: text, "b.yaml": strings.Replace(bombChart, "}}", "}, values: {a: \"ref://"+name+"/x\"}}", 1), "chart/templates/a.yaml": "",
		"f.yaml": bombFleet + "  secretStores: {default: {file: {path: .}}, sops: {sops: {path: ., age: {keyFile: keys.txt}}}}\n"}, bombBuild+" --fleet f.yaml")
}

// bombVendored are definitions that a module vendors.
func bombVendored(text string) bomb {
	return bombIn(map[string]string{"crd.yaml": text, "cue.mod/module.cue": "module: \"x.test/x\"\nlanguage: version: \"v0.9.0\"\n"}, "module vendor crd -f crd.yaml")
}

func bombKustomization(files map[string]string) bomb {
	files["b.yaml"] = bombKust
	return bomb{files: files, args: bombBuild}
}

// bombs are nested, packed and computed.
func bombs(t *testing.T) map[string]bomb {
	const n = 900_000
	return map[string]bomb{
		"manifest: aliases":       bombOf("m/h.yaml", bombObject+aliases(), bombBuild).says("aliases expand to more than"),
		"manifest: nested":        bombOf("m/h.yaml", "x: "+strings.Repeat("[", n), bombBuild).says("exceeded max depth"),
		"bundle: aliases":         bombOf("b.yaml", bombBundle+aliases(), bombBuild).says("aliases of this file, written out, stand for more than"),
		"bundle: nested":          bombOf("b.yaml", "bundle:\n  "+strings.Repeat("- ", n/2), bombBuild).says("exceeded max depth"),
		"CUE: colons":             bombOf("b.cue", strings.Repeat("a: ", n/3)+"1", "build -f b.cue").says("nested too deeply"),
		"CUE: sum":                bombOf("b.cue", "x: 1"+strings.Repeat("+1", n/2), "build -f b.cue").says("one expression is too long"),
		"CUE: repeated":           bombOf("b.cue", "import \"strings\"\nx: strings.Repeat(\"0123456789\", 1000000000)"+inCUE, "build -f b.cue").says("exceeds limit of 1000000"),
		"CUE: multiplied":         bombOf("b.cue", "_a: \"aaaaaaaaaaaaaaaa\"*1000000\nx: \"\\(len(_a*1000))\""+inCUE, "build -f b.cue").says("more than 64 MiB"),
		"CUE: more than there is": bombOf("b.cue", "_a: \"aaaaaaaaaaaaaaaa\"*1000000\nx: \"\\(len(_a*1000000))\""+inCUE, "vet -f b.cue").says("more than 64 MiB"),
		"fleet: multiplied":       bombIn(map[string]string{"f.cue": "_a: \"aaaaaaaaaaaaaaaa\"*1000000\nfleet: {apiVersion: \"v1alpha1\", clusters: a: {context: \"a\", vars: x: \"\\(len(_a*200))\"}}\n"}, bombBuild+" --fleet f.cue").says("more than 64 MiB"),
		"CUE: formatted":          bombOf("b.cue", strings.Repeat("a: ", n/3)+"1", "fmt b.cue").says("nested too deeply"),
		"fleet: aliases":          bombOf("f.yaml", bombFleet+"  x:\n    "+strings.ReplaceAll(aliases(), "\n", "\n    "), bombBuild+" --fleet f.yaml").says("aliases of this file, written out, stand for more than"),
		"hawser.yaml: nested":     bombOf("hawser.yaml", strings.Repeat("[", n), bombBuild).says("exceeded max depth"),
		"hawser.yaml: aliases":    bombOf("hawser.yaml", aliases(), bombBuild).says("aliases of this file, written out, stand for more than"),
		"lock: nested":            bombOf("hawser.lock", strings.Repeat(`{"a":`, n/5), bombBuild).says("exceeded max depth"),
		"facts: nested":           bombOf("facts.json", strings.Repeat(`{"a":`, n/5), "vet -f b.yaml --facts facts.json").says("exceeded max depth"),
		"kubeconfig: aliases":     bombOf("kc", "apiVersion: v1\nkind: Config\n"+aliases(), bombKubeconfig).says("aliases of this file, written out, stand for more than"),
		"kubeconfig: nested":      bombOf("kc", strings.Repeat(`{"a":`, n/5), bombKubeconfig).says("is no kubeconfig"),
		"secret: aliases":         bombStored("e.yaml", aliases()+"x: *a11\n").says("it has more than"),
		"chart: packed zeros":     bombIn(map[string]string{"b.yaml": strings.Replace(bombChart, "./chart", "./chart.tgz", 1), "chart.tgz": packed(t, "app", nil, 500<<20)}, bombBuild).says("the file has more than 16 MiB"),
		"chart: values":           bombIn(map[string]string{"b.yaml": bombChart, "chart/values.yaml": aliases(), "chart/templates/a.yaml": ""}, bombBuild).says("aliases of this file, written out, stand for more than"),
		"template: recursion":     bombTemplate(`{{ define "a" }}{{ include "a" . }}{{ end }}{{ include "a" . }}`).says("nested reference name"),
		"template: nested":        bombTemplate(strings.Repeat("{{if 1}}", n/8)).says("stand more than 1000 deep"),
		"template: replaced":      bombTemplate(`{{ replace "x" (repeat 100000 "y") (repeat 200000 "x") }}`).says("would make more than"),
		"template: by regex":      bombTemplate(`{{ regexReplaceAll "" (repeat 20000 "x") (repeat 200000 "y") }}`).says("would make more than"),
		"template: doubled":       bombTemplate(`{{ $l := "0123456789" }}{{ range until 40 }}{{ $l = print $l $l }}{{ end }}`).says("would make more than"),
		"template: list":          bombTemplate(`{{ $l := list 1 }}{{ range until 40 }}{{ $l = concat $l $l }}{{ end }}`).says("would make more than"),
		"template: number":        bombIn(map[string]string{"b.yaml": strings.Replace(bombChart, "}}", "}, values: {n: 1e900000000, m: 0x"+strings.Repeat("f", n)+"}}", 1), "chart/templates/a.yaml": "{{ .Values.n | int64 }}{{ .Values.m }}"}, bombBuild).says("is no object"),
		"health rule: long":       bombOf("b.yaml", strings.Replace(bombBundle, "}}", "}, health: [{kind: ConfigMap, ready: \""+strings.Repeat("(", n)+"\"}]}", 1), "vet -f b.yaml").says("cannot be used"),
		"health rules: many":      bombOf("b.yaml", strings.Replace(bombBundle, "}}", "}, health: ["+strings.Repeat("{kind: A, ready: 'self.a.map(x, x)'}, ", n/40)+"]}", 1), "vet -f b.yaml").says("cannot be used"),
		"definitions: nested":     bombVendored("spec: " + strings.Repeat("{a: ", n/4)).says("exceeded max depth"),
		"kustomization: itself":   bombKustomization(map[string]string{"k/kustomization.yaml": "resources: [.]\n"}).says("contains visited root"),
		"kustomization: nested":   bombKustomization(map[string]string{"k/kustomization.yaml": "a: " + strings.Repeat("[", n)}).says("exceeded max depth"),
	}
}

// aliasBombs are files whose aliases stand for gigabytes.
func aliasBombs() map[string]bomb {
	const n = 900_000
	return map[string]bomb{
		"manifest: long":       bombOf("m/h.yaml", bombObject+"data:\n"+longAliases("  "), bombBuild).says("at most 1048576"),
		"bundle: long":         bombOf("b.yaml", bombBundle+longAliases(""), bombBuild).says("aliases of this file, written out, stand for more than"),
		"values: long":         bombOf("b.yaml", strings.Replace(bombChart, "{namespace: x, helm: {chart: ./chart}}", "\n      namespace: x\n      helm: {chart: ./chart}\n      values:\n", 1)+longAliases("        "), bombBuild).says("aliases of this file, written out, stand for more than"),
		"values file: long":    bombIn(map[string]string{"b.yaml": strings.Replace(bombChart, "}}", "}, values: {from: {file: v.yaml}}}", 1), "v.yaml": longAliases("")}, bombBuild).says("aliases of this file, written out, stand for more than"),
		"CUE: long":            bombOf("b.cue", "import \"encoding/yaml\"\nx: yaml.Unmarshal(#\"\"\"\n"+longAliases("")+"\n\"\"\"#)"+inCUE, "build -f b.cue").says("evaluation needs more than"),
		"fleet: long":          bombOf("f.yaml", bombFleet+longAliases(""), bombBuild+" --fleet f.yaml").says("aliases of this file, written out, stand for more than"),
		"hawser.yaml: long":    bombOf("hawser.yaml", longAliases(""), bombBuild).says("aliases of this file, written out, stand for more than"),
		"formatted: long":      bombOf("b.yaml", bombBundle+longAliases(""), "fmt b.yaml"),
		"kubeconfig: long":     bombOf("kc", "apiVersion: v1\nkind: Config\n"+longAliases(""), bombKubeconfig).says("aliases of this file, written out, stand for more than"),
		"secret: long":         bombStored("e.yaml", longAliases("")+"x: *b\n").says("# Instance: a"),
		"definitions: long":    bombVendored(longAliases("")).says("aliases of this file, written out, stand for more than"),
		"chart: long values":   bombIn(map[string]string{"b.yaml": bombChart, "chart/values.yaml": longAliases("")}, bombBuild).says("aliases of this file, written out, stand for more than"),
		"chart: long meta":     bombIn(map[string]string{"b.yaml": bombChart, "chart/Chart.yaml": "apiVersion: v2\nname: app\nversion: 1.0.0\n" + longAliases("")}, bombBuild).says("aliases of this file, written out, stand for more than"),
		"template: long":       bombTemplate(bombObject + "data:\n" + longAliases("  ")).says("aliases of this file, written out, stand for more than"),
		"template: read":       bombIn(map[string]string{"b.yaml": bombChart, "chart/x.yaml": longAliases(""), "chart/templates/a.yaml": `{{ len (fromYaml (.Files.Get "x.yaml")) }}`}, bombBuild).says("is no object"),
		"template: printf":     bombTemplate(`{{ $l := "0123456789" }}{{ range until 40 }}{{ $l = printf "%s%s" $l $l }}{{ end }}`).says("would make more than"),
		"template: written":    bombTemplate(`{{ $d := dict }}{{ $b := repeat 900000 "x" }}{{ range until 99999 }}{{ $_ := set $d (print .) $b }}{{ end }}{{ toYaml $d }}`).says("would make more than"),
		"template: included":   bombTemplate(doubled).with(evaluationLimitEnv + "=3s,4GiB").says("evaluation takes longer than"),
		"resource: aliases":    bombKustomization(map[string]string{"k/kustomization.yaml": "resources: [a.yaml]\n", "k/a.yaml": bombObject + aliases()}).says("aliases of this file, written out, stand for more than"),
		"resource: long":       bombKustomization(map[string]string{"k/kustomization.yaml": "resources: [a.yaml]\n", "k/a.yaml": bombObject + "data:\n" + longAliases("  ")}).says("aliases of this file, written out, stand for more than"),
		"patch: long":          bombKustomization(map[string]string{"k/kustomization.yaml": "resources: [a.yaml]\npatches: [{path: p.yaml}]\n", "k/a.yaml": bombObject, "k/p.yaml": bombObject + "data:\n" + longAliases("  ")}).says("aliases of this file, written out, stand for more than"),
		"patch: inline":        bombKustomization(map[string]string{"k/kustomization.yaml": "resources: [a.yaml]\npatches:\n- patch: |\n    " + strings.ReplaceAll(bombObject+aliases(), "\n", "\n    "), "k/a.yaml": bombObject}).says("aliases of this file, written out, stand for more than"),
		"component: literals":  bombKustomization(map[string]string{"k/kustomization.yaml": "components: [c]\n", "k/c/kustomization.yaml": "kind: Component\nconfigMapGenerator:\n- name: a\n  literals: [&b 'a=" + strings.Repeat("x", n/2) + "'" + strings.Repeat(", *b", n/10) + "]\n"}).says("aliases of this file, written out, stand for more than"),
		"generator: one file":  bombKustomization(map[string]string{"k/kustomization.yaml": "configMapGenerator:\n- name: a\n  files: [" + keys(9000) + "]\n", "k/f": strings.Repeat("x", n)}).says("more than 64 MiB"),
		"kustomization: twice": bombIn(twice(bombKust, bombObject), bombBuild).says("more than 1000 kustomizations"),
	}
}

// TestBombs: no input of less than 1 MiB makes the process take 1 GiB or a minute, or crash, whatever kind of file it is.
func TestBombs(t *testing.T) {
	t.Parallel()
	all := bombs(t)
	maps.Copy(all, aliasBombs())
	for name, c := range all {
		t.Run(name, func(t *testing.T) { c.explode(t, "") })
	}
}

//go:build unix

package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"fmt"
	"maps"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"
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

// zeros is an archive of one chart with a file of so many bytes.
func zeros(t *testing.T, n int) string {
	var out bytes.Buffer
	packed := gzip.NewWriter(&out)
	files := tar.NewWriter(packed)
	for name, data := range map[string][]byte{"app/Chart.yaml": []byte("apiVersion: v2\nname: app\nversion: 1.0.0\n"), "app/big": make([]byte, n)} {
		err := files.WriteHeader(&tar.Header{Name: name, Size: int64(len(data)), Mode: 0o644})
		if err == nil {
			_, err = files.Write(data)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	_, _ = files.Close(), packed.Close()
	return out.String()
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

// bomb is what one process is given: files by name, and arguments.
type bomb struct {
	files map[string]string
	args  string
}

func bombOf(name, text, args string) bomb { return bomb{map[string]string{name: text}, args} }

func bombTemplate(text string) bomb {
	return bomb{map[string]string{"b.yaml": bombChart, "chart/templates/a.yaml": text}, bombBuild}
}

// bombStored is a file of a store that the bundle refers to.
func bombStored(name, text string) bomb {
	return bomb{map[string]string{name: text, "b.yaml": strings.Replace(bombChart, "}}", "}, values: {a: \"ref://"+name+"/x\"}}", 1),
		"f.yaml": bombFleet + "  secretStores: {default: {file: {path: .}}, sops: {sops: {path: .}}}\n"}, bombBuild + " --fleet f.yaml"}
}

func bombKustomization(files map[string]string) bomb {
	files["b.yaml"] = bombKust
	return bomb{files, bombBuild}
}

// bombs are nested, packed and computed.
func bombs(t *testing.T) map[string]bomb {
	const n = 900_000
	return map[string]bomb{
		"manifest: aliases":       bombOf("m/h.yaml", bombObject+aliases(), bombBuild),
		"manifest: nested":        bombOf("m/h.yaml", "x: "+strings.Repeat("[", n), bombBuild),
		"bundle: aliases":         bombOf("b.yaml", bombBundle+aliases(), bombBuild),
		"bundle: nested":          bombOf("b.yaml", "bundle: "+strings.Repeat("- ", n/2), bombBuild),
		"CUE: colons":             bombOf("b.cue", strings.Repeat("a: ", n/3)+"1", "build -f b.cue"),
		"CUE: sum":                bombOf("b.cue", "x: 1"+strings.Repeat("+1", n/2), "build -f b.cue"),
		"CUE: repeated":           bombOf("b.cue", "import \"strings\"\nx: strings.Repeat(\"0123456789\", 1000000000)"+inCUE, "build -f b.cue"),
		"CUE: multiplied":         bombOf("b.cue", "_a: \"aaaaaaaaaaaaaaaa\"*1000000\nx: \"\\(len(_a*1000))\""+inCUE, "build -f b.cue"),
		"CUE: more than there is": bombOf("b.cue", "_a: \"aaaaaaaaaaaaaaaa\"*1000000\nx: \"\\(len(_a*1000000))\""+inCUE, "vet -f b.cue"),
		"fleet: multiplied":       {map[string]string{"f.cue": "_a: \"aaaaaaaaaaaaaaaa\"*1000000\nfleet: {apiVersion: \"v1alpha1\", clusters: a: {context: \"a\", vars: x: \"\\(len(_a*200))\"}}\n"}, bombBuild + " --fleet f.cue"},
		"CUE: formatted":          bombOf("b.cue", strings.Repeat("a: ", n/3)+"1", "fmt b.cue"),
		"fleet: aliases":          bombOf("f.yaml", bombFleet+"  x:\n    "+strings.ReplaceAll(aliases(), "\n", "\n    "), bombBuild+" --fleet f.yaml"),
		"hawser.yaml: nested":     bombOf("hawser.yaml", strings.Repeat("[", n), bombBuild),
		"hawser.yaml: aliases":    bombOf("hawser.yaml", aliases(), bombBuild),
		"lock: nested":            bombOf("hawser.lock", strings.Repeat(`{"a":`, n/5), bombBuild),
		"plan file: nested":       bombOf("p.plan", `{"v":1,"a":`+strings.Repeat("[", n), "plan show p.plan"),
		"facts: nested":           bombOf("facts.json", strings.Repeat(`{"a":`, n/5), "vet -f b.yaml --facts facts.json"),
		"kubeconfig: aliases":     bombOf("kc", "apiVersion: v1\nkind: Config\n"+aliases(), bombKubeconfig),
		"kubeconfig: nested":      bombOf("kc", strings.Repeat(`{"a":`, n/5), bombKubeconfig),
		"secret: aliases":         bombStored("e.yaml", aliases()+"x: *a11\n"),
		"SOPS: aliases":           bombStored("sops:e.yaml", ""),
		"chart: packed zeros":     {map[string]string{"b.yaml": strings.Replace(bombChart, "./chart", "./chart.tgz", 1), "chart.tgz": zeros(t, 500<<20)}, bombBuild},
		"chart: values":           {map[string]string{"b.yaml": bombChart, "chart/values.yaml": aliases(), "chart/templates/a.yaml": ""}, bombBuild},
		"template: recursion":     bombTemplate(`{{ define "a" }}{{ include "a" . }}{{ end }}{{ include "a" . }}`),
		"template: nested":        bombTemplate(strings.Repeat("{{if 1}}", n/8)),
		"template: replaced":      bombTemplate(`{{ replace "x" (repeat 100000 "y") (repeat 200000 "x") }}`),
		"template: by regex":      bombTemplate(`{{ regexReplaceAll "" (repeat 20000 "x") (repeat 200000 "y") }}`),
		"template: doubled":       bombTemplate(`{{ $l := "0123456789" }}{{ range until 40 }}{{ $l = print $l $l }}{{ end }}`),
		"template: list":          bombTemplate(`{{ $l := list 1 }}{{ range until 40 }}{{ $l = concat $l $l }}{{ end }}`),
		"template: number":        {map[string]string{"b.yaml": strings.Replace(bombChart, "}}", "}, values: {n: 1e900000000, m: 0x"+strings.Repeat("f", n)+"}}", 1), "chart/templates/a.yaml": "{{ .Values.n | int64 }}{{ .Values.m }}"}, bombBuild},
		"health rule: long":       bombOf("b.yaml", strings.Replace(bombBundle, "}}", "}, health: [{kind: ConfigMap, ready: \""+strings.Repeat("(", n)+"\"}]}", 1), "vet -f b.yaml"),
		"health rules: many":      bombOf("b.yaml", strings.Replace(bombBundle, "}}", "}, health: ["+strings.Repeat("{kind: A, ready: 'self.a.map(x, x)'}, ", n/40)+"]}", 1), "vet -f b.yaml"),
		"definitions: nested":     bombOf("crd.yaml", "spec: "+strings.Repeat("{a: ", n/4), "module vendor crd -f crd.yaml"),
		"SOPS: nested":            bombStored("e.yaml", "sops: {mac: x}\nx: "+strings.Repeat("[", n)),
		"kustomization: itself":   bombKustomization(map[string]string{"k/kustomization.yaml": "resources: [.]\n"}),
		"kustomization: nested":   bombKustomization(map[string]string{"k/kustomization.yaml": "a: " + strings.Repeat("[", n)}),
	}
}

// aliasBombs are files whose aliases stand for gigabytes.
func aliasBombs() map[string]bomb {
	const n = 900_000
	return map[string]bomb{
		"manifest: long":       bombOf("m/h.yaml", bombObject+"data:\n"+longAliases("  "), bombBuild),
		"bundle: long":         bombOf("b.yaml", bombBundle+longAliases(""), bombBuild),
		"values: long":         bombOf("b.yaml", strings.Replace(bombChart, "{namespace: x, helm: {chart: ./chart}}", "\n      namespace: x\n      helm: {chart: ./chart}\n      values:\n", 1)+longAliases("        "), bombBuild),
		"values file: long":    {map[string]string{"b.yaml": strings.Replace(bombChart, "}}", "}, values: {from: {file: v.yaml}}}", 1), "v.yaml": longAliases("")}, bombBuild},
		"CUE: long":            bombOf("b.cue", "import \"encoding/yaml\"\nx: yaml.Unmarshal(#\"\"\"\n"+longAliases("")+"\n\"\"\"#)"+inCUE, "build -f b.cue"),
		"fleet: long":          bombOf("f.yaml", bombFleet+longAliases(""), bombBuild+" --fleet f.yaml"),
		"hawser.yaml: long":    bombOf("hawser.yaml", longAliases(""), bombBuild),
		"formatted: long":      bombOf("b.yaml", bombBundle+longAliases(""), "fmt b.yaml"),
		"facts: long":          bombOf("facts.yaml", longAliases(""), "vet -f b.yaml --facts facts.yaml"),
		"lock: long":           bombOf("hawser.lock", longAliases(""), bombBuild),
		"plan file: long":      bombOf("p.plan", longAliases(""), "plan show p.plan"),
		"kubeconfig: long":     bombOf("kc", "apiVersion: v1\nkind: Config\n"+longAliases(""), bombKubeconfig),
		"secret: long":         bombStored("e.yaml", longAliases("")+"x: *b\n"),
		"definitions: long":    bombOf("crd.yaml", longAliases(""), "module vendor crd -f crd.yaml"),
		"chart: long values":   {map[string]string{"b.yaml": bombChart, "chart/values.yaml": longAliases("")}, bombBuild},
		"chart: long meta":     {map[string]string{"b.yaml": bombChart, "chart/Chart.yaml": "apiVersion: v2\nname: app\nversion: 1.0.0\n" + longAliases("")}, bombBuild},
		"template: long":       bombTemplate(bombObject + "data:\n" + longAliases("  ")),
		"template: read":       {map[string]string{"b.yaml": bombChart, "chart/x.yaml": longAliases(""), "chart/templates/a.yaml": `{{ len (fromYaml (.Files.Get "x.yaml")) }}`}, bombBuild},
		"template: printf":     bombTemplate(`{{ $l := "0123456789" }}{{ range until 40 }}{{ $l = printf "%s%s" $l $l }}{{ end }}`),
		"template: written":    bombTemplate(`{{ $d := dict }}{{ $b := repeat 900000 "x" }}{{ range until 99999 }}{{ $_ := set $d (print .) $b }}{{ end }}{{ toYaml $d }}`),
		"template: included":   bombTemplate(doubled),
		"resource: aliases":    bombKustomization(map[string]string{"k/kustomization.yaml": "resources: [a.yaml]\n", "k/a.yaml": bombObject + aliases()}),
		"resource: long":       bombKustomization(map[string]string{"k/kustomization.yaml": "resources: [a.yaml]\n", "k/a.yaml": bombObject + "data:\n" + longAliases("  ")}),
		"patch: long":          bombKustomization(map[string]string{"k/kustomization.yaml": "resources: [a.yaml]\npatches: [{path: p.yaml}]\n", "k/a.yaml": bombObject, "k/p.yaml": bombObject + "data:\n" + longAliases("  ")}),
		"patch: inline":        bombKustomization(map[string]string{"k/kustomization.yaml": "resources: [a.yaml]\npatches:\n- patch: |\n    " + strings.ReplaceAll(bombObject+aliases(), "\n", "\n    "), "k/a.yaml": bombObject}),
		"component: literals":  bombKustomization(map[string]string{"k/kustomization.yaml": "components: [c]\n", "k/c/kustomization.yaml": "kind: Component\nconfigMapGenerator:\n- name: a\n  literals: [&b 'a=" + strings.Repeat("x", n/2) + "'" + strings.Repeat(", *b", n/10) + "]\n"}),
		"generator: one file":  bombKustomization(map[string]string{"k/kustomization.yaml": "configMapGenerator:\n- name: a\n  files: [" + keys(9000) + "]\n", "k/f": strings.Repeat("x", n)}),
		"kustomization: twice": {twice(bombKust, bombObject), bombBuild},
	}
}

// TestBombs: no input of less than 1 MiB makes the process take 1 GiB or a minute, or crash, whatever kind of file it is.
func TestBombs(t *testing.T) {
	all := bombs(t)
	maps.Copy(all, aliasBombs())
	for name, c := range all {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			b.write("b.yaml", bombBundle)
			b.write("m/ok.yaml", bombObject)
			b.write("chart/Chart.yaml", "apiVersion: v2\nname: app\nversion: 1.0.0\n")
			for file, text := range c.files {
				if _, after, sops := strings.Cut(file, ":"); sops {
					file, text = after, aliases()+"sops: {age: [{recipient: age1x, enc: x}], mac: x}\n"
				}
				if len(text) > 1<<20 {
					t.Fatalf("%s has %d bytes", file, len(text))
				}
				b.write(file, text)
			}
			var said bytes.Buffer
			cmd := b.command(t.Context(), strings.Fields(c.args)...)
			cmd.Stdout, cmd.Stderr = &said, &said
			began := time.Now()
			_ = cmd.Run() // most are errors
			took, used := time.Since(began), cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss
			if runtime.GOOS != "darwin" {
				used <<= 10
			}
			if took > 10*time.Minute || used > 1<<30 || cmd.ProcessState.ExitCode() < 0 || strings.Contains(said.String(), "goroutine ") {
				t.Errorf("%s, %d MiB: %v\n%.600s", took, used>>20, cmd.ProcessState, said.String())
			}
		})
	}
}

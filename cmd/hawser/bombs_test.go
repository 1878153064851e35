//go:build unix

package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"fmt"
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

// inCUE makes a bundle of a CUE file that evaluates x.
const inCUE = "\nbundle: {apiVersion: \"v1alpha1\", name: \"x\", instances: all: {manifests: paths: [\"m\"], namespace: \"x\", values: n: len(x)}}\n"

// TestBombs: no input of less than 1 MiB makes the process take 1 GiB or a minute, or crash, whatever kind of file it is.
func TestBombs(t *testing.T) {
	const (
		bundle = "bundle:\n  apiVersion: v1alpha1\n  name: b\n  instances:\n    a: {namespace: x, manifests: {paths: [./m]}}\n"
		chart  = "bundle:\n  apiVersion: v1alpha1\n  name: b\n  instances:\n    a: {namespace: x, helm: {chart: ./chart}}\n"
		kust   = "bundle:\n  apiVersion: v1alpha1\n  name: b\n  instances:\n    a: {namespace: x, kustomize: {path: ./k}}\n"
		fleet  = "fleet:\n  apiVersion: v1alpha1\n  name: f\n  clusters: {a: {kubeContext: x}}\n"
		config = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ok}\n"
		n      = 900_000
	)
	template := func(text string) map[string]string {
		return map[string]string{"b.yaml": chart, "chart/templates/a.yaml": text}
	}
	of := func(name, text string) map[string]string { return map[string]string{name: text} }
	stored := func(name, text string) map[string]string {
		return map[string]string{name: text, "b.yaml": strings.Replace(chart, "}}", "}, values: {a: \"ref://"+name+"/x\"}}", 1),
			"f.yaml": fleet + "  secretStores: {default: {file: {path: .}}, sops: {sops: {path: .}}}\n"}
	}
	build, kubeconfig := "build -f b.yaml", "plan -f b.yaml --kubeconfig kc --kube-context x"
	for name, c := range map[string]struct {
		files map[string]string
		args  string
	}{
		"manifest: aliases":     {of("m/h.yaml", config+aliases()), build},
		"manifest: nested":      {of("m/h.yaml", "x: "+strings.Repeat("[", n)), build},
		"bundle: aliases":       {of("b.yaml", bundle+aliases()), build},
		"bundle: nested":        {of("b.yaml", "bundle: "+strings.Repeat("- ", n/2)), build},
		"CUE: colons":           {of("b.cue", strings.Repeat("a: ", n/3)+"1"), "build -f b.cue"},
		"CUE: sum":              {of("b.cue", "x: 1"+strings.Repeat("+1", n/2)), "build -f b.cue"},
		"CUE: repeated":         {of("b.cue", "import \"strings\"\nx: strings.Repeat(\"0123456789\", 1000000000)"+inCUE), "build -f b.cue"},
		"CUE: formatted":        {of("b.cue", strings.Repeat("a: ", n/3)+"1"), "fmt b.cue"},
		"fleet: aliases":        {of("f.yaml", fleet+"  x:\n    "+strings.ReplaceAll(aliases(), "\n", "\n    ")), build + " --fleet f.yaml"},
		"hawser.yaml: nested":   {of("hawser.yaml", strings.Repeat("[", n)), build},
		"hawser.yaml: aliases":  {of("hawser.yaml", aliases()), build},
		"lock: nested":          {of("hawser.lock", strings.Repeat(`{"a":`, n/5)), build},
		"plan file: nested":     {of("p.plan", `{"v":1,"a":`+strings.Repeat("[", n)), "plan show p.plan"},
		"facts: nested":         {of("facts.json", strings.Repeat(`{"a":`, n/5)), "vet -f b.yaml --facts facts.json"},
		"kubeconfig: aliases":   {of("kc", "apiVersion: v1\nkind: Config\n"+aliases()), kubeconfig},
		"kubeconfig: nested":    {of("kc", strings.Repeat(`{"a":`, n/5)), kubeconfig},
		"secret: aliases":       {stored("e.yaml", aliases()+"x: *a11\n"), build + " --fleet f.yaml"},
		"SOPS: aliases":         {stored("sops:e.yaml", ""), build + " --fleet f.yaml"},
		"chart: packed zeros":   {map[string]string{"b.yaml": strings.Replace(chart, "./chart", "./chart.tgz", 1), "chart.tgz": zeros(t, 500<<20)}, build},
		"chart: values":         {map[string]string{"b.yaml": chart, "chart/values.yaml": aliases(), "chart/templates/a.yaml": ""}, build},
		"template: recursion":   {template(`{{ define "a" }}{{ include "a" . }}{{ end }}{{ include "a" . }}`), build},
		"template: nested":      {template(strings.Repeat("{{if 1}}", n/8)), build},
		"template: replaced":    {template(`{{ replace "x" (repeat 100000 "y") (repeat 200000 "x") }}`), build},
		"template: by regex":    {template(`{{ regexReplaceAll "" (repeat 20000 "x") (repeat 200000 "y") }}`), build},
		"template: doubled":     {template(`{{ $l := "0123456789" }}{{ range until 40 }}{{ $l = print $l $l }}{{ end }}`), build},
		"template: list":        {template(`{{ $l := list 1 }}{{ range until 40 }}{{ $l = concat $l $l }}{{ end }}`), build},
		"kustomization: itself": {map[string]string{"b.yaml": kust, "k/kustomization.yaml": "resources: [.]\n"}, build},
		"kustomization: nested": {map[string]string{"b.yaml": kust, "k/kustomization.yaml": "a: " + strings.Repeat("[", n)}, build},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			b.write("b.yaml", bundle)
			b.write("m/ok.yaml", config)
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
			if took > time.Minute || used > 1<<30 || cmd.ProcessState.ExitCode() < 0 || strings.Contains(said.String(), "goroutine ") {
				t.Errorf("%s, %d MiB: %v\n%.600s", took, used>>20, cmd.ProcessState, said.String())
			}
		})
	}
}

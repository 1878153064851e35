package cuegen

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"cuelang.org/go/cue"
	"cuelang.org/go/cue/cuecontext"
	"cuelang.org/go/cue/errors"
	"cuelang.org/go/cue/load"
	"cuelang.org/go/cue/parser"
	_ "k8s.io/api/apps/v1" // their source is read
	_ "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

const metaSource = `package v1

// +k8s:deepcopy-gen=true

// TypeMeta names the type.
type TypeMeta struct {
	// Kind is the kind.
	// +optional
	Kind string ` + "`json:\"kind,omitempty\" protobuf:\"bytes,1,opt,name=kind\"`" + `
}

// Time is a time.
type Time struct{ inner int }
`

const shopSource = `package v1

import (
	"io"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"example.com/absent/pkg"
)

// Color is a colour.
// +enum
type Color string

const (
	// Red is warm.
	Red  Color = "red"
	Blue Color = "blue"
)

// Shape may be more than what is known here.
type Shape string

const Round Shape = "round"

const Answer = 42

// Shop sells.
type Shop struct {
	metav1.TypeMeta ` + "`json:\"\"`" + `
	hidden, Plain   int
	// Spec is wanted.
	// +required
	Spec  ShopSpec            ` + "`json:\"spec,omitempty\"`" + `
	Skip  string              ` + "`json:\"-\"`" + `
	Dash  string              ` + "`json:\"-,\"`" + `
	Since *metav1.Time        ` + "`json:\"since\"`" + `
	metav1                    string
	Import string             ` + "`json:\"metav1\"`" + `
	Int   int64               ` + "`json:\"int,string\"`" + `
	Color Color               ` + "`json:\"color,omitempty\"`" + `
	Other pkg.Other           ` + "`json:\"other,omitempty\"`" + `
	Out   io.Writer           ` + "`json:\"out,omitempty\"`" + `
	Local unexported          ` + "`json:\"local,omitempty\"`" + `
}

type unexported struct{}

type ShopSpec struct {
	Data   map[string][]byte  ` + "`json:\"data,omitempty\"`" + `
	Sizes  []int32            ` + "`json:\"sizes\"`" + `
	Deep   map[Shape][]*Shop  ` + "`json:\"deep,omitempty\"`" + `
	Inline struct {
		A float64 ` + "`json:\"a\"`" + `
	} ` + "`json:\"inline,omitzero\"`" + `
	Any    any ` + "`json:\"any,omitempty\"`" + `
	Shape  Shape ` + "`json:\"shape\"`" + `
}

type Alias = metav1.Time

type Handler func()

type Generic[T any] struct{ X T }

func (Shop) Method() {}
`

func shop() Source {
	return Source{
		"k8s.io/apimachinery/pkg/apis/meta/v1": {"types.go": []byte(metaSource)},
		"example.com/shop/v1":                  {"types.go": []byte(shopSource), "doc.go": []byte("package v1\n")},
	}
}

func TestFromGoGolden(t *testing.T) {
	files, fs := FromGo(shop(), GoOptions{Origin: "example.com v1.0.0", Packages: []string{"example.com/shop/v1"}})
	golden(t, "shop.golden", files, fs)
	files, fs = FromGo(shop(), GoOptions{Origin: "example.com v1.0.0", Docs: true})
	golden(t, "shop-docs.golden", files, fs)
}

func TestFromGoRefuses(t *testing.T) {
	if _, fs := FromGo(shop(), GoOptions{Packages: []string{"example.com/none"}}); len(fs) != 1 || fs[0].Code != "no-package" {
		t.Errorf("unknown package: %v", fs)
	}
	bad := Source{"example.com/a": {"a.go": []byte("package a\ntype X struct {")}}
	if files, fs := FromGo(bad, GoOptions{}); len(files) > 0 || !fs.HasErrors() || fs[0].Code != "go-syntax" || !strings.Contains(fs[0].What, "a.go:2") {
		t.Errorf("syntax: %v", fs)
	}
	if files, _ := FromGo(Source{"../up": {"a.go": []byte("package a\ntype X string")}}, GoOptions{}); len(files) > 0 {
		t.Errorf("a path that climbs gave %s", files[0].Path)
	}
}

// kubernetes is the source of the Kubernetes modules this module is built with.
func kubernetes(t *testing.T) Source {
	t.Helper()
	src := Source{}
	for _, mod := range []string{"k8s.io/api", "k8s.io/apimachinery", "k8s.io/apiextensions-apiserver"} {
		out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", mod).Output()
		if err != nil {
			t.Fatal(err)
		}
		root := strings.TrimSpace(string(out))
		err = filepath.WalkDir(root, func(path string, d os.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			if base := filepath.Base(path); strings.HasPrefix(base, "zz_") || strings.HasSuffix(base, ".pb.go") || base == "doc.go" {
				return nil
			}
			rel, err := filepath.Rel(root, filepath.Dir(path))
			if err != nil {
				return err
			}
			data, err := os.ReadFile(path)
			pkg := mod + "/" + filepath.ToSlash(rel)
			if src[pkg] == nil {
				src[pkg] = map[string][]byte{}
			}
			src[pkg][filepath.Base(path)] = data
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return src
}

// TestFromGoKubernetes converts Kubernetes' own types: all groups, with nothing left unknown but what is listed here.
func TestFromGoKubernetes(t *testing.T) {
	src := kubernetes(t)
	var wanted []string
	for pkg := range src {
		if strings.HasPrefix(pkg, "k8s.io/api/") || strings.HasSuffix(pkg, "/apiextensions/v1") {
			if _, ok := src[pkg]["types.go"]; ok {
				wanted = append(wanted, pkg)
			}
		}
	}
	files, fs := FromGo(src, GoOptions{Origin: "k8s.io/api", Packages: wanted})
	for _, f := range fs {
		t.Errorf("%v", f)
	}
	if len(wanted) < 40 || len(files) < len(wanted) {
		t.Errorf("%d packages became %d files", len(wanted), len(files))
	}
	checkObjects(t, imported(t, files, wanted))
}

// imported is a package with one field: all, a struct of the wanted packages by import path.
func imported(t *testing.T, files []File, wanted []string) cue.Value {
	t.Helper()
	const root = "/module"
	overlay := map[string]load.Source{root + "/cue.mod/module.cue": load.FromString("module: \"example.com/m\"\nlanguage: version: \"v0.9.0\"\n")}
	for _, f := range files {
		overlay[root+"/cue.mod/gen/"+f.Path] = load.FromBytes(f.Data)
	}
	var imports, fields strings.Builder
	for i, pkg := range wanted {
		fmt.Fprintf(&imports, "import p%d %q\n", i, pkg)
		fmt.Fprintf(&fields, "all: %q: p%d\n", pkg, i)
	}
	overlay[root+"/x.cue"] = load.FromString("package x\n" + imports.String() + fields.String())
	insts := load.Instances([]string{"."}, &load.Config{Dir: root, ModuleRoot: root, Overlay: overlay, Env: []string{"CUE_REGISTRY=none"}})
	v := cuecontext.New().BuildInstance(insts[0])
	if err := v.Validate(); err != nil {
		t.Fatal(errors.Details(err, nil))
	}
	return v.LookupPath(cue.ParsePath("all"))
}

// checkObjects: objects a server takes are taken, misspelled ones are not.
func checkObjects(t *testing.T, all cue.Value) {
	t.Helper()
	const container = `{name: "c", image: "i", resources: limits: cpu: "1", ports: [{containerPort: 80}], livenessProbe: httpGet: port: "http"}`
	for _, c := range []struct{ def, object, refused string }{
		{`"k8s.io/api/apps/v1".#Deployment`, `{metadata: name: "x", spec: {selector: matchLabels: a: "b", template: spec: containers: [` + container + `]}}`, ""},
		{`"k8s.io/api/apps/v1".#Deployment`, `{spec: {replica: 2, selector: {}, template: {}}}`, "replica"},
		{`"k8s.io/api/apps/v1".#Deployment`, `{spec: {replicas: "2", selector: {}, template: {}}}`, "replicas"},
		{`"k8s.io/api/core/v1".#Service`, `{spec: {type: "LoadBalancer", ports: [{port: 80, protocol: "TCP", targetPort: 8080}]}}`, ""},
		{`"k8s.io/api/core/v1".#Service`, `{spec: {type: "Loadbalancer", ports: []}}`, "type"},
		{`"k8s.io/api/core/v1".#Secret`, `{data: key: 'value', stringData: other: "text"}`, ""},
		{`"k8s.io/api/core/v1".#Secret`, `{data: key: 5}`, "data.key"},
		{`"k8s.io/api/core/v1".#PersistentVolumeClaim`, `{spec: resources: requests: storage: "1Gi"}`, ""},
		{`"k8s.io/api/batch/v1".#CronJob`, `{spec: {schedule: "* * * * *", jobTemplate: spec: template: spec: {restartPolicy: "Never", containers: [` + container + `]}}}`, ""},
		{`"k8s.io/api/networking/v1".#Ingress`, `{spec: rules: [{host: "h", http: paths: [{path: "/", pathType: "Prefix", backend: service: {name: "s", port: name: "http"}}]}]}`, ""},
		{`"k8s.io/api/rbac/v1".#Role`, `{rules: [{apiGroups: [""], resources: ["pods"], verbs: ["get"]}]}`, ""},
		{`"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1".#CustomResourceDefinition`,
			`{spec: {group: "g", scope: "Namespaced", names: {plural: "p", kind: "K"}, versions: [{name: "v1", served: true, storage: true, schema: openAPIV3Schema: {type: "object", properties: a: {items: type: "string", additionalProperties: true}}}]}}`, ""},
	} {
		def := all.LookupPath(cue.ParsePath(c.def))
		if !def.Exists() {
			t.Errorf("%s does not exist", c.def)
			continue
		}
		err := def.Unify(cuecontext.New().CompileString(c.object)).Validate(cue.Concrete(true), cue.Final())
		if (err != nil) != (c.refused != "") || err != nil && !strings.Contains(errors.Details(err, nil), c.refused) {
			t.Errorf("%s %s: error %v, want %q", c.def, c.object, err, c.refused)
		}
	}
}

// FuzzFromGo: whatever Go it is given, what comes out parses.
func FuzzFromGo(f *testing.F) {
	f.Add(shopSource)
	f.Add(metaSource)
	f.Add("package v1\ntype A struct { B *A `json:\"b\\n\"` }")
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 32<<10 {
			return
		}
		files, fs := FromGo(Source{"example.com/f/v1": {"f.go": []byte(text)}}, GoOptions{Docs: true})
		for _, x := range fs {
			if x.Code == "go-convert" {
				t.Error(x)
			}
		}
		for _, x := range files {
			if _, err := parser.ParseFile(x.Path, x.Data); err != nil {
				t.Error(err)
			}
		}
	})
}

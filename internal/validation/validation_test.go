package validation

import (
	"cmp"
	"context"
	"crypto/sha512"
	"encoding/hex"
	"errors"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"

	"hawser.dev/hawser/internal/answer"
	"hawser.dev/hawser/internal/cache"
	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/fleet"
	"hawser.dev/hawser/internal/object"
	"hawser.dev/hawser/internal/openapi"
)

// published is what a server publishes of gadgets: a size that must be there and one of two colours.
const published = `{"openapi":"3.0.0","components":{"schemas":{"Gadget":{"type":"object","x-kubernetes-group-version-kind":[{"group":"example.com","kind":"Gadget","version":"v1"}],
 "properties":{"apiVersion":{"type":"string"},"kind":{"type":"string"},"metadata":{"type":"object"},
 "spec":{"type":"object","required":["size"],"properties":{"size":{"type":"integer"},"colour":{"type":"string","enum":["red","green"]}}}}}}}}`

var gadgets = schema.GroupVersion{Group: "example.com", Version: "v1"}

func hash() string {
	sum := sha512.Sum512([]byte(published))
	return hex.EncodeToString(sum[:])
}

// server is a Server that counts what it was asked for.
type server struct {
	asked      []string
	index, doc error
	definition map[string]any
	lie        string // a document in the place of the one that it claims
}

func (s *server) OpenAPI(_ context.Context, at string) ([]byte, error) {
	s.asked = append(s.asked, at)
	if at == openapi.Root {
		return []byte(`{"paths":{"apis/example.com/v1":{"serverRelativeURL":"/openapi/v3/apis/example.com/v1?hash=` + hash() + `"}}}`), s.index
	}
	return []byte(cmp.Or(s.lie, published)), s.doc
}

func (s *server) Definition(context.Context, schema.GroupKind) map[string]any { return s.definition }

func schemas(s Server) *Schemas {
	return &Schemas{Cluster: "eu", Server: s, Library: &openapi.Library{}, Redact: func(text string) string { return strings.ReplaceAll(text, "hunter2", "***") },
		Locate: func(at diag.Pos, path []string) diag.Pos { at.Line += len(path); return at }}
}

func gadget(t *testing.T, spec string) Object {
	t.Helper()
	var body map[string]any
	if err := yaml.Unmarshal([]byte("apiVersion: example.com/v1\nkind: Gadget\nmetadata: {name: one, namespace: shop}\nspec: "+spec), &body); err != nil {
		t.Fatal(err)
	}
	return Object{Object: object.Object{Body: body, Instance: "web", Pos: diag.Pos{File: "shop.yaml", Line: 10}}, Whole: true}
}

func said(findings diag.Findings) []string {
	var out []string
	for _, f := range findings {
		out = append(out, string(f.Severity)+" "+f.Code+" "+f.Pos.String()+" "+f.Path+": "+f.What)
	}
	return out
}

// TestCheck: what the server publishes is asked once, what was asked ahead is used, and each problem stands at its own line.
func TestCheck(t *testing.T) {
	for name, c := range map[string]struct {
		spec    string
		partial bool
		want    []string
	}{
		"good":             {"{size: 1}", false, nil},
		"lacks":            {"{colour: red}", false, []string{"error invalid-object shop.yaml:12 spec.size: is missing"}},
		"lacks, not whole": {"{colour: red}", true, nil},
		"two":              {"{size: x, shape: y}", false, []string{"error invalid-object shop.yaml:12 spec.shape: is not a field that Gadget has", "error invalid-object shop.yaml:12 spec.size: wants a whole number, and is a text"}},
		"a secret":         {"{size: 1, colour: hunter2}", false, []string{`error invalid-object shop.yaml:12 spec.colour: "***" is none of red, green`}},
	} {
		t.Run(name, func(t *testing.T) {
			srv := &server{}
			s := schemas(srv)
			u := gadget(t, c.spec)
			u.Whole = !c.partial
			end := s.Foresee(t.Context(), []schema.GroupVersion{gadgets})
			got := said(s.Check(t.Context(), []Object{u}, nil).Sorted())
			end()
			if !slices.Equal(got, c.want) {
				t.Errorf("%q, want %q", got, c.want)
			}
			if len(srv.asked) != 2 {
				t.Errorf("asked for %q", srv.asked)
			}
		})
	}
}

// TestUnreadable: documents that cannot be read leave the objects to the server, which is said, and secrets are hidden in it.
func TestUnreadable(t *testing.T) {
	for _, srv := range []*server{{index: errors.New("hunter2 is down")}, {doc: errors.New("hunter2 is down")}} {
		findings := schemas(srv).Check(t.Context(), []Object{gadget(t, "{}")}, nil)
		if len(findings) != 1 || findings[0].Code != "no-schemas" || findings[0].Severity != diag.Info || findings[0].Cluster != "eu" || !strings.HasSuffix(findings[0].Why, "*** is down") {
			t.Errorf("%v", findings)
		}
		var facts fleet.Facts
		if fs := schemas(srv).Pack(t.Context(), &facts, &fleet.Snapshot{}); len(fs) != 1 || fs[0].Code != "no-schemas" {
			t.Errorf("packed: %v", fs)
		}
	}
}

// TestDefinitions: a definition that comes along counts before what the server publishes, and a live one that knows more than the
// published document does excuses what it knows.
func TestDefinitions(t *testing.T) {
	definition := func(field string) map[string]any {
		var crd map[string]any
		if err := yaml.Unmarshal([]byte(`{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: gadgets.example.com}, spec: {group: example.com,
 names: {kind: Gadget, plural: gadgets}, versions: [{name: v1, served: true, schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {`+field+`: {type: integer}}}}}}}]}}`), &crd); err != nil {
			t.Fatal(err)
		}
		return crd
	}
	u := gadget(t, "{size: 1, weight: 2}")
	crd := object.Object{Body: definition("weight")}
	bodies := map[object.Ref]object.Object{crd.Ref(): crd}
	srv := &server{}
	if got := said(schemas(srv).Check(t.Context(), []Object{u}, bodies)); len(got) != 1 || !strings.Contains(got[0], "spec.size") || len(srv.asked) != 0 {
		t.Errorf("with its definition: %q, asked for %q", got, srv.asked)
	}
	srv.definition = definition("weight")
	if got := said(schemas(srv).Check(t.Context(), []Object{gadget(t, "{weight: 2}")}, nil)); len(got) != 0 {
		t.Errorf("the live definition knows it: %q", got)
	}
}

// TestSnapshot: what is packed is checked against without a server, and is kept once.
func TestSnapshot(t *testing.T) {
	var facts fleet.Facts
	var snap fleet.Snapshot
	kept := map[string][]byte{}
	s := schemas(&server{})
	s.Keep = func(ctx context.Context, hash string, fetch func(context.Context) ([]byte, error)) ([]byte, error) {
		data, err := fetch(ctx)
		kept[hash] = data
		return data, err
	}
	if fs := s.Pack(t.Context(), &facts, &snap); len(fs) != 0 || len(snap.Documents) != 1 || string(kept[hash()]) != published {
		t.Fatalf("%v, %d documents, %d kept", fs, len(snap.Documents), len(kept))
	}
	offline := schemas(nil)
	offline.Facts, offline.Unpack = facts.Schemas, snap.Unpack
	if got := said(offline.Check(t.Context(), []Object{gadget(t, "{}")}, nil)); len(got) != 1 || !strings.Contains(got[0], "is missing") {
		t.Errorf("%q", got)
	}
}

// TestUncertain: what is wrong only where an object is new is a warning.
func TestUncertain(t *testing.T) {
	wrong := diag.Findings{diag.Errorf(answer.CodeInvalidObject, "not a field")}
	whole := diag.Findings{wrong[0], diag.Errorf(answer.CodeInvalidObject, "lacks size"), {Severity: diag.Info, Code: "no-schemas"}}
	got := Uncertain(wrong, whole)
	if len(got) != 2 || got[0].Severity != diag.Error || got[1].Severity != diag.Warning || got[1].What != "lacks size" || whole[1].Severity != diag.Error {
		t.Errorf("%v", got)
	}
}

// TestOneServerLies: a server whose documents are not those that its index claims decides nothing of another cluster's objects, whichever is asked
// first, nor in a snapshot, nor with what was kept; its own are checked by what it says.
func TestOneServerLies(t *testing.T) {
	const missing, unknown = "spec.size: is missing", "spec.size: is not a field"
	lie := strings.NewReplacer(`"required":["size"],`, "", `"size":{"type":"integer"},`, "").Replace(published)
	for _, order := range [][]string{{"liar", "eu"}, {"eu", "liar"}, {"liar", "eu", "liar", "eu"}} {
		var library openapi.Library
		kept := cache.Open(cache.Options{Dir: t.TempDir()})
		var snap fleet.Snapshot
		facts := map[string]*fleet.Facts{"liar": {}, "eu": {}}
		of := func(name string, online bool) *Schemas {
			s := schemas(&server{})
			if name == "liar" {
				s.Server = &server{lie: lie}
			}
			s.Cluster, s.Library, s.Keep = name, &library, kept.Document
			if !online {
				s.Server, s.Facts, s.Unpack, s.Library = nil, facts[name].Schemas, snap.Unpack, &openapi.Library{}
			}
			return s
		}
		right := func(s *Schemas) {
			t.Helper()
			lacks, has := said(s.Check(t.Context(), []Object{gadget(t, "{}")}, nil)), said(s.Check(t.Context(), []Object{gadget(t, "{size: 1}")}, nil))
			if len(lacks) != 1 || !strings.Contains(lacks[0], missing) || len(has) != 0 {
				t.Errorf("%v: of %s: %q, %q", order, s.Cluster, lacks, has)
			}
		}
		for _, name := range order {
			if s := of(name, true); name == "eu" {
				right(s)
			} else if got := said(s.Check(t.Context(), []Object{gadget(t, "{size: 1}")}, nil)); order[0] == "liar" && (len(got) != 1 || !strings.Contains(got[0], unknown)) && len(order) == 2 {
				t.Errorf("%v: the liar's own: %q", order, got)
			}
		}
		for _, name := range order {
			s := of(name, true)
			s.Keep = nil
			if fs := s.Pack(t.Context(), facts[name], &snap); len(fs) != 0 {
				t.Errorf("%v: %v", order, fs)
			}
		}
		right(of("eu", false))
		if got := said(of("liar", false).Check(t.Context(), []Object{gadget(t, "{size: 1}")}, nil)); order[0] == "liar" && len(order) == 2 && (len(got) != 1 || !strings.Contains(got[0], unknown)) {
			t.Errorf("%v: the liar's own, from the snapshot: %q", order, got)
		}
	}
}

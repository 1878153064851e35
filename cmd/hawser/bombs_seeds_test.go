//go:build unix

package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"hawser.dev/hawser/internal/testseed"
)

// grower makes texts of less than 1 MiB that stand for much more, of a seed.
type grower struct {
	*rand.Rand
	left int // bytes
}

// n is a number up to most, as often of each magnitude.
func (g *grower) n(most int) int {
	out := 1
	for range g.IntN(len(strconv.Itoa(most)) + 1) {
		out *= 2 + g.IntN(9)
	}
	return min(out, most)
}

// repeat is a text n times, as far as there is room.
func (g *grower) repeat(text string, n int) string {
	n = max(1, min(n, g.left/max(1, len(text))))
	g.left -= n * len(text)
	return strings.Repeat(text, n)
}

func pick[T any](g *grower, of ...T) T { return of[g.IntN(len(of))] }

// flow is a value in JSON, which is YAML too: nested, repeated, long; with aliases of the first so many anchors where there are any.
func (g *grower) flow(anchors, deep int) string {
	inner := func() string {
		if deep == 0 || g.left < 100 {
			return pick(g, "1", `"x"`, "null", "1e999999999", `""`, "0x7fffffffffffffff")
		}
		return g.flow(anchors, deep-1)
	}
	switch g.IntN(8) {
	case 0:
		open := pick(g, "[", `{"a": `, `[{"a": [`)
		head, close := g.repeat(open, g.n(300_000)), strings.NewReplacer("[", "]", "{", "}", `"a": `, "").Replace(open)
		if len(open) > 6 {
			close = "]}]"
		}
		if n := strings.Count(head, open); g.left > n*len(close) && g.IntN(4) > 0 {
			return head + inner() + g.repeat(close, n)
		}
		return head
	case 1:
		item := inner()
		if g.left -= len(item); g.left < len(item) {
			return "[" + item + "]"
		}
		return "[" + g.repeat(item+",", g.n(300_000)) + item + "]"
	case 2:
		return `"` + g.repeat(pick(g, "x", `\u0041`, "é", "{{", "%24", `\\`, "$(x)", "a "), g.n(900_000)) + `"`
	case 3:
		var b strings.Builder
		b.WriteString("{")
		for i := range g.n(30_000) {
			if g.left -= 20; g.left < 0 {
				break
			}
			fmt.Fprintf(&b, `"k%d": %d, `, i, i)
		}
		return b.String() + `"k": ` + inner() + "}"
	case 4:
		return pick(g, "", "-") + g.repeat("9", g.n(100_000))
	}
	if anchors == 0 {
		return "[" + inner() + "," + inner() + "]"
	}
	alias := fmt.Sprintf("*a%d", g.IntN(anchors))
	if g.IntN(5) == 0 {
		return `{"<<": [` + g.repeat(alias+",", g.n(1000)) + alias + `], "k": ` + inner() + "}"
	}
	return "[" + g.repeat(alias+",", pick(g, 10, 10, g.n(100_000))) + alias + "]"
}

// yaml are entries of a map, each of which may name those before it.
func (g *grower) yaml(indent string) string {
	var b strings.Builder
	for i := range 1 + g.IntN(14) {
		fmt.Fprintf(&b, "%sg%d: &a%d %s\n", indent, i, i, g.flow(i, g.IntN(3)))
	}
	return b.String()
}

// cue are fields of which each may name those before it.
func (g *grower) cue() string {
	var b strings.Builder
	b.WriteString("import (\"strings\", \"list\", \"encoding/json\", \"math/bits\", \"strconv\", \"regexp\", \"text/template\", \"text/tabwriter\")\n_used: [strings.ToUpper(\"a\"), list.Sum([1]), json.Marshal(1), bits.Lsh(1, 1), strconv.Quote(\"a\"), regexp.FindAll(\"a\", \"a\", 1), template.HTMLEscape(\"a\"), tabwriter.Write(\"a\")]\ng0: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]\n")
	last := 0
	for i := range 1 + g.IntN(12) {
		of, n := fmt.Sprintf("g%d", g.IntN(i+1)), g.n(1_000_000_000)
		var x string
		switch g.IntN(19) {
		case 0:
			x = fmt.Sprintf("[for i in list.Range(0, %d, 1) {%s}]", n, pick(g, "i", of, "a: i"))
		case 1:
			x = fmt.Sprintf(`strings.Repeat("0123456789", %d)`, n)
		case 2, 3:
			x = "[" + g.repeat(of+", ", pick(g, 10, g.n(50_000))) + of + "]"
		case 4:
			x = fmt.Sprintf(`{for i, v in %s {"k\(i)": v}}`, of)
		case 5:
			x = "{" + g.repeat("a: ", g.n(300_000)) + "1}"
		case 6:
			x = g.repeat("(", g.n(100_000)) + "1"
			x += g.repeat(")", strings.Count(x, "("))
		case 7:
			x = g.repeat(pick(g, "1+", "1|", "1&", "!!", "-"), g.n(400_000)) + "1"
		case 8:
			x = fmt.Sprintf(`"\(%s)\(%s)"`, of, of)
		case 9:
			x = fmt.Sprintf("list.Repeat(%s, %d)", of, n)
		case 10:
			x = fmt.Sprintf("json.Marshal(%s)", of)
		case 11:
			x = fmt.Sprintf("[for a in %s for b in %s for c in %s {%s}]", of, of, of, pick(g, "a", "[a, b, c]"))
		case 12:
			x = fmt.Sprintf("bits.Lsh(%s, %d)", pick(g, "1", of), n)
		case 13:
			x = fmt.Sprintf("strconv.FormatFloat(1.5, 102, %d, 64)", n)
		case 14:
			x = fmt.Sprintf("list.Repeat([for i in list.Range(0, %d, 1) {i}], %d)", g.n(100_000), n)
		case 15:
			x = fmt.Sprintf(pick(g, `strings.Split(%s, "")`, `strings.Join([for v in %s {"\(v)"}], "0123456789")`, "tabwriter.Write(%s)", "strings.Replace(%[1]s, \"0\", %[1]s, -1)"), of)
		case 16:
			x = fmt.Sprintf("regexp.ReplaceAll(%q, %s, %s)", pick(g, "", "0", ".*"), of, of)
		case 17:
			x = fmt.Sprintf(`template.Execute("{{range .}}{{range $}}{{printf \"%%%dd\" 1}}{{end}}{{end}}", %s)`, g.n(1_000_000), of)
		default:
			x = g.flow(0, g.IntN(3))
		}
		last = i + 1
		fmt.Fprintf(&b, "g%d: %s\n", last, x)
	}
	return b.String() + fmt.Sprintf("x: g%d", last) + inCUE
}

// template are statements of which each makes more of what the one before it made.
func (g *grower) template() string {
	var b strings.Builder
	b.WriteString(`{{ define "r" }}{{ . }}{{ . }}{{ end }}{{ $v := "0123456789" }}{{ $l := list 1 2 3 }}{{ $d := dict }}`)
	for range 1 + g.IntN(10) {
		open := 0
		for range g.IntN(3) {
			fmt.Fprintf(&b, "{{ range %s }}", pick(g, fmt.Sprintf("until %d", g.n(1_000_000)), "$l", fmt.Sprintf("(splitList %q $v)", pick(g, "", "0"))))
			open++
		}
		switch g.IntN(13) {
		case 0:
			b.WriteString("{{ $v = print $v $v }}")
		case 1:
			fmt.Fprintf(&b, "{{ $v = repeat %d $v }}", g.n(100_000_000))
		case 2:
			b.WriteString("{{ $l = concat $l $l }}")
		case 3:
			b.WriteString("{{ $l = append $l $v }}")
		case 4:
			b.WriteString("{{ $_ := set $d (print . (len $l)) $v }}")
		case 5:
			b.WriteString(pick(g, "{{ $v = toYaml $d }}", "{{ $v = toJson $l }}", "{{ $v = b64enc $v }}", "{{ $v = quote $v }}", "{{ $v = tpl $v . }}"))
		case 6:
			fmt.Fprintf(&b, "{{ $v = indent %d $v }}", g.n(1_000_000))
		case 7:
			fmt.Fprintf(&b, "{{ $v = replace %q $v $v }}", pick(g, "0", "", "0123"))
		case 8:
			fmt.Fprintf(&b, "{{ $v = regexReplaceAll %q $v $v }}", pick(g, "", ".", "(0|1)*", ".*"))
		case 9:
			b.WriteString(`{{ $v = include "r" $v }}`)
		case 10:
			b.WriteString(pick(g, "{{ $v }}", "{{ $l }}", "{{ $v }}{{ $v }}", `{{ $v = join $v $l }}`, `{{ $v = printf "%s%s%s" $v $v $v }}`, `{{ $v = printf "%1000000d" 1 }}`))
		case 11:
			b.WriteString(g.repeat("{{ if 1 }}", g.n(50_000)) + "x")
		default:
			b.WriteString("{{ $l = until " + strconv.Itoa(g.n(1_000_000_000)) + " }}")
		}
		b.WriteString(strings.Repeat("{{ end }}", open))
	}
	return b.String()
}

// plan is a plan file with something grown in one place of it.
func (g *grower) plan() bomb {
	switch g.IntN(4) {
	case 0:
		return bombPlan(`{"files": `+g.flow(0, 2)+"}", "[]")
	case 1:
		return bombPlan("{}", g.flow(0, 3))
	case 2:
		return bombField(g.flow(0, 3), "1")
	}
	g.left /= 3 // quotes are quoted
	return bombField(g.flow(0, 2), g.flow(0, 2))
}

// seedBombs are the kinds of files that somebody else may have written, each grown from a seed.
var seedBombs = []struct {
	kind string
	grow func(g *grower) bomb
}{
	{"hawser.yaml", func(g *grower) bomb { return bombOf("hawser.yaml", g.yaml(""), bombBuild) }},
	{"bundle", func(g *grower) bomb { return bombOf("b.yaml", bombBundle+g.yaml(pick(g, "", "    ")), bombBuild) }},
	{"CUE", func(g *grower) bomb {
		return bombOf("b.cue", g.cue(), pick(g, "build -f b.cue", "vet -f b.cue", "fmt b.cue"))
	}},
	{"manifest", func(g *grower) bomb { return bombOf("m/h.yaml", bombObject+"data:\n"+g.yaml("  "), bombBuild) }},
	{"fleet", func(g *grower) bomb { return bombOf("f.yaml", bombFleet+g.yaml("  "), bombBuild+" --fleet f.yaml") }},
	{"values", func(g *grower) bomb {
		return bombIn(map[string]string{"b.yaml": strings.Replace(bombChart, "}}", "}, values: {from: {file: v.yaml}}}", 1), "v.yaml": g.yaml(""),
			"chart/templates/a.yaml": bombObject + "data: {{ .Values | toJson }}\n"}, bombBuild)
	}},
	{"chart's values", func(g *grower) bomb {
		return bombIn(map[string]string{"b.yaml": bombChart, "chart/values.yaml": g.yaml(""), "chart/templates/a.yaml": "{{ toYaml .Values }}"}, bombBuild)
	}},
	{"template", func(g *grower) bomb { return bombTemplate(g.template()) }},
	{"kubeconfig", func(g *grower) bomb { return bombOf("kc", "apiVersion: v1\nkind: Config\n"+g.yaml(""), bombKubeconfig) }},
	{"kustomization", func(g *grower) bomb {
		field := pick(g, "configMapGenerator: [{name: a, literals: %s}]\n", "patches: [{patch: %s}]\n", "labels: [{pairs: %s}]\n", "images: %s\n", "resources: %s\n", "replacements: %s\n")
		return bombKustomization(map[string]string{"k/a.yaml": bombObject, "k/kustomization.yaml": g.yaml("") + fmt.Sprintf(field, g.flow(1, 2))})
	}},
	{"resource of a kustomization", func(g *grower) bomb {
		return bombKustomization(map[string]string{"k/kustomization.yaml": "resources: [a.yaml]\nnamePrefix: x-\n", "k/a.yaml": bombObject + "data:\n" + g.yaml("  ")})
	}},
	{"plan file", func(g *grower) bomb {
		return g.plan()
	}},
	{"facts", func(g *grower) bomb {
		return bombOf("facts.json", `{"v": 1, "fleet": "f", "clusters": `+pick(g, g.flow(0, 2), `[{"name": "a", "labels": `+g.flow(0, 2)+"}]")+"}", "vet -f b.yaml --facts facts.json")
	}},
	{"definitions", func(g *grower) bomb {
		return bombVendored("apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: as.x.example}\nspec:\n  group: x.example\n  names: {kind: A, plural: as}\n  scope: Namespaced\n  versions:\n  - name: v1\n    served: true\n    storage: true\n    schema:\n      openAPIV3Schema:\n        type: object\n        properties:\n" + g.yaml("          "))
	}},
	{"CUE in files", func(g *grower) bomb {
		return bombIn(map[string]string{"a.cue": "package x\n_t: \"0123456789\"*" + strconv.Itoa(g.n(1_000_000)) + "\n_n: " + strconv.Itoa(g.n(1_000_000)) + "\n",
			"b.cue": "package x\nx: " + pick(g, "_t*_n", "\"\\(_t)\\(_t*_n)\"", "(_t*100)*_n", "[for i in [1,2,3] {_t*_n}]") + inCUE}, pick(g, "build", "vet")+" -f a.cue -f b.cue")
	}},
	{"lock", func(g *grower) bomb {
		return bombOf("hawser.lock", `{"v": 2, "`+pick(g, "sources", "bundles", "clusters", "lineages", "promoted", "places")+`": `+g.flow(0, 3)+"}", bombBuild)
	}},
	{"secret", func(g *grower) bomb { return bombStored("e.yaml", g.yaml("")+"x: *a0\n") }},
}

// TestGrownBombs: no input of less than 1 MiB makes the process take 1 GiB, crash, or go on for ever, however what makes texts grow
// is combined: aliases, nesting, repetition, long texts, ranges, loops, in every kind of file. HAWSER_TEST_SEED=N begins elsewhere;
// HAWSER_TEST_SEEDS=N tries so many, however long that takes.
func TestGrownBombs(t *testing.T) {
	t.Parallel()
	const most, enough = 90, 20 * time.Second
	from := testseed.From(t)
	count, err := strconv.Atoi(os.Getenv("HAWSER_TEST_SEEDS"))
	given := err == nil
	if !given {
		count = most
	}
	began := time.Now()
	tried := 0
	for ; tried < count && (given || tried < len(seedBombs) || time.Since(began) < enough); tried++ {
		seed := from + uint64(tried)
		kind := seedBombs[seed%uint64(len(seedBombs))]
		c := kind.grow(&grower{rand.New(rand.NewPCG(seed, 1)), 900_000})
		t.Run(fmt.Sprintf("%d %s", seed, kind.kind), func(t *testing.T) {
			c.explode(t, fmt.Sprintf("HAWSER_TEST_SEED=%d HAWSER_TEST_SEEDS=1: ", seed))
		})
	}
	t.Logf("seeds %d to %d in %s", from, from+uint64(tried)-1, time.Since(began).Round(time.Millisecond))
}

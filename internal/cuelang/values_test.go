package cuelang

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// TestValues: no text has more values than are counted, and ordinary ones have about as many.
func TestValues(t *testing.T) {
	nodes := func(text string) int {
		n, err := yamlNodes(text)
		if err != nil {
			t.Fatalf("%.40q: %v", text, err)
		}
		return n
	}
	many := func(head, again, tail string) string { return head + strings.Repeat(again, 1000) + tail }
	for name, text := range map[string]string{
		"flow": many("[1", ",1", "]"), "maps": many("[{}", ",{}", "]"), "nested": "[" + many("", "[{a: [1]}],", "1]"), "nulls": many("{? ", ",? ", "}"), "colons": many("[{a:}", ",{a:}", "]"),
		"pairs": many("[a: 1", ",a: 1", "]"), "block": many("", "-\n", ""), "dashes": many("", "- - - -\n", ""), "anchors": "a: &a 1\nb:\n" + many("", "- *a\n", ""),
		"JSON": many("[", `{"a":1,"b":[2,"c"]},`, "1]"), "quoted": many("[", `{'a':1},`, "1]"), "tags": many("", "- !!str\n", ""), "returns": many("", "-\r\n", ""),
		"next lines": many("", "-\u0085", ""), "line separators": many("", "-\u2028", ""), "paragraphs": many("", "-\u2029", ""), "explicit keys": many("{?\u0085", ",?\u2028", "}"),
		"keys": "a:\u0085" + many("", " -\u2029 - b:\u0085", ""), "lone returns": many("", "-\r", ""),
		"usual": many("", "- version: 1.0.0\n  description: a chart, that is usual\n  urls:\n  - https://charts.example.com/app-1.0.0.tgz\n", ""),
	} {
		is, counted := nodes(text), valuesOf([]byte(text))
		if counted+2 < is || counted > 3*is { // the document and its outermost value are not counted
			t.Errorf("%s: %d values, %d are counted", name, is, counted)
		}
	}
	for text, is := range map[string]int{`1`: 1, `[]`: 2, `[1,2]`: 3, `{"a":1,"b":[2,"c"]}`: 7, `{"a":{"b":"x,y:[{\\\",[,:"}}`: 5, " [ 1 , {\"a\" : null} ] ": 5} {
		if counted := jsonValues([]byte(text)); counted != is {
			t.Errorf("%s: %d values, %d are counted", text, is, counted)
		}
		if n := nodes(text) - 1; !strings.Contains(text, "[]") && n != is {
			t.Errorf("%s has %d values in YAML", text, n)
		}
	}
	if err := CheckValues([]byte(many("[", `{"version":"1.0.0","created":"2024-01-01T00:00:00Z"},`, "1]")), 5_002); err != nil {
		t.Errorf("compact JSON: %v", err)
	}
	if err := CheckValues([]byte(many("[", `{"version":"1.0.0","created":"2024-01-01T00:00:00Z"},`, "1]")), 5_001); err == nil {
		t.Error("compact JSON with more values than are read is")
	}
	if err := CheckValues([]byte(strings.Repeat("- 1\n", 101)), 100); err == nil {
		t.Error("more values than are read are")
	}
	if err := CheckValues([]byte(strings.Repeat("- version: 1.0.0\n  created: \"2024-01-01T00:00:00Z\"\n  description: a chart that is usual\n  digest: "+strings.Repeat("a", 64)+"\n  name: app\n", 40<<20/180)), 3_000_000); err != nil {
		t.Errorf("40 MiB of an ordinary index: %v", err)
	}
}

// yamlNodes counts the nodes of a YAML text, its document's included.
func yamlNodes(text string) (int, error) {
	var doc yaml.Node
	if err := yaml.Unmarshal([]byte(text), &doc); err != nil {
		return 0, err
	}
	var count func(n *yaml.Node) int
	count = func(n *yaml.Node) int {
		sum := 1
		for _, c := range n.Content {
			sum += count(c)
		}
		return sum
	}
	return count(&doc), nil
}

// FuzzValues: no text in UTF-8 has more than twice the values that are counted (`- {a}` has three, for two), and no JSON more than that.
func FuzzValues(f *testing.F) {
	for _, text := range []string{"[1,{a: 1, b},? c]", "a:\n- b: 1\n-\tc\n", `{"a":[1,{"b":null}],'c':2}`, "? [x]\n: - &a !!str\n  - *a\n", "- - -\u2028- a:\u0085", "{? a : b, \"c\":d}", "- |\n  a: b\n- >-\n  c"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 4096 || !utf8.ValidString(text) || strings.HasPrefix(text, "\ufeff") {
			return
		}
		is, err := yamlNodes(text)
		if err != nil {
			return
		}
		if counted := valuesOf([]byte(text)); 2*counted+3 < is {
			t.Errorf("%q: %d values, %d are counted", text, is, counted)
		}
		if json.Valid([]byte(text)) && jsonValues([]byte(text))+1 < is {
			t.Errorf("%q: %d values, %d are counted as JSON", text, is, jsonValues([]byte(text)))
		}
	})
}

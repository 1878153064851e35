package cuelang

import (
	"strings"
	"testing"
)

// TestEntries: lists and structs that CUE would look through for minutes are refused before, in every syntax.
func TestEntries(t *testing.T) {
	list := func(n int) string { return "a: {b: [" + strings.TrimSuffix(strings.Repeat("1,", n), ",") + "]}" }
	keys := func(n int) string {
		var b strings.Builder
		for i := range n {
			b.WriteString("k")
			b.WriteString(strings.Repeat("x", i%3))
			b.WriteString(string(rune('a' + i%26)))
			for j := i; j > 0; j /= 26 {
				b.WriteByte(byte('a' + j%26))
			}
			b.WriteString("Z: 1\n")
		}
		return b.String()
	}
	for name, many := range map[string]bool{list(100_000): false, list(100_002): true} {
		_, yaml := FromYAML("a.yaml", []byte(name))
		_, json := FromJSON("a.json", []byte(strings.NewReplacer("a:", `{"a":`, "b:", `"b":`).Replace(name)+"}"))
		if cue := CheckSource("a.cue", []byte(name), Limits{}).HasErrors(); (yaml != nil) != many || (json != nil) != many || cue != many {
			t.Errorf("%d bytes: YAML %v, JSON %v, CUE %v", len(name), yaml, json, cue)
		}
	}
	if _, err := FromYAML("a.yaml", []byte(keys(20_000))); err != nil {
		t.Error(err)
	}
	if _, err := FromYAML("a.yaml", []byte(keys(20_001))); err == nil || !strings.Contains(err.Error(), "20001 fields in one struct") {
		t.Error(err)
	}
	if fs := CheckSource("a.cue", []byte(keys(100_002)), Limits{}); len(fs) != 1 || !strings.Contains(fs[0].What, "too many entries") {
		t.Error(fs)
	}
	if fs := CheckSource("a.cue", []byte(keys(50_000)+"x: {"+keys(60_000)+"}\n"+strings.Repeat("y: {a: 1}\n", 9000)), Limits{}); fs != nil {
		t.Error(fs)
	}
}

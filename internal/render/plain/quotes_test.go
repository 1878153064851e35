package plain

import (
	"strings"
	"testing"
)

// TestYAMLErrorsQuoteNoValue: an alias, an anchor or a tag may be a password that nobody put in quotes.
func TestYAMLErrorsQuoteNoValue(t *testing.T) {
	for _, value := range []string{"*c4nary", "!!int c4nary", "!c4nary x", "&c4nary [*c4nary]", "!!float c4nary", "\"\\c4nary\"", "@c4nary", "!!bool c4nary"} {
		dir := unpack(t, map[string]string{"in/a.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata:\n  pw: " + value + "\n"})
		_, err := New(Options{}).Render(t.Context(), request(dir, "a.yaml"))
		if err == nil {
			t.Errorf("%s: no error", value)
		} else if strings.Contains(err.Error(), "c4nary") || !strings.Contains(err.Error(), "a.yaml:") || strings.Contains(err.Error(), "no such file") {
			t.Errorf("%s: %s", value, err)
		}
	}
	// A key is told where the file can be read and the key stands twice, as that is how it is found; its values are not, nor is it where nothing can be read.
	for text, said := range map[string]string{"c4nary: c4nary-1\n  c4nary: c4nary-2": `key "c4nary" is given twice`, "c4nary\n  c4nary: x": "", "pw: c4nary: x": "", "? [c4nary]\n  : x": "", "*c4nary : x": ""} {
		dir := unpack(t, map[string]string{"in/a.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata:\n  " + text + "\n"})
		_, err := New(Options{}).Render(t.Context(), request(dir, "a.yaml"))
		if err == nil {
			t.Errorf("%s: no error", text)
		} else if rest := strings.ReplaceAll(err.Error(), said, ""); strings.Contains(rest, "c4nary") || !strings.Contains(err.Error(), said) || strings.Contains(rest, "no such file") {
			t.Errorf("%s: %s", text, err)
		}
	}
}

package plain

import (
	"strings"
	"testing"
)

// TestYAMLErrorsQuoteNoValue: an alias, an anchor or a tag may be a password that nobody put in quotes.
func TestYAMLErrorsQuoteNoValue(t *testing.T) {
	for _, value := range []string{"*c4nary", "!!int c4nary", "!c4nary x", "&c4nary [*c4nary]", "!!float c4nary", "\"\\c4nary\"", "@c4nary", "!!bool c4nary"} {
		dir := unpack(t, map[string]string{"a.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata:\n  pw: " + value + "\n"})
		_, err := New(Options{}).Render(t.Context(), request(dir, "a.yaml"))
		if err == nil {
			t.Errorf("%s: no error", value)
		} else if strings.Contains(err.Error(), "c4nary") || !strings.Contains(err.Error(), "a.yaml:") {
			t.Errorf("%s: %s", value, err)
		}
	}
}

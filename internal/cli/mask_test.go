package cli

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"hawser.dev/hawser/internal/report"
	"hawser.dev/hawser/internal/secret"
)

// Whatever is printed, secret values are masked, and documents stay documents.
func TestMaskedWriter(t *testing.T) {
	redactor := secret.New("hunter2-long", "42424242", "line \"one\"\nline two\n", "12")
	var b bytes.Buffer
	w := &maskedWriter{&b, redactor.Sweep}
	write := func(text string) string {
		b.Reset()
		if n, err := w.Write([]byte(text)); err != nil || n != len(text) {
			t.Fatal(n, err)
		}
		return b.String()
	}
	for text, want := range map[string]string{
		"12 objects, hunter2-long seen":     "12 objects, *** seen",
		"nothing 12\n":                      "nothing 12\n",
		`{"a":"hunter2-long","n":42424242}`: `{"a":"***","n":42424242}`,
	} {
		if got := write(text); got != want {
			t.Errorf("%q became %q, want %q", text, got, want)
		}
	}
	doc := map[string]any{"v": 1, "text": "hunter2-long", "also": "<line \"one\"\nline two\n>", "n": 42424242, "hunter2-long": "key"}
	for name, encode := range map[string]func() error{
		"json": func() error { b.Reset(); return report.JSON(w, doc) }, "yaml": func() error { b.Reset(); return report.YAML(w, doc) },
	} {
		if err := encode(); err != nil {
			t.Fatal(err)
		}
		var got map[string]any
		if err := yaml.Unmarshal(b.Bytes(), &got); err != nil {
			t.Fatalf("%s is no document any more: %v\n%s", name, err, &b)
		}
		if got["text"] != secret.Mask || got["n"] != float64(42424242) || got["also"] != "<***>" || got["***"] != "key" || len(got) != 5 {
			t.Errorf("%s: %v", name, got)
		}
		if strings.Contains(b.String(), "hunter2") {
			t.Errorf("%s shows the value: %s", name, &b)
		}
	}
}

// The terminal is asked about below the mask, and what must be printed as it is goes there.
func TestMaskedApp(t *testing.T) {
	out, talk := new(bytes.Buffer), new(bytes.Buffer)
	a := &App{Out: out, Err: talk, Mask: secret.New("hunter2").Sweep, IsTerminal: func(stream any) bool { return stream == out }}
	m := a.masked()
	if !m.IsTerminal(m.Out) || m.IsTerminal(m.Err) || unmasked(m.Out) != out || unmasked(talk) != talk {
		t.Error("the streams below are not reached")
	}
	if (&App{}).masked().Mask != nil {
		t.Error("a mask from nowhere")
	}
}

// Masking the strings of JSON gives JSON.
func FuzzMaskStrings(f *testing.F) {
	f.Add([]byte(`{"a\"b":["x\\",1,{"c":"ab"}]}`), "ab")
	f.Fuzz(func(t *testing.T, data []byte, value string) {
		if !json.Valid(data) {
			return
		}
		if out := maskStrings(data, secret.New(value).Redact); !json.Valid(out) {
			t.Errorf("%q became %q", data, out)
		}
	})
}

// Texts of others give no orders to CI systems and turn no lines around; documents for machines stay what they are.
func TestMaskedWriterIsInert(t *testing.T) {
	for in, want := range map[string]string{
		"  ::error::gone\n":        "  : :error::gone\n",
		"name\u202eexe\n":          "name\\u202eexe\n",
		"{\"a\":\"::error::x\"}\n": "{\"a\":\"::error::x\"}\n",
	} {
		var out strings.Builder
		w := &maskedWriter{&out, func(s string) string { return s }}
		if n, err := w.Write([]byte(in)); err != nil || n != len(in) || out.String() != want {
			t.Errorf("%q: %q (%d, %v), want %q", in, out.String(), n, err, want)
		}
	}
}

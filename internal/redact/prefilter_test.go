package redact

import (
	"encoding/base64"
	"encoding/json"
	"strings"
	"testing"
)

// TestPrefilter: whatever form of a credential a document has, at whatever place, the prefilter says so, also where it is spelled by escapes; of ordinary
// documents it says nothing.
func TestPrefilter(t *testing.T) {
	if New().Prefilter().May([]byte(`"x"`)) {
		t.Error("something is found where nothing is known")
	}
	for _, sent := range []string{"x9f8kq7z", "abcdef.0123456789abcdef", strings.Repeat("x9F8kq7zQw", 80) + "-_Z", `k9$"x[Qz!m2 4<&>`, "pä55wörd-9f8xkq", "47114711"} {
		r := New()
		r.AddSent("0ther-9z8y7x6w5v")
		r.AddSent(sent)
		p := r.Prefilter()
		quoted, _ := json.Marshal(sent)
		twice, _ := json.Marshal(string(quoted))
		for _, form := range []string{sent, string(quoted), string(twice), strings.ToUpper(sent), base64.StdEncoding.EncodeToString([]byte(sent)), base64.RawURLEncoding.EncodeToString([]byte("ab" + sent))} {
			for n := range 70 {
				text := strings.Repeat("y", n) + " " + form + strings.Repeat(" z", n%5)
				if !p.May([]byte(text)) && r.Holds(text) {
					t.Fatalf("%s is not found in %s", sent, text)
				}
			}
		}
		if ordinary := `{"metadata":{"name":"web-1","uid":"3e0ef0f5-6a35-4d9e-8fd5-5d2f9c7f1a11","note":"a \"line\"\n\u003cwith\u003e \u0026 \\u00fc"}}`; p.May([]byte(ordinary)) && !strings.Contains(sent, "<") && !strings.Contains(sent, "ä") {
			t.Errorf("%s is found in %s", sent, ordinary)
		}
		for _, spelled := range []string{`"\u0041"`, `"\u006b8s"`, `"a\/b"`, `"\u003C"`} {
			if !p.May([]byte(spelled)) {
				t.Errorf("what is spelled so may be nothing: %s", spelled)
			}
		}
	}
}

// What is not ASCII may be spelled in many ways: capitals, halves, surrogates.
func TestPrefilterOfWideCharacters(t *testing.T) {
	r := New()
	r.AddSent("pä55wörd🔑9f8xkq")
	for _, spelled := range []string{`"p\u00E455w\u00F6rd\ud83d\udd119f8xkq"`, `"pä55w\u00f6rd🔑9f8xkq"`, `"pä55wörd\uD83D\uDD119f8xkq"`} {
		var text string
		if err := json.Unmarshal([]byte(spelled), &text); err != nil || !r.Holds(text) {
			t.Fatal(err, text)
		}
		if !r.Prefilter().May([]byte(spelled)) {
			t.Errorf("%s is not found", spelled)
		}
	}
}

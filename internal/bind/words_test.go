package bind

import (
	"strings"
	"testing"

	"hawser.dev/hawser/api/v1alpha1"
	"hawser.dev/hawser/internal/diag"
)

// A struct that is called as what gives a value, and is none, is an error where the package's own value is no struct; where it has none, what cannot
// be anything else is a warning; what charts really have in fields of these names is nothing.
func TestWords(t *testing.T) {
	const (
		scalar = `{db: "x", net: 1}`
		none   = `{}`
		null   = `{db: null}`
		empty  = `{db: {}, net: {}}`
	)
	for _, c := range []struct{ text, own, want, fix string }{
		{`db: {generate: 24}`, scalar, "error value-generate", "{generate: {length: 24}}"},
		{`db: {generate: 32}`, scalar, "error value-generate", "{generate: {length: 32}}"},
		{`db: {generate: -1}`, scalar, "error value-generate", "{generate: {length: 24}}"},
		{`db: {generate: {}}`, scalar, "error value-generate", "{generate: {length: 24}}"},
		{`db: {generate: true}`, scalar, "", ""},
		{`db: {from: [{podSelector: {}}]}`, `{db: []}`, "", ""},
		{`db: {generate: {lenght: 24}}`, scalar, "error value-generate", "{generate: {length: 24}}"},
		{`db: [{generate: 24}]`, `{db: [x]}`, "error value-generate", "length"},
		{`db: {from: {secret: db}}`, scalar, "error value-from", "ref://"},
		{`db: {from: {podSelector: {}}}`, scalar, "error value-from", "{from: {file: PATH}}"},
		{`db: {ref: HUNTER2}`, scalar, "error value-mistaken", "write ref://NAME with"},
		{`db: {ref: db.yaml/hunter2}`, scalar, "error value-mistaken", "write ref://[STORE:]NAME"},
		{`db: {ref: main}`, scalar, "", ""},
		{`db: {ref: "ref://X"}`, scalar, "error value-mistaken", "by itself"},
		{`db: {$ref: HUNTER2}`, scalar, "", ""},
		{`db: {$env: HUNTER2}`, scalar, "", ""},
		{`db: {generate: 24}`, none, "warning value-mistaken", "length"},
		{`db: {generate: 24}`, null, "warning value-mistaken", "length"},
		{`db: {generate: {}}`, none, "warning value-mistaken", "length"},
		{`db: {generate: {len: 24}}`, none, "warning value-mistaken", "length"},
		{`db: {generate: {lenght: 24, charset: h}}`, empty, "warning value-mistaken", "length"},
		{`db: {ref: API_TOKEN}`, none, "warning value-mistaken", "ref://NAME"},
		{`db: {$env: API_TOKEN}`, none, "warning value-mistaken", "ref://NAME"},
		{`db: {from: {secret: db}}`, none, "warning value-mistaken", "ref://"},
		{`db: {from: {secret: db}}`, empty, "warning value-mistaken", "ref://"},
		{`db: {from: {secretRef: {name: db}}}`, none, "warning value-mistaken", "ref://"},
		{`db: {from: {secret: db, path: data.p}}`, none, "warning value-mistaken", "ref://"},
		{`db: {from: {configMap: db, key: host}}`, none, "warning value-mistaken", "an object of another instance"},
		{`db: {from: {object: v1/Secret/db, path: data.p}}`, none, "warning value-mistaken", "an object of another instance"},
		{`net: {from: {podSelector: {}}}`, none, "", ""},
		{`db: {from: Same}`, none, "", ""},
		{`db: {from: SAME}`, none, "", ""},
		{`db: {from: {secret: db}, to: x}`, scalar, "", ""},
		{`db: {generate: {enabled: true}}`, none, "", ""},
		{`db: {generate: true}`, none, "", ""},
		{`db: {generate: 24}`, empty, "", ""},
		{`db: {generate: {lenght: 24}}`, `{db: {generate: {}}}`, "", ""},
		{`db: {from: {secret: db}}`, `{db: {from: {}}}`, "", ""},
		{`db: {generate: {length: 24}}`, scalar, "", ""},
		{`db: {from: {file: x}}`, scalar, "", ""},
		{`db: {ref: main}`, none, "", ""},
		{`db: {ref: MAIN}`, empty, "", ""},
		{`db: {ref: {branch: main}}`, scalar, "", ""},
		{`db: {$ref: "#/definitions/a"}`, none, "", ""},
		{`db: {$patch: delete}`, scalar, "", ""},
		{`generate: 24`, none, "", ""},
	} {
		own := values(t, "values.yaml", c.own).Struct
		fs := Words(values(t, "own.yaml", c.text), func(at v1alpha1.Path) *v1alpha1.Value { return stepped(own, at) })
		if c.want == "" && len(fs) == 0 {
			continue
		}
		if len(fs) != 1 || map[diag.Severity]string{diag.Error: "error ", diag.Warning: "warning "}[fs[0].Severity]+fs[0].Code != c.want || !strings.Contains(fs[0].Fix, c.fix) ||
			fs[0].Pos.File != "own.yaml" || !strings.HasPrefix(fs[0].Path, "values.db") || strings.Contains(strings.ToLower(fs[0].String()), "hunter2") {
			t.Errorf("%s over %s: %v, want %s, %s", c.text, c.own, fs, c.want, c.fix)
		}
	}
}

// In a file of values for charts it is left to the chart, which warns of what it does not expect.
func TestWordsOfAChartsFile(t *testing.T) {
	v := values(t, "own.yaml", `db: {ref: X}`)
	v.Struct.Lookup("db", "ref").Foreign = true
	fs := Words(v, func(v1alpha1.Path) *v1alpha1.Value { return text("x", v1alpha1.Position{}) })
	if fs != nil {
		t.Error(fs)
	}
}

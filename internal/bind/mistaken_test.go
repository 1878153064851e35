package bind

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hawser.dev/hawser/api/v1alpha1"
)

// TestNoReference: a text that is meant as a reference and is none is told at its place, in a bundle, a layer and a file, and
// nothing of it is shown; a text that has nothing to do with references is not.
func TestNoReference(t *testing.T) {
	const within, so = "ref:// within a text", "this is no reference"
	for text, want := range map[string]string{
		`db: {url: "postgres://app:ref://C4NARY@db/x"}`: within,
		`db: "user=a password=Ref://C4NARY"`:            within,
		`db: "see ref:// C4NARY"`:                       within,
		`db: "ref://C4NARY in the text"`:                "error",
		`db: Ref://C4NARY`:                              so,
		`db: REF:/C4NARY`:                               so,
		`db: ref:/C4NARY/x`:                             so,
		`db: " ref://C4NARY"`:                           so,
		`db: [1, "\tref://C4NARY\n"]`:                   so,
		`db: ref:C4NARY`:                                so,
		`db: ref:files:db.yaml/C4NARY`:                  so,
		`db: ref//C4NARY`:                               so,
		`db: REF//files:db.yaml/C4NARY`:                 so,
		`db: reff://C4NARY`:                             so,
		`db: refs://vault:db/C4NARY`:                    so,
		`db: Reference://C4NARY`:                        so,
		`db: "ref:latest"`:                              "",
		`db: "ref:v1.2-C4NARY"`:                         "",
		`db: "ref:refs/heads/C4NARY"`:                   "",
		`db: "res://C4NARY"`:                            "",
		`db: "reff:C4NARY"`:                             "",
		`db: "refs://C4NARY in a text"`:                 "",
		`db: "ref//"`:                                   "",
		`db: ref://C4NARY`:                              "",
		`db: href://C4NARY`:                             "",
		`db: "git+ref://C4NARY"`:                        "",
		`db: "see ref:/C4NARY"`:                         "",
		`db: "ref: refs/heads/C4NARY"`:                  "",
		`db: "https://x/y"`:                             "",
		`db: "http://h/?ref://C4NARY"`:                  "",
		`db: "{$ref://C4NARY}"`:                         "",
		`db: "Ref:/ is a word"`:                         within,
	} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "values.yaml"), []byte("a: 1\n"+text+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		for place, in := range map[string]v1alpha1.Instance{
			"values.yaml:2:": {Name: "a", Helm: &v1alpha1.HelmSource{}, Values: values(t, filepath.Join(dir, "b.yaml"), "{from: {file: values.yaml}}")},
			"own.yaml:1:":    {Name: "a", Values: values(t, "own.yaml", text)},
			"layer.yaml:1:":  {Name: "a", ValuesFor: []v1alpha1.ValuesFor{{Name: "x", Values: values(t, "layer.yaml", text)}}},
		} {
			var files Files
			_, fs := Spec(v1alpha1.BundleSpec{Instances: []v1alpha1.Instance{in}}, files.Value)
			if want == "error" {
				continue // whether a reference can be read is another test's
			}
			if want == "" && len(fs) == 0 {
				continue
			}
			if len(fs) != 1 || fs.HasErrors() || !strings.HasPrefix(fs[0].What, want) || want == "" || fs[0].Fix == "" || fs[0].Instance != "a" ||
				!strings.Contains(fs[0].Pos.String(), place) || !strings.Contains(fs[0].Path, "alues.db") || strings.Contains(fs[0].String(), "C4NARY") {
				t.Errorf("%s in %s: %v", text, place, fs)
			}
		}
	}
}

// TestMistakenStructs: {$clusters: ...} and texts that look like references are plain data, and told; what charts really have is not.
func TestMistakenStructs(t *testing.T) {
	for text, want := range map[string]string{
		`db: {$clusters: name}`:       "$clusters is plain data here",
		`db: {$Cluster: name}`:        "$Cluster is plain data here",
		`db: [{$clustr: name}]`:       "$clustr is plain data here",
		`db: {$patch: delete}`:        "",
		`db: {$clusters: name, a: 1}`: "",
		`token: "${API_TOKEN}"`:       "${NAME} is plain data here",
		`token: "${_A1}"`:             "${NAME} is plain data here",
		`token: "x ${API_TOKEN}"`:     "",
		`token: "$API_TOKEN"`:         "$NAME is plain data here",
		`token: "$_A1"`:               "$NAME is plain data here",
		`token: "$api_token"`:         "",
		`token: "$1A"`:                "",
		`token: "$AB"`:                "",
		`token: "$API_TOKEN/x"`:       "",
		`token: "$$API_TOKEN"`:        "",
		`token: "${API_TOKEN}/x"`:     "",
		`token: "${api.token}"`:       "",
		`token: "${datasource}"`:      "",
		`token: "${1}"`:               "",
		`token: "${}"`:                "",
		`db: {}`:                      "",
		`token: "ENC[AES256_GCM,data:a,iv:b,tag:c,type:str]"`: "what SOPS encrypted is plain data here",
		`token: "ref+vault://kv/db#/password"`:                "a reference of another program",
		`token: "ref+awsssm://db"`:                            "a reference of another program",
		`token: "secrets://values.enc.yaml"`:                  "a reference of another program",
		`token: "<path:kv/data/db#password>"`:                 "a reference of another program",
		`token: "op://vault/db/password"`:                     "a reference of another program",
		`token: "env:API_TOKEN"`:                              "a reference of another program",
		`token: "env:TOKEN"`:                                  "a reference of another program",
		`token: "env://api-token"`:                            "a reference of another program",
		`token: "secret://db/password"`:                       "a reference of another program",
		`token: "vault://secret/db#password"`:                 "a reference of another program",
		`token: "vault:secret/data/db#password"`:              "a reference of another program",
		`token: ">>vault:secret/data/db#password"`:            "a reference of another program",
		`token: "env:prod"`:                                   "",
		`token: "env:PROD"`:                                   "",
		`token: "env:prod,team:WEB"`:                          "",
		`image: "vault:1.15"`:                                 "",
		`image: "hashicorp/vault:1.15"`:                       "",
		`image: "vault:secret/data/db"`:                       "",
		`token: "see secret://db/password"`:                   "",
		`token: "secret:db"`:                                  "",
		`token: "ENC[x]"`:                                     "",
		`token: "ref+x"`:                                      "",
		`token: "<path:kv>"`:                                  "",
		`token: "see op://vault"`:                             "",
	} {
		fs := mistaken(values(t, "own.yaml", text).Struct, nil)
		switch {
		case want == "" && len(fs) == 0:
		case want == "" || len(fs) != 1 || fs[0].Code != "value-mistaken" || fs[0].Pos.File != "own.yaml" || !strings.HasPrefix(fs[0].What, want) || fs[0].Fix == "" || fs[0].Path == "":
			t.Errorf("%s: %q, not %q", text, fs, want)
		}
	}
}

package main

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"hawser.dev/hawser/internal/redact"
	"hawser.dev/hawser/internal/sopstest"
)

// TestStoresStayInTheRepository: a fleet, which may come from a pull request, has nothing of the machine read beside its own repository,
// by no path and no link, and nothing of .git; whoever runs Hawser may allow directories, and keys of age may lie anywhere.
func TestStoresStayInTheRepository(t *testing.T) {
	b := newBench(t)
	b.write("runner/token", "c4nary-of-the-runner")
	b.write("repo/.git/config", "c4nary-of-git")
	b.write("repo/files/token", "of the repository")
	b.write("repo/chart/Chart.yaml", "apiVersion: v2\nname: app\nversion: 1.0.0\n")
	b.write("repo/chart/templates/a.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {a: {{ .Values.a | quote }}}\n")
	for name, to := range map[string]string{"repo/link": "../runner", "repo/files/git": "../.git", "repo/files/out": "../../runner"} {
		if err := os.Symlink(to, filepath.Join(b.dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	recipient, key := sopstest.Key(t)
	b.write("age.txt", key)
	b.write("repo/sealed/db.yaml", sopstest.Encrypt(t, "token: of the repository\n", recipient))
	b.write("runner/db.yaml", sopstest.Encrypt(t, "token: c4nary-of-the-runner\n", recipient))
	plain := b.env
	for _, c := range []struct{ reason, store, ref, allow, want string }{
		{"in the repository", "file: {path: ../files}", "token", "", ""},
		{"beside the repository", "file: {path: ../../runner}", "token", "", "outside of"},
		{"absolute", "file: {path: $DIR/runner}", "token", "", "outside of"},
		{"at home", "file: {path: ~/runner}", "token", "", "outside of"},
		{"the whole machine", "file: {path: /}", "etc/hostname", "", "outside of"},
		{"what is not there", "file: {path: ../../gone}", "token", "", "outside of"},
		{"by a link of the repository", "file: {path: ../link}", "token", "", "outside of"},
		{"by a link in the store", "file: {path: ../files}", "out/token", "", "escapes"},
		{"the checkout's credentials", "file: {path: ..}", ".git/config", "", "a part of .git"},
		{"those, as the store", "file: {path: ../.git}", "config", "", "a part of .git"},
		{"those, by a link", "file: {path: ../files}", "git/config", "", "escapes"},
		{"those, by a link in the same store", "file: {path: ..}", "files/git/config", "", "a part of .git"},
		{"sops, with a key from elsewhere", "sops: {path: ../sealed, age: {keyFile: $DIR/age.txt}}", "db.yaml/token", "", ""},
		{"sops beside the repository", "sops: {path: ../../runner, age: {keyFile: $DIR/age.txt}}", "db.yaml/token", "", "outside of"},
		{"allowed by who runs it", "file: {path: ~/runner}", "token", "/nowhere:$DIR/runner", ""},
		{"another directory is allowed", "file: {path: /}", "etc/hostname", "$DIR/runner", "outside of"},
	} {
		t.Run(c.reason, func(t *testing.T) {
			fill := strings.NewReplacer("$DIR", b.dir)
			b.env = append(slices.Clone(plain), envStoreDirs+"="+fill.Replace(c.allow))
			b.write("repo/fleets/f.yaml", "fleet:\n  apiVersion: v1alpha1\n  name: f\n  clusters: {a: {kubeContext: x}}\n  secretStores: {default: {"+fill.Replace(c.store)+"}}\n")
			b.write("repo/b.yaml", "bundle:\n  apiVersion: v1alpha1\n  name: b\n  instances:\n    a: {namespace: x, helm: {chart: ./chart}, values: {a: \"ref://"+c.ref+"\"}}\n")
			r := b.run("build", "-f", "repo/b.yaml", "--fleet", "repo/fleets/f.yaml")
			said := strings.Join(strings.Fields(r.Stderr), " ") // lines are wrapped anywhere
			if c.want == "" && (r.Code != 0 || !strings.Contains(r.Stdout, "a: ")) {
				t.Errorf("refused: %s", r)
			}
			if c.want != "" && (r.Code == 0 || !strings.Contains(said, c.want) || strings.Contains(r.Stdout+r.Stderr, "c4nary")) {
				t.Errorf("want %q: %s", c.want, r)
			}
			if c.want == "outside of" && !strings.Contains(said, envStoreDirs) {
				t.Errorf("it is not told what to do: %s", r)
			}
		})
	}
}

// TestToolsMaskRegistries: what a registry echoes of a credential is masked before it is cut, for the commands about modules
// and artifacts too: half a password is none that is known.
func TestToolsMaskRegistries(t *testing.T) {
	t.Parallel()
	const password = "c4nary-of-a-password"
	pad := 0
	registry := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusBadRequest)
		_ = json.NewEncoder(w).Encode(map[string]any{"errors": []map[string]string{{"code": "DENIED", "message": strings.Repeat("x", pad) + password}}})
	}))
	t.Cleanup(registry.Close)
	redactor := redact.New()
	redactor.Add(password)
	tools, err := newTools(redactor)
	if err != nil {
		t.Fatal(err)
	}
	cut := false
	for pad = 200; pad < 340; pad += 4 {
		_, err := tools.Digests.Digest(t.Context(), "oci://"+strings.TrimPrefix(registry.URL, "http://")+"/web:1.0.0")
		if err == nil {
			t.Fatal("the registry's refusal is no error")
		}
		text := err.Error()
		if !strings.Contains(text, "xxx") {
			t.Fatalf("the registry's words are not told: %s", text)
		}
		cut = cut || !strings.Contains(text, "x"+redact.Mask)
		if strings.Contains(text, "c4n") {
			t.Fatalf("cut at %d: %s", pad, text)
		}
	}
	if !cut {
		t.Error("nothing was cut: the test shows nothing")
	}
}

package file

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hawser.dev/hawser/internal/secret"
)

func TestGet(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"token": "hunter2\n", "dos": "hunter2\r\n", "two": "a\nb\n", "bare": "hunter2", "empty": "", "line": "\n", "blank": "\n\n",
		"db.yaml": "user: admin\npassword: hunter2\nnone: \"\"\n", "db.json": "{\n\t\"password\": \"hunter2\"}", "bytes": "\xff\xfe",
		"htpasswd": "hunter2: rest\nx: {hunter2: y}\n", "login.yaml": "admin hunter2: x\n", "list": "- hunter2\n", "pem.key": "hunter2-a\n",
		"broken.yaml": "password: [hunter2\n", "api.enc.yaml": "token: ENC[AES256_GCM,data:hunter2,iv:a,tag:b,type:str]\nplain: a\nsops: {}\n", "certs/tls.key": "BEGIN\nhunter2\n",
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s := New(dir)
	for _, c := range []struct{ reason, ref, want, err string }{
		{"the newline of one line goes", "ref://token", "hunter2", ""},
		{"also that of other systems", "ref://dos", "hunter2", ""},
		{"several lines stay as they are", "ref://two", "a\nb\n", ""},
		{"without a newline", "ref://bare", "hunter2", ""},
		{"an empty file", "ref://empty", "", "the file empty is empty"},
		{"an empty line", "ref://line", "", "the file line is empty"},
		{"an empty field", "ref://db.yaml/none", "", `db.yaml: "none" is empty`},
		{"blank lines are lines", "ref://blank", "\n\n", ""},
		{"a field of YAML", "ref://db.yaml/password", "hunter2", ""},
		{"a field of JSON", "ref://db.json/password", "hunter2", ""},
		{"a file in a directory", "ref://certs/tls.key", "BEGIN\nhunter2\n", ""},
		{"no such field", "ref://db.yaml/pass", "", `db.yaml: there is no "pass"; it has the keys none, password, user`},
		{"a text that reads like a document", "ref://htpasswd/password", "", `htpasswd: there is no "password": it is a map of 2`},
		{"a part of it", "ref://htpasswd/x", "", `htpasswd: "x" is no single value: it is a map of 1`},
		{"keys that are no names", "ref://login.yaml/password", "", `login.yaml: there is no "password"`},
		{"a text", "ref://pem.key/password", "", `pem.key: there is no "password": it is a text, and no document with keys`},
		{"a list", "ref://list/password", "", `list: there is no "password": it is a list of 1`},
		{"no file", "ref://none", "", "there is no file none"},
		{"no text", "ref://bytes", "", "bytes holds bytes"},
		{"broken", "ref://broken.yaml/password", "", "broken.yaml: it is not valid YAML"},
		{"what SOPS encrypted", "ref://api.enc.yaml/token", "", "api.enc.yaml is encrypted by SOPS"},
		{"a document of it", "ref://api.enc.yaml", "", "api.enc.yaml is encrypted by SOPS"},
		{"what it left", "ref://api.enc.yaml/plain", "a", ""},
		{"a version", "ref://token?version=3", "", "no versions"},
	} {
		ref, err := secret.ParseRef(c.ref)
		if err != nil {
			t.Fatal(err)
		}
		got, err := s.Get(t.Context(), ref)
		if got != c.want || (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
			t.Errorf("%s: %q, %v; want %q, %q", c.reason, got, err, c.want, c.err)
		}
		if err != nil && strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: the error shows the value: %v", c.reason, err)
		}
	}
}

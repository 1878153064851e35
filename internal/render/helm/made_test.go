package helm

import (
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/crypto/bcrypt"

	"hawser.dev/hawser/internal/chance"
	"hawser.dev/hawser/internal/object"
	"hawser.dev/hawser/internal/objectset"
	"hawser.dev/hawser/internal/render"
)

const madeAt = "2026-11-22T11:00:00Z"

// numbered is a source whose answers are told by its seed.
func numbered(seed string) *chance.Source {
	n := 0
	return &chance.Source{ID: seed, Now: func() time.Time { t, _ := time.Parse(time.RFC3339, madeAt); return t },
		Read: func(p []byte) {
			for i := range p {
				sum := sha256.Sum256(fmt.Append(nil, seed, n))
				p[i], n = sum[0], n+1
			}
		}}
}

// chartOf is a request for a chart of these templates.
func chartOf(t testing.TB, values string, templates map[string]string) render.Request {
	t.Helper()
	files := map[string]string{"chart/Chart.yaml": "apiVersion: v2\nname: app\nversion: 1.0.0\n", "values.yaml": values}
	for name, text := range templates {
		files["chart/templates/"+name] = text
	}
	return request(t, files)
}

func rendered(t testing.TB, req render.Request) render.Result {
	t.Helper()
	res, err := New(Options{}).Render(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	return res
}

// field is a text below data or stringData of the first object that has it, decoded.
func field(t testing.TB, res render.Result, name, key string) string {
	t.Helper()
	for _, o := range res.Objects {
		if o.Ref().Name != name {
			continue
		}
		for _, part := range []string{"stringData", "data"} {
			held, _ := o.Body[part].(map[string]any)
			text, ok := held[key].(string)
			if !ok {
				continue
			}
			if plain, err := base64.StdEncoding.DecodeString(text); err == nil && part == "data" && o.Ref().Kind == "Secret" {
				return string(plain)
			}
			return text
		}
	}
	t.Fatalf("no %s in %s", key, name)
	return ""
}

func digestOf(objs []object.Object) string { return fmt.Sprint(objectset.Digests(objs)) }

const everything = `
apiVersion: v1
kind: Secret
metadata: {name: made, annotations: {at: {{ now | date "2006-01-02" | quote }}}}
stringData:
  alnum: {{ randAlphaNum 20 | quote }}
  alpha: {{ randAlpha 20 | quote }}
  ascii: {{ randAscii 20 | quote }}
  numeric: {{ randNumeric 20 | quote }}
  bytes: {{ randBytes 20 | quote }}
  int: {{ randInt 10 20 | quote }}
  shuffled: {{ shuffle "abcdefgh" | quote }}
  uuid: {{ uuidv4 | quote }}
  bcrypt: {{ bcrypt "pw" | quote }}
  htpasswd: {{ htpasswd "me" "pw" | quote }}
  aes: {{ encryptAES "key" "text" | decryptAES "key" | quote }}
  key: {{ genPrivateKey "ecdsa" | quote }}
{{- $ca := genCAWithKey "root" 30 (genPrivateKey "ecdsa") }}
{{- $cert := genSignedCertWithKey "app" nil (list "app.shop") 30 $ca (genPrivateKey "ecdsa") }}
{{- $again := buildCustomCert ($ca.Cert | b64enc) ($ca.Key | b64enc) }}
  ca: {{ $again.Cert | quote }}
  cert: {{ $cert.Cert | quote }}
  self: {{ (genSelfSignedCertWithKey "self" nil nil 30 (genPrivateKey "ecdsa")).Cert | quote }}
  ago: {{ ago (toDate "2006-01-02" "2026-11-22") | quote }}
`

// TestMakesOnceKeeps: what every function makes is what it says, and the same ever after.
func TestMakesOnceKeeps(t *testing.T) {
	req := chartOf(t, "", map[string]string{"a.yaml": everything})
	open := rendered(t, req)
	if open.Open == 0 || !open.Answers.IsZero() || digestOf(open.Objects) != digestOf(rendered(t, req).Objects) {
		t.Fatalf("placeholders: %d open, %d answers", open.Open, len(open.Answers.Calls))
	}
	if len(open.Findings) != 1 || open.Findings[0].Code != render.CodePlaceholder {
		t.Errorf("findings %v", open.Findings)
	}
	req.Chance = numbered("one")
	first := rendered(t, req)
	if first.Open != 0 || len(first.Findings) != 0 {
		t.Errorf("%d open, findings %v", first.Open, first.Findings)
	}
	for key, ok := range map[string]func(string) bool{
		"alnum":   func(s string) bool { return len(s) == 20 && strings.Trim(s, alpha+digits) == "" },
		"alpha":   func(s string) bool { return len(s) == 20 && strings.Trim(s, alpha) == "" },
		"ascii":   func(s string) bool { return len(s) == 20 },
		"numeric": func(s string) bool { return len(s) == 20 && strings.Trim(s, digits) == "" },
		"bytes":   func(s string) bool { b, err := base64.StdEncoding.DecodeString(s); return err == nil && len(b) == 20 },
		"int":     func(s string) bool { return len(s) == 2 && s[0] == '1' },
		"shuffled": func(s string) bool {
			return len(s) == 8 && strings.Trim(s, "abcdefgh") == ""
		},
		"uuid":   func(s string) bool { return len(s) == 36 && s[14] == '4' },
		"bcrypt": func(s string) bool { return bcrypt.CompareHashAndPassword([]byte(s), []byte("pw")) == nil },
		"htpasswd": func(s string) bool {
			return strings.HasPrefix(s, "me:") && bcrypt.CompareHashAndPassword([]byte(s[3:]), []byte("pw")) == nil
		},
		"aes":  func(s string) bool { return s == "text" },
		"key":  func(s string) bool { return strings.Contains(s, "BEGIN EC PRIVATE KEY") },
		"self": func(s string) bool { return certOf(t, s).Subject.CommonName == "self" },
		"ago":  func(s string) bool { return s == "11h0m0s" },
	} {
		if text := field(t, first, "made", key); !ok(text) {
			t.Errorf("%s is %q", key, text)
		}
	}
	roots := x509.NewCertPool()
	roots.AddCert(certOf(t, field(t, first, "made", "ca")))
	if _, err := certOf(t, field(t, first, "made", "cert")).Verify(x509.VerifyOptions{Roots: roots, DNSName: "app.shop"}); err != nil {
		t.Error(err)
	}
	if got := first.Objects[0].Body["metadata"].(map[string]any)["annotations"].(map[string]any)["at"]; got != "2026-11-22" {
		t.Errorf("the moment is %v", got)
	}

	req.Answers = first.Answers
	for _, source := range []*chance.Source{nil, numbered("two")} {
		req.Chance = source
		again := rendered(t, req)
		if diff := cmp.Diff(first.Objects, again.Objects); diff != "" || again.Open != 0 || !again.Answers.IsZero() {
			t.Errorf("kept answers give something else: %s", diff)
		}
	}
	for _, hidden := range []string{"alnum", "uuid", "bcrypt", "key"} {
		if text := field(t, first, "made", hidden); !strings.Contains(strings.Join(first.Answers.Hidden(), "\x00"), text) {
			t.Errorf("%s is not known to be secret", hidden)
		}
	}
}

func certOf(t testing.TB, text string) *x509.Certificate {
	t.Helper()
	block, _ := pem.Decode([]byte(text))
	if block == nil {
		t.Fatalf("no certificate: %q", text)
	}
	c, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestMomentsAreNoSecrets: placeholders for times and numbers alone have a code of their own, with anything else they do not.
func TestMomentsAreNoSecrets(t *testing.T) {
	for text, want := range map[string]string{
		`{{ now | date "2006" }} {{ randInt 1 90000 }}`: render.CodeMoment,
		`{{ now | date "2006" }} {{ randAlphaNum 20 }}`: render.CodePlaceholder,
	} {
		req := chartOf(t, "", map[string]string{"a.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {a: '" + text + "'}\n"})
		if got := rendered(t, req).Findings; len(got) != 1 || got[0].Code != want {
			t.Errorf("%s: %v, want %s", text, got, want)
		}
	}
}

// TestNewCallsGetNewAnswers: an edited chart keeps the answers of the calls it had, wherever they stand now.
func TestNewCallsGetNewAnswers(t *testing.T) {
	secret := func(lines ...string) map[string]string {
		return map[string]string{"a.yaml": "apiVersion: v1\nkind: Secret\nmetadata: {name: made}\nstringData:\n  " + strings.Join(lines, "\n  ")}
	}
	req := chartOf(t, "", secret("a: {{ randAlpha 9 }}", "b: {{ randAlpha 9 }}"))
	req.Chance = numbered("one")
	first := rendered(t, req)
	next := chartOf(t, "", secret("new: {{ randAlpha 9 }}", "b: {{ randAlpha 9 }}", "a: {{ randAlpha 9 }}", "longer: {{ randAlpha 12 }}"))
	next.Answers, next.Chance = first.Answers, numbered("two")
	second := rendered(t, next)
	for _, key := range []string{"a", "b"} {
		if was, is := field(t, first, "made", key), field(t, second, "made", key); was != is {
			t.Errorf("%s was %s, is %s", key, was, is)
		}
	}
	made := field(t, second, "made", "new")
	if made == field(t, first, "made", "a") || made == field(t, first, "made", "b") || len(field(t, second, "made", "longer")) != 12 {
		t.Errorf("the new call got %s", made)
	}
	// a rotation of one makes that one new
	rotated, gone := second.Answers.Without("app/templates/a.yaml")
	if gone != 4 {
		t.Errorf("%d of %v", gone, second.Answers.Names())
	}
	next.Answers, next.Chance = rotated, numbered("three")
	if is := field(t, rendered(t, next), "made", "a"); is == field(t, first, "made", "a") {
		t.Error("a rotation gives the old answer")
	}
}

// TestGivenValueWins: nothing is made for a value that the bundle gives, and what was made before is found again when it
// does not any more.
func TestGivenValueWins(t *testing.T) {
	template := map[string]string{"a.yaml": "apiVersion: v1\nkind: Secret\nmetadata: {name: made}\n" +
		"stringData: {p: '{{ .Values.p | default (randAlpha 12) }}'}\n"}
	given := chartOf(t, "p: mine\n", template)
	given.Chance = numbered("one")
	if res := rendered(t, given); field(t, res, "made", "p") != "mine" || res.Open != 0 || !res.Answers.IsZero() || len(res.Findings) > 0 {
		t.Errorf("%s, %d open, %v, %v", field(t, res, "made", "p"), res.Open, res.Answers, res.Findings)
	}
	req := chartOf(t, "", template)
	req.Chance = numbered("one")
	first := rendered(t, req)
	given.Answers, given.Chance = first.Answers, nil
	if res := rendered(t, given); field(t, res, "made", "p") != "mine" {
		t.Error("what is kept goes before the given value")
	}
	req.Answers, req.Chance = first.Answers, nil
	if res := rendered(t, req); field(t, res, "made", "p") != field(t, first, "made", "p") {
		t.Error("the kept value is not found again")
	}
}

// idiom is how charts find the password that they made before: by the key, two passwords by one helper.
var idiom = map[string]string{
	"_h.tpl": `{{- define "pw" -}}
{{- $there := lookup "v1" "Secret" .root.Release.Namespace "made" -}}
{{- if and $there $there.data (hasKey $there.data .key) -}}
{{ index $there.data .key }}
{{- else if .given -}}
{{ .given | b64enc }}
{{- else -}}
{{ randAlphaNum 16 | b64enc }}
{{- end -}}
{{- end -}}`,
	"a.yaml": `apiVersion: v1
kind: Secret
metadata: {name: made}
data:
  admin: {{ include "pw" (dict "root" . "key" "admin" "given" .Values.admin) }}
  user: {{ include "pw" (dict "root" . "key" "user" "given" .Values.user) }}
`,
}

// TestLookupFindsKept: a chart that looks its own Secret up finds what it made, by key; a given value still wins.
func TestLookupFindsKept(t *testing.T) {
	req := chartOf(t, "", idiom)
	open := rendered(t, req)
	if diff := cmp.Diff([]object.Ref{{Kind: "Secret", Namespace: "shop", Name: "made"}}, open.LooksUp); diff != "" {
		t.Error(diff)
	}
	req.Chance = numbered("one")
	first := rendered(t, req)
	if len(first.Findings) > 0 {
		t.Errorf("the usual idiom is warned of: %v", first.Findings)
	}
	admin, user := field(t, first, "made", "admin"), field(t, first, "made", "user")
	if admin == user || len(admin) != 16 || len(first.Answers.Secrets["shop/made"]) != 2 {
		t.Fatalf("%s %s %v", admin, user, first.Answers.Secrets)
	}
	for values, want := range map[string]string{"": admin + " " + user, "admin: mine\n": "mine " + user, "user: mine\n": admin + " mine"} {
		next := chartOf(t, values, idiom)
		next.Answers = first.Answers
		res := rendered(t, next)
		if got := field(t, res, "made", "admin") + " " + field(t, res, "made", "user"); got != want || res.Open > 0 {
			t.Errorf("%q gives %s, want %s; %d open", values, got, want, res.Open)
		}
	}
}

// TestLookupOnceOnly: a chart that leaves its Secret out when it finds one goes on declaring it.
func TestLookupOnceOnly(t *testing.T) {
	req := chartOf(t, "", map[string]string{"a.yaml": `{{- if not (lookup "v1" "Secret" "shop" "made") }}
apiVersion: v1
kind: Secret
metadata: {name: made}
stringData: {p: '{{ randAlpha 12 }}'}
{{- end }}
`})
	req.Chance = numbered("one")
	first := rendered(t, req)
	if len(first.Answers.Secrets) > 0 {
		t.Errorf("look-ups would find %v", first.Answers.Secrets)
	}
	req.Answers, req.Chance = first.Answers, nil
	if res := rendered(t, req); digestOf(res.Objects) != digestOf(first.Objects) {
		t.Errorf("then it declares %d objects", len(res.Objects))
	}
}

// TestKeyOfAnswers: answers and their source are part of the key where the chart makes something up, and only there.
func TestKeyOfAnswers(t *testing.T) {
	key := func(req render.Request) string {
		k, err := New(Options{}).Key(t.Context(), req)
		if err != nil {
			t.Fatal(err)
		}
		return k
	}
	plain := chartOf(t, "", map[string]string{"a.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\n"})
	random := chartOf(t, "", map[string]string{"a.yaml": everything})
	byTpl := chartOf(t, "greeting: '{{ printf \"}\" | randAlpha 3 }}'\n", map[string]string{"a.yaml": "x: {{ tpl .Values.greeting . }}"})
	for _, c := range []struct {
		req  render.Request
		want bool
	}{{plain, false}, {random, true}, {byTpl, true}} {
		if got := New(Options{}).Makes(t.Context(), c.req); got != c.want {
			t.Errorf("makes: %t, want %t", got, c.want)
		}
		with, from := c.req, c.req
		with.Answers = chance.Answers{Calls: []chance.Call{{Func: "x"}}}
		from.Chance = numbered("one")
		if differs := key(c.req) != key(with); differs != c.want {
			t.Errorf("answers are in the key: %t, want %t", differs, c.want)
		}
		if differs := key(c.req) != key(from); differs != c.want {
			t.Errorf("the source is in the key: %t, want %t", differs, c.want)
		}
	}
}

// TestMakesTooMuch: hostile counts are errors, and those that cannot be met.
func TestMakesTooMuch(t *testing.T) {
	for _, action := range []string{`randAlpha 100000000`, `randBytes 100000000`, `randInt 5 5`, `range until 20000 }}{{ randAlpha 3 }}{{ end`} {
		req := chartOf(t, "", map[string]string{"a.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x, annotations: {a: \"{{ " + action + " }}\"}}\n"})
		req.Chance = numbered("one")
		if _, err := New(Options{}).Render(t.Context(), req); err == nil || !strings.Contains(err.Error(), "a.yaml:3") {
			t.Errorf("%s: %v", action, err)
		}
	}
}

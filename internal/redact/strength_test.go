package redact

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestStrength: where a value is looked for follows from what it is.
func TestStrength(t *testing.T) {
	for s, texts := range map[strength][]string{
		common: {"delete", "production", "succeeded", "not started", "us-east-1", "letmein", "8443", "1000.0", "v1beta1", "v1alpha1", "apps/v1", "linux/amd64",
			"10.0.0.12", "db-0.example.com", "nginx:1.27", "insecure-skip-tls-verify", "clusterStart", "resourceVersion", "kubectl-client-side-apply",
			"sha256", "2026-11-22", "app.kubernetes.io/name", "s3cret", "", "cluster-admin", "MutatingWebhookConfiguration"},
		phrase:       {"correct horse battery staple", "the cluster was not asked", "a-name-that-is-longer-than-any-name-should-be-in-here"},
		unmistakable: {"hunter2", "hunter2-long", "Tr0ub4dor&3", "12345678", "c4nary-pass", "aXkdlsTzWqLmBv", "xkcdbrwtplqz", "postgres://app:hunter2@db/x", "4f2c-99ab-1c3d", "!!§§%%&&//"},
	} {
		for _, text := range texts {
			if got := strengthOf(text); got != s {
				t.Errorf("%q has strength %d, want %d", text, got, s)
			}
		}
	}
}

// TestOwnWordsAreCommon: no field and no value that our documents can have is looked for in the texts of others, wherever
// somebody put it.
func TestOwnWordsAreCommon(t *testing.T) {
	files, err := filepath.Glob("../../docs/schema/*.json")
	if err != nil || len(files) < 5 {
		t.Fatal(files, err)
	}
	words := 0
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var doc any
		if err := json.Unmarshal(data, &doc); err != nil {
			t.Fatal(err)
		}
		var walk func(v any, under string)
		walk = func(v any, under string) {
			switch v := v.(type) {
			case map[string]any:
				for k, x := range v {
					if under == "properties" {
						words++
						if strengthOf(k) != common {
							t.Errorf("%s: the field %q is no common word", file, k)
						}
					}
					walk(x, k)
				}
			case []any:
				for _, x := range v {
					walk(x, under)
				}
			case string:
				if under == "enum" || under == "const" {
					words++
					if strengthOf(v) == unmistakable { // some are sentences
						t.Errorf("%s: the value %q is not made of common words", file, v)
					}
				}
			}
		}
		walk(doc, "")
	}
	if words < 200 {
		t.Errorf("only %d words were looked at", words)
	}
}

// TestCommonValuesStayWithTheirInstance: what somebody puts into a Secret that one instance takes decides nothing about
// what is shown of others: not a word, a list of words, a name, a number.
func TestCommonValuesStayWithTheirInstance(t *testing.T) {
	for _, planted := range []string{"production", "delete", "nginx,redis,production", "A=production\nB=nginx\n", "4711", "4711,4712,4713", `{"a":"production","b":4711}`,
		"us-east-1", "web.example.com", "true", "cHJvZHVjdGlvbg==", "postgres://app:nginx@db/x", "the\nproduction\nnginx"} {
		r := &Redactor{}
		r.AddFor("mine", planted)
		for _, text := range []string{`namespace "production" not found`, "delete", "image nginx:1.27 and 4711", `{"region":"us-east-1"}`, "web.example.com:4711"} {
			for name, got := range map[string]string{"sweep": r.Sweep(text), "redact": r.Redact(text), "said": r.Said("other", text), "value": r.Value("other", text)} {
				if got != text {
					t.Errorf("%q hides in %s of others: %s", planted, name, got)
				}
			}
		}
	}
	r := &Redactor{}
	r.AddFor("mine", "production")
	r.AddFor("mine", "4711")
	for text, want := range map[string]string{
		`conflicting values "production" and int`: `conflicting values "***" and int`, "not for production": "not for production",
		"port 4711 is taken": "port *** is taken", "production": Mask, "production's": "production's",
	} {
		if got := r.Said("mine", text); got != want {
			t.Errorf("said: %s, want %s", got, want)
		}
	}
	if got := r.Value("mine", "stage=production;pin=4711"); got != "stage=***;pin=***" {
		t.Error(got)
	}
}

// TestNumbersInAnyForm: a number that is secret is hidden however somebody prints it, and as a whole only.
func TestNumbersInAnyForm(t *testing.T) {
	for secret, forms := range map[string][]string{
		"1000":          {"1000", "1e3", "1E+03", "1000.0", "1_000", "0x3e8", "0X3E8", "0o1750", "0b1111101000", "+1000", `"1000"`, "'1e3'", "=1000;", "1000.", "1,000", "+1,000.00", "1k", "1000Mi", "1000m", "1000000m", "0.001M"},
		"1e3":           {"1000", "1000.00", "0x3e8"},
		"-5.50":         {"-5.5", "-5.500", "-55e-1"},
		"0123":          {"0123", "123", "83", "0o123"},
		"1234567890":    {"1234567890", "1.23456789e+09", "0x499602d2", "x1234567890y"},
		`{"pin": 4242}`: {"4242", "4242.0"},
	} {
		r := New(secret)
		for _, form := range forms {
			got := r.Value("web", "is "+form+" here")
			if strings.ContainsAny(strings.NewReplacer("is ", "", "here", "").Replace(got), "0123456789") {
				t.Errorf("%s as %s: %s", secret, form, got)
			}
		}
	}
	for _, text := range []string{"v1.1000.2", "10000", "1000x", "x1000", "1000.5", "10.1000", "0x3e89", "1.000", "1,0000", "11,000", "1,000,000", "1,000.5", "2k", "1kg", "x1k", "1Ki", "1.1k", "v1.1000k"} {
		if got := New("1000").Value("web", text); got != text {
			t.Errorf("1000 hides %s: %s", text, got)
		}
	}
}

// What was made at random is hidden everywhere, also where it looks like a word; what is short, or was chosen, is not.
func TestAddGenerated(t *testing.T) {
	r := New()
	for _, word := range []string{"kUTCwgUgpeOEBNOYYzZT", "configmapping"} {
		r.AddFor("app", word)
		if got := r.Redact("a " + word); got != "a "+word {
			t.Errorf("chosen: %q", got)
		}
		r.AddGenerated("app", word)
		if got := r.Redact("a " + word + "b"); got != "a ***b" {
			t.Errorf("made: %q", got)
		}
	}
	r.AddGenerated("app", "deployment")
	r.AddGenerated("app", "1")
	r.AddGenerated("app", "x7q")
	if r.Value("app", "1") != "1" || r.Value("app", "x7q") != "x7q" {
		t.Errorf("a piece of a password hides what equals it")
	}
	if got := r.Redact("a deployment"); got != "a deployment" {
		t.Errorf("short: %q", got)
	}
}

// What was made at random of 6 to 11 letters is hidden as a whole token in what is said about its instance, and nowhere
// else; what was chosen, or is shorter, needs quotes there.
func TestShortGenerated(t *testing.T) {
	r := New()
	for _, word := range []string{"WxvuYN", "deployment"} {
		r.AddGenerated("app", word)
		said := "Invalid value: " + word + ", " + word + "s (" + word + ") x" + word
		if got, want := r.Said("app", said), "Invalid value: ***, "+word+"s (***) x"+word; got != want {
			t.Errorf("%q, want %q", got, want)
		}
		for _, got := range []string{r.Said("other", said), r.Redact(said), r.Sweep(said), r.Name("app", said)} {
			if got != said {
				t.Errorf("elsewhere: %q", got)
			}
		}
	}
	r.AddGenerated("app", "abcde")
	r.AddFor("app", "chosen")
	if said := "abcde chosen"; r.Said("app", said) != said {
		t.Errorf("short or chosen: %q", r.Said("app", said))
	}
}

// TestPassphrasesInSentences: a password of words that an instance takes is hidden as a whole in what is said about that instance, in
// quotes or not, and nowhere else; a word, and a short name, need quotes.
func TestPassphrasesInSentences(t *testing.T) {
	for _, secret := range []string{"correct-horse-battery-staple", "abcd-efgh-ijkl-mnop", "XKCD-QRST-ABCD-1234", "Winter-2026!", "CorrectHorseBatteryStaple", "admin@2026",
		"geheim=geheim", "mein Hund heißt", "我的密码是非常长的啊", "ROTATED-xyz-9", "internationalisation"} {
		r := New()
		r.AddFor("app", secret)
		for _, format := range []string{"the password %s is too weak", "range can't iterate over %s", "password: %s", "missing closing ): `(%s`", "%s", "(%s): %s."} {
			said := strings.ReplaceAll(format, "%s", secret)
			if got, want := r.Said("app", said), strings.ReplaceAll(format, "%s", Mask); got != want {
				t.Errorf("%s: %s, want %s", secret, got, want)
			}
			if got := r.Sweep(said) + r.Told("other", said) + r.Said("other", said) + r.Name("app", said); got != strings.Repeat(said, 4) {
				t.Errorf("%s elsewhere: %s", secret, got)
			}
			if said = "x" + secret + "x"; r.Said("app", said) != said && secret[0] < 0x80 {
				t.Errorf("%s in a word: %s", secret, r.Said("app", said))
			}
		}
	}
	for _, word := range []string{"production", "letmein", "default", "db-0", "eu-1", "nginx", "v1beta1", "not yet", "Deployment", "web.local", "kube-dns"} {
		r := New()
		r.AddFor("app", word)
		if said := "the " + word + " fails"; r.Said("app", said) != said {
			t.Errorf("%s: %s", word, r.Said("app", said))
		}
	}
}

package blob

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"html"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"

	"hawser.dev/hawser/internal/redact"
	"hawser.dev/hawser/internal/testbucket"
)

// A server that gives back what it was sent shows neither a credential nor a signature, in whatever form, nor in what is cut from its text.
func TestSentCredentialsAreHidden(t *testing.T) {
	forms := map[string]func(string) string{"plain": func(s string) string { return s }, "base64": func(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) },
		"hex": func(s string) string { return hex.EncodeToString([]byte(s)) }, "small": strings.ToLower, "percent": url.QueryEscape,
		"the end": func(s string) string { return s[max(0, len(s)-64):] },
		"HTML":    func(s string) string { return strings.ReplaceAll(html.EscapeString(s), "=", "&#61;") }}
	for name, form := range forms {
		for _, pad := range []int{0, maxMessage - 60} {
			var last atomic.Value
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				sent := r.Header.Get("Authorization")
				last.Store(sent)
				if r.URL.Path == "/token" {
					_, _ = fmt.Fprint(w, `{"access_token":"canary-t0ken.of-google","token_type":"Bearer","expires_in":3600}`)
					return
				}
				text := strings.Repeat("x", pad) + " you said " + form(sent)
				if strings.HasPrefix(sent, "Bearer") {
					w.WriteHeader(http.StatusForbidden)
					_ = json.NewEncoder(w).Encode(map[string]any{"error": map[string]any{"message": text}})
					return
				}
				w.Header().Set("Content-Type", "application/xml")
				w.Header().Set("x-ms-error-code", "AuthenticationFailed")
				w.WriteHeader(http.StatusForbidden)
				_, _ = fmt.Fprintf(w, "<Error><Code>Denied</Code><Message>%s</Message></Error>", html.EscapeString(text))
			}))
			t.Cleanup(server.Close)
			for kind, bucket := range echoed(t, server.URL) {
				_, err := bucket.Get(t.Context(), "a", 10)
				if err == nil || !strings.Contains(err.Error(), "you said") || pad == 0 && !strings.Contains(err.Error(), redact.Mask) {
					t.Fatalf("%s, %s: nothing was given back: %v", kind, name, err)
				}
				_, said, _ := strings.Cut(err.Error(), "you said ")
				sent := last.Load().(string)
				secret := sent[strings.LastIndexAny(strings.TrimRight(sent, "="), " :=")+1:]
				for _, part := range []string{"canary", "t0ken", "Y2FuYXJ5", "NhbmFye", "jYW5hcn", hex.EncodeToString([]byte("canary")), form(secret[:6])} {
					if strings.Contains(said, part) {
						t.Errorf("%s, %s: %q is in %v", kind, name, part, err)
					}
				}
			}
		}
	}
}

// echoed are buckets of each kind at a server.
func echoed(t *testing.T, server string) map[string]Bucket {
	r := redact.New()
	told := quick
	told.Tell, told.Redact = r.AddSent, r.Redact
	front := testbucket.NewGCS(t, 0)
	key := []byte(strings.ReplaceAll(string(front.Key(t)), front.URL, server))
	gcs, err := NewGCS(GCSOptions{Bucket: "b", Endpoint: server, Key: key, Server: told})
	if err != nil {
		t.Fatal(err)
	}
	azure, err := NewAzure(AzureOptions{Account: "acc", Container: "b", Endpoint: server + "/acc", Key: base64.StdEncoding.EncodeToString([]byte("a key of an account")), Server: told})
	if err != nil {
		t.Fatal(err)
	}
	yes := true
	s3, err := NewS3(S3Options{Bucket: "bucket", Endpoint: server, PathStyle: &yes, Region: "eu", Server: told, Credentials: S3Credentials{AccessKeyID: "AKIAX", SecretAccessKey: "canary-secret"}})
	if err != nil {
		t.Fatal(err)
	}
	return map[string]Bucket{"gcs": gcs, "azure": azure, "s3": s3}
}

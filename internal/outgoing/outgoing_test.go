package outgoing

import (
	"encoding/base64"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
)

// told gathers what is told of.
type told struct {
	mu  sync.Mutex
	all []string
}

func (t *told) tell(s string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.all = append(t.all, s)
}

// sent answers every request, and notes what had been told of by then.
type sent struct {
	*told
	before int
}

func (s *sent) RoundTrip(*http.Request) (*http.Response, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.before = len(s.all)
	return &http.Response{StatusCode: 200, Body: http.NoBody}, nil
}

// Each credential of a request is told of whole, before the request is sent, and not again with the next one.
func TestTell(t *testing.T) {
	for _, x := range []struct {
		name, header, value, form string
		want                      []string
	}{
		{name: "bearer", header: "Authorization", value: "Bearer tok.en", want: []string{"tok.en"}},
		{name: "lower case", header: "Authorization", value: "bearer  tok.en", want: []string{"tok.en"}},
		{name: "bare", header: "Authorization", value: "tok.en", want: []string{"tok.en"}},
		{name: "basic", header: "Authorization", value: "Basic bWU6cDpX", want: []string{"bWU6cDpX", "p:W"}},
		{name: "basic without password", header: "Authorization", value: "Basic dG9rZW46", want: []string{"dG9rZW46", "token"}},
		{name: "basic of nothing", header: "Authorization", value: "Basic !", want: []string{"!"}},
		{name: "registry", header: "X-Registry-Auth", value: "e30=", want: []string{"e30="}},
		{name: "session", header: "X-Amz-Security-Token", value: "sess", want: []string{"sess"}},
		{name: "with a comma", header: "Authorization", value: "Bearer a,b c", want: []string{"a,b c"}},
		{name: "with a blank", header: "X-Auth-Token", value: "a, b", want: []string{"a, b"}},
		{name: "token as user", header: "Authorization", value: "Basic " + base64.StdEncoding.EncodeToString([]byte("tok:x-oauth-basic")), want: []string{base64.StdEncoding.EncodeToString([]byte("tok:x-oauth-basic")), "x-oauth-basic", "tok"}},
		{name: "token as any user", header: "Authorization", value: "Basic " + base64.StdEncoding.EncodeToString([]byte("ghp_16C7e42F292c6912E7710c:pw")), want: []string{base64.StdEncoding.EncodeToString([]byte("ghp_16C7e42F292c6912E7710c:pw")), "pw", "ghp_16C7e42F292c6912E7710c"}},
		{name: "long user", header: "Authorization", value: "Basic " + base64.StdEncoding.EncodeToString([]byte("00000000-0000-0000-0000-000000000000:pw")), want: []string{base64.StdEncoding.EncodeToString([]byte("00000000-0000-0000-0000-000000000000:pw")), "pw"}},
		{name: "hexadecimal as any user", header: "Authorization", value: "Basic " + base64.StdEncoding.EncodeToString([]byte("0a1b2c3d4e5f60718293a4b5c6d7e8f901234567:nopass")), want: []string{base64.StdEncoding.EncodeToString([]byte("0a1b2c3d4e5f60718293a4b5c6d7e8f901234567:nopass")), "nopass", "0a1b2c3d4e5f60718293a4b5c6d7e8f901234567"}},
		{name: "small letters as any user", header: "Authorization", value: "Basic " + base64.StdEncoding.EncodeToString([]byte("k9x2m4p7q1z8w3v6t5r0:-")), want: []string{base64.StdEncoding.EncodeToString([]byte("k9x2m4p7q1z8w3v6t5r0:-")), "-", "k9x2m4p7q1z8w3v6t5r0"}},
		{name: "names", header: "Authorization", value: "Basic " + base64.StdEncoding.EncodeToString([]byte("serviceaccount2024team7build:pw")), want: []string{base64.StdEncoding.EncodeToString([]byte("serviceaccount2024team7build:pw")), "pw"}},
		{name: "google", header: "Authorization", value: "GOOG4-RSA-SHA256 Credential=a, Signature=b"},
		{name: "signature", header: "Authorization", value: "AWS4-HMAC-SHA256 Credential=a, Signature=b"},
		{name: "shared key", header: "Authorization", value: "SharedKey acme:sig="},
		{name: "none", header: "Accept", value: "Bearer x"},
		{name: "refresh", form: "refresh_token=r%2Bt&username=me&service=s", want: []string{"r+t"}},
		{name: "password", form: "password=p%26w&client_secret=cs", want: []string{"p&w", "cs"}},
		{name: "other", form: "username=me&scope=x"},
	} {
		at := &told{}
		next := &sent{told: at}
		rt := Tell(next, at.tell)
		for range 2 {
			r := httptest.NewRequest(http.MethodGet, "https://c.example/", nil)
			if x.form != "" {
				var err error
				if r, err = http.NewRequestWithContext(t.Context(), http.MethodPost, "https://c.example/token", strings.NewReader(x.form)); err != nil {
					t.Fatal(err)
				}
				r.Header.Set("Content-Type", "application/x-www-form-urlencoded; charset=utf-8")
			} else {
				r.Header.Set(x.header, x.value)
			}
			resp, err := rt.RoundTrip(r)
			if err != nil {
				t.Fatal(err)
			}
			_ = resp.Body.Close()
		}
		if !slices.Equal(at.all, x.want) || next.before != len(x.want) {
			t.Errorf("%s: told of %q (%d before it was sent), want %q", x.name, at.all, next.before, x.want)
		}
	}
	if next := http.DefaultTransport; Tell(next, nil) != next {
		t.Error("who is told nothing needs no eye")
	}
}

func TestProxy(t *testing.T) {
	at := &told{}
	find := func(*http.Request) (*url.URL, error) { return url.Parse("http://me:p%20w@proxy.example:3128") }
	for range 2 {
		if u, err := Proxy(find, at.tell)(httptest.NewRequest(http.MethodGet, "/", nil)); err != nil || u.Host != "proxy.example:3128" {
			t.Fatal(u, err)
		}
	}
	if want := []string{"bWU6cCB3", "p w"}; !slices.Equal(at.all[:2], want) {
		t.Errorf("told of %q, want %q", at.all, want)
	}
}

// TestTokenLike: what services give out as tokens is known in a user's place, and nobody's name is taken for one.
func TestTokenLike(t *testing.T) {
	for _, token := range []string{
		"dop_v1_0a1b2c3d4e5f60718293a4b5c6d7e8f90a1b2c3d4e5f60718293a4b5c6d7e8f9",
		"eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.SflKxwRJSMeKKF2QT4fwpMeJf36POk6yJV_adQssw5c",
		"hvs.CAESIJ0a1b2c3d4e5f60718293", "hvb.AAAAAQJ0a1b2c3d4e5f60718293", "ya29.a0AfH6SMBx0a1b2c3d4e", "sha256~aB3dE5gH7jK9mN1pQ3sT5vX7zA9",
		"glpat-aB3dE5gH7jK9mN1pQ3sT.01.0w0a1b2c3", "ghp_16C7e42F292c6912E7710c", "0a1b2c3d4e5f60718293a4b5c6d7e8f901234567", "SG.aB3dE5gH7jK9mN1pQ3sT5v.x",
		"xoxb-0123456789-aB3dE5gH7jK9",
	} {
		if !tokenLike(token) {
			t.Errorf("%s is not known to be a token", token)
		}
	}
	for _, name := range []string{
		"", "ada", "ada.lovelace@example.com", "serviceaccount2024team7build", "robot-team-7-production-build-2024", "00000000-0000-0000-0000-000000000000",
		"system.serviceaccount.shop.deployer", "0a1b2c3d-4e5f-6071-8293-a4b5c6d7e8f9", "registry.example.com", "svc-k8s-prod-eu-west-1a-2b-3c",
		"arn:aws:iam::123456789012:user/Ada", "some.very.long.name.of.1.service.2.of.3.teams.4.us", "oauth2accesstoken",
	} {
		if tokenLike(name) {
			t.Errorf("%s is taken for a token", name)
		}
	}
}

// What the environment's proxies are asked with is told of, by whatever variable they are named.
func TestEnvironment(t *testing.T) {
	at := &told{}
	env := map[string]string{"HTTPS_PROXY": "http://joe:pa55word-x9@proxy.example:3128", "all_proxy": "amy:s3cret@proxy.example", "http_proxy": "http://proxy.example", "HTTP_PROXY": "http://%zz@x"}
	Environment(func(name string) string { return env[name] }, at.tell)
	if want := []string{"am9lOnBhNTV3b3JkLXg5", "pa55word-x9", "YW15OnMzY3JldA==", "s3cret"}; !slices.Equal(at.all, want) {
		t.Errorf("told of %q, want %q", at.all, want)
	}
}

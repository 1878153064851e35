// Package outgoing tells which credentials leave with requests, before they leave: whoever masks texts knows them then, should a server
// or a proxy give them back.
//
// outgoing must not know where credentials come from, nor what is done with those it tells of.
package outgoing

import (
	"encoding/base64"
	"io"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
)

// maxForm bounds what is read of a form.
const maxForm = 1 << 20

// headers are those that hold a credential as it is, but for the scheme before it.
var headers = []string{"Authorization", "Proxy-Authorization", "X-Registry-Auth", "X-Auth-Token", "X-Amz-Security-Token", "Job-Token", "Private-Token"}

// proxied is the place of a proxy's user and password.
const proxied = "Proxy"

// fields are those of a form that hold one.
var fields = []string{"password", "refresh_token", "client_secret", "access_token", "assertion", "client_assertion", "subject_token"}

// Tell returns next with an eye on what it is given: tell is called with every credential of a request before next has the request, whole
// and not twice in a row; nil is next itself. It belongs inside of whatever adds credentials. Signatures of requests are no credentials.
func Tell(next http.RoundTripper, tell func(string)) http.RoundTripper {
	if tell == nil {
		return next
	}
	return &teller{next: next, tell: tell}
}

// Proxy is find, with tell called for the user and password of the proxy that it finds for a request.
func Proxy(find func(*http.Request) (*url.URL, error), tell func(string)) func(*http.Request) (*url.URL, error) {
	if tell == nil || find == nil {
		return find
	}
	t := &teller{tell: tell}
	return func(r *http.Request) (*url.URL, error) {
		u, err := find(r)
		if u != nil && u.User != nil {
			password, _ := u.User.Password()
			t.header(proxied, "Basic "+base64.StdEncoding.EncodeToString([]byte(u.User.Username()+":"+password)))
		}
		return u, err
	}
}

// proxies are the variables that name one, in capitals; they are read in small letters, too.
var proxies = []string{"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"}

// Environment calls tell with the users and passwords of all proxies that the environment names: not every library says which one it takes.
func Environment(getenv func(string) string, tell func(string)) {
	for _, name := range proxies {
		for _, name := range []string{name, strings.ToLower(name)} {
			text := getenv(name)
			if !strings.Contains(text, "://") {
				text = "http://" + text // as net/http takes it
			}
			_, _ = Proxy(func(*http.Request) (*url.URL, error) { return url.Parse(text) }, tell)(nil) // what is no address logs in nowhere
		}
	}
}

type teller struct {
	next http.RoundTripper
	tell func(string)

	mu   sync.Mutex
	last map[string]string // told of by header or field
}

// RoundTrip tells of the credentials and sends the request.
func (t *teller) RoundTrip(r *http.Request) (*http.Response, error) {
	for _, name := range headers {
		for _, value := range r.Header[name] {
			t.header(name, value)
		}
	}
	if r.Method == http.MethodPost && r.GetBody != nil {
		if kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type")); kind == "application/x-www-form-urlencoded" {
			t.form(r)
		}
	}
	return t.next.RoundTrip(r)
}

// news reports whether a value is another one than the last of its place.
func (t *teller) news(place, value string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if value == "" || t.last[place] == value {
		return false
	}
	if t.last == nil {
		t.last = map[string]string{}
	}
	t.last[place] = value
	return true
}

// signing are the schemes, in lower case, of signatures with what they are of.
var signing = []string{"aws4-", "goog4-", "sharedkey"}

// header tells of what a header holds: "Bearer TOKEN", "Basic BASE64" with the password in it, or a token alone.
func (t *teller) header(name, value string) {
	if !t.news(name, value) {
		return
	}
	value = strings.TrimSpace(value)
	scheme, credential, ok := strings.Cut(value, " ")
	if !ok || !strings.HasSuffix(name, "Authorization") && name != proxied {
		scheme, credential = "", value
	}
	if slices.ContainsFunc(signing, func(begin string) bool { return strings.HasPrefix(strings.ToLower(scheme), begin) }) {
		return
	}
	credential = strings.TrimSpace(credential)
	t.tell(credential)
	if !strings.EqualFold(scheme, "Basic") {
		return
	}
	pair, err := base64.StdEncoding.DecodeString(credential)
	if err != nil {
		return
	}
	user, password, _ := strings.Cut(string(pair), ":")
	if password != "" {
		t.tell(password)
	}
	if user != "" && (noPassword[password] || tokenLike(user)) {
		t.tell(user)
	}
}

// noPassword are those that stand beside a token in a user's place.
var noPassword = map[string]bool{"": true, "x-oauth-basic": true, "x": true, "X": true}

// shortestToken is how long a user is who may be a token.
const shortestToken = 20

// fewestTurns is how often letters and digits take turns at least in a token of one case.
const fewestTurns = 6

// tokenLike reports whether a user is made as tokens are, as nobody is called, or a part between dots is: those of a JSON Web Token, what is behind a
// kind of token (hvs.).
func tokenLike(user string) bool {
	return slices.ContainsFunc(strings.FieldsFunc(strings.TrimRight(user, "="), func(r rune) bool { return r == '.' || r == '~' }), made)
}

// made reports whether a text is long, of capital and small letters and digits, or has a part (behind dop_v1_) that is of letters and digits alone which
// take turns again and again, as in hexadecimal.
func made(text string) bool {
	small, capital, digit, since, turns, turning := false, false, false, 0, 0, false
	for i, r := range text {
		isDigit := r >= '0' && r <= '9'
		switch {
		case isDigit:
			digit = true
		case r >= 'a' && r <= 'z':
			small = true
		case r >= 'A' && r <= 'Z':
			capital = true
		case r != '_' && r != '-':
			return false
		default:
			since, turns = i+1, 0
			continue
		}
		if i > since && isDigit != (text[i-1] >= '0' && text[i-1] <= '9') {
			turns++
		}
		turning = turning || turns >= fewestTurns && i-since+1 >= shortestToken
	}
	return turning || len(text) >= shortestToken && small && capital && digit
}

// form tells of what a form holds that is sent for a token.
func (t *teller) form(r *http.Request) {
	body, err := r.GetBody()
	if err != nil {
		return
	}
	defer func() { _ = body.Close() }()
	data, err := io.ReadAll(io.LimitReader(body, maxForm))
	if err != nil {
		return
	}
	values, _ := url.ParseQuery(string(data)) // what of it can be read
	for _, field := range fields {
		if value := values.Get(field); t.news("form "+field, value) {
			t.tell(value)
		}
	}
}

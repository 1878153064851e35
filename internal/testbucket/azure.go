package testbucket

import (
	"cmp"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/xml"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// What requests to Azure must be signed with, or carry.
const (
	Account = "acmereleases"
	// Key is one of the account's.
	Key = "c2VjcmV0LW9mLXRoZS10ZXN0LWFjY291bnQtd2hpY2gtaXMtbG9uZw=="
	// SAS is a shared access signature of the container; the server looks whether it is this one.
	SAS = "sv=2025-07-05&sr=c&sp=racwdl&se=2099-01-01T00%3A00%3A00Z&sig=c2lnbmF0dXJlLW9mLXRoZS1zYXM%3D"
)

// Azure is Azure Blob Storage with the container Bucket in the account Account.
type Azure struct {
	*Front
	blobs
	// Token is a bearer token that lets in, "" for none.
	Token string
}

// NewAzure starts a server whose clock is so far ahead, and ends it with the test. tls: it speaks HTTPS, without which no client
// sends a token.
func NewAzure(t testing.TB, ahead time.Duration, tls bool) *Azure {
	t.Helper()
	a := &Azure{}
	a.ahead = ahead
	a.Front = Open(t, ahead, tls, a.vouched, http.HandlerFunc(a.serve))
	return a
}

// azureError answers as the service does: the code is in a header, too.
func azureError(w http.ResponseWriter, r *http.Request, code int, reason, message string) {
	w.Header().Set("x-ms-error-code", reason)
	w.Header().Set("Content-Type", "application/xml")
	w.WriteHeader(code)
	if r.Method != http.MethodHead {
		_, _ = io.WriteString(w, `<?xml version="1.0" encoding="utf-8"?><Error><Code>`+reason+"</Code><Message>"+message+"\nRequestId:1\nTime:2026-01-01T00:00:00Z</Message></Error>")
	}
}

// vouched lets in who has the account's key, the shared access signature or the token.
func (a *Azure) vouched(w http.ResponseWriter, r *http.Request, body []byte) bool {
	if r.Header.Get("X-Ms-Version") == "" && r.URL.Query().Get("sv") == "" {
		azureError(w, r, http.StatusBadRequest, "InvalidHeaderValue", "no version")
		return false
	}
	auth := r.Header.Get("Authorization")
	switch {
	case a.Token != "" && auth == "Bearer "+a.Token:
		return true
	case strings.HasPrefix(auth, "SharedKey "):
		if auth == "SharedKey "+Account+":"+sharedKey(r, len(body)) {
			return true
		}
	case auth == "":
		want, err := url.ParseQuery(SAS)
		got := r.URL.Query()
		missing := func(name string) bool { return got.Get(name) != want.Get(name) }
		if err == nil && !slices.ContainsFunc([]string{"sv", "sr", "sp", "se", "sig"}, missing) {
			return true
		}
	}
	azureError(w, r, http.StatusForbidden, "AuthenticationFailed", "Server failed to authenticate the request. Make sure the value of Authorization header is formed correctly including the signature.")
	return false
}

// sharedKey signs a request as the documentation of "Authorize with Shared Key" has it.
func sharedKey(r *http.Request, size int) string {
	length := ""
	if size > 0 {
		length = strconv.Itoa(size)
	}
	h := r.Header
	text := []string{r.Method, h.Get("Content-Encoding"), h.Get("Content-Language"), length, h.Get("Content-Md5"), h.Get("Content-Type"), "" /* the date is x-ms-date */, h.Get("If-Modified-Since"),
		h.Get("If-Match"), h.Get("If-None-Match"), h.Get("If-Unmodified-Since"), h.Get("Range")}
	var names []string
	for name := range h {
		if name = strings.ToLower(name); strings.HasPrefix(name, "x-ms-") {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, name := range names {
		text = append(text, name+":"+strings.Join(h.Values(name), ","))
	}
	text = append(text, "/"+Account+r.URL.EscapedPath())
	query := r.URL.Query()
	var keys []string
	for key := range query {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	for _, key := range keys {
		values := query[key]
		slices.Sort(values)
		text = append(text, strings.ToLower(key)+":"+strings.Join(values, ","))
	}
	key, err := base64.StdEncoding.DecodeString(Key)
	if err != nil || h.Get("X-Ms-Date") == "" {
		return "none"
	}
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(strings.Join(text, "\n")))
	return base64.StdEncoding.EncodeToString(mac.Sum(nil))
}

func (a *Azure) serve(w http.ResponseWriter, r *http.Request) {
	path := strings.TrimPrefix(strings.TrimPrefix(r.URL.Path, "/"+Account), "/") // emulators have the account in the path
	name, key, isBlob := strings.Cut(path, "/")
	q := r.URL.Query()
	switch {
	case name != Bucket:
		azureError(w, r, http.StatusNotFound, "ContainerNotFound", "The specified container does not exist.")
	case !isBlob && r.Method == http.MethodGet && q.Get("restype") == "container" && q.Get("comp") == "list":
		a.list(w, r, q)
	case isBlob && r.Method == http.MethodPut && r.Header.Get("X-Ms-Blob-Type") == "BlockBlob":
		a.put(w, r, key)
	case isBlob && r.Method == http.MethodGet:
		h, ok := a.get(key)
		if !ok {
			azureError(w, r, http.StatusNotFound, "BlobNotFound", "The specified blob does not exist.")
			return
		}
		w.Header().Set("Last-Modified", h.at.UTC().Format(http.TimeFormat))
		w.Header().Set("Content-Length", strconv.Itoa(len(h.data)))
		_, _ = w.Write(h.data)
	case isBlob && r.Method == http.MethodDelete:
		if !a.remove(key) {
			azureError(w, r, http.StatusNotFound, "BlobNotFound", "The specified blob does not exist.")
			return
		}
		w.WriteHeader(http.StatusAccepted)
	default:
		azureError(w, r, http.StatusBadRequest, "InvalidUri", "The request URI is invalid.")
	}
}

func (a *Azure) put(w http.ResponseWriter, r *http.Request, key string) {
	if r.Header.Get("If-None-Match") != "*" {
		azureError(w, r, http.StatusBadRequest, "InvalidHeaderValue", "a write without a condition")
		return
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	if !a.create(key, body) {
		azureError(w, r, http.StatusConflict, "BlobAlreadyExists", "The specified blob already exists.")
		return
	}
	w.WriteHeader(http.StatusCreated)
}

// azureList is the answer of List Blobs.
type azureList struct {
	XMLName xml.Name    `xml:"EnumerationResults"`
	Prefix  string      `xml:"Prefix"`
	Blobs   []azureBlob `xml:"Blobs>Blob"`
	Next    string      `xml:"NextMarker"`
}

type azureBlob struct {
	Name     string `xml:"Name"`
	Modified string `xml:"Properties>Last-Modified"`
	Kind     string `xml:"Properties>ResourceType"`
}

// list gives a page. As in accounts with directories, those are listed, too.
func (a *Azure) list(w http.ResponseWriter, _ *http.Request, q url.Values) {
	most, err := strconv.Atoi(cmp.Or(q.Get("maxresults"), strconv.Itoa(pageSize)))
	if err != nil {
		most = pageSize
	}
	keys, more := a.page(q.Get("prefix"), q.Get("marker"), min(most, pageSize))
	out := azureList{Prefix: q.Get("prefix")}
	for _, key := range keys {
		h, _ := a.get(key)
		at := h.at.UTC().Format(http.TimeFormat)
		if dir, _, ok := strings.Cut(strings.TrimPrefix(key, out.Prefix), "/"); ok {
			out.Blobs = append(out.Blobs, azureBlob{out.Prefix + dir, at, "directory"})
		}
		out.Blobs = append(out.Blobs, azureBlob{key, at, "file"})
	}
	if more {
		out.Next = keys[len(keys)-1]
	}
	w.Header().Set("Content-Type", "application/xml")
	_, _ = io.WriteString(w, xml.Header)
	_ = xml.NewEncoder(w).Encode(out)
}

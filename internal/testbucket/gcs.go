package testbucket

import (
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// GCS is Google Cloud Storage with the bucket Bucket, and the server of tokens for one service account.
type GCS struct {
	*Front
	blobs

	email  string
	key    *rsa.PrivateKey
	mu     sync.Mutex
	issued map[string]time.Time
	life   time.Duration
	tokens int
}

const tokenPath = "/token"

// NewGCS starts a server whose clock is so far ahead, and ends it with the test.
func NewGCS(t testing.TB, ahead time.Duration) *GCS {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	g := &GCS{email: "hawser@acme.iam.gserviceaccount.com", key: key, issued: map[string]time.Time{}, life: time.Hour}
	g.ahead = ahead
	mux := http.NewServeMux()
	mux.HandleFunc("POST "+tokenPath, g.grant)
	mux.HandleFunc("POST /upload/storage/v1/b/{bucket}/o", g.insert)
	mux.HandleFunc("GET /storage/v1/b/{bucket}/o", g.list)
	mux.HandleFunc("GET /storage/v1/b/{bucket}/o/{object}", g.read)
	mux.HandleFunc("DELETE /storage/v1/b/{bucket}/o/{object}", g.delete)
	g.Front = Open(t, ahead, false, g.vouched, mux)
	return g
}

// Key is the service account's, as gcloud writes it to a file.
func (g *GCS) Key(t testing.TB) []byte {
	t.Helper()
	der, err := x509.MarshalPKCS8PrivateKey(g.key)
	if err != nil {
		t.Fatal(err)
	}
	out, err := json.Marshal(map[string]string{"type": "service_account", "project_id": "acme", "private_key_id": "1", "client_email": g.email,
		"private_key": string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})), "token_uri": g.URL + tokenPath})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// Granted is how many tokens were given out.
func (g *GCS) Granted() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.tokens
}

// grant gives a token for an assertion (RFC 7523) that the service account has signed.
func (g *GCS) grant(w http.ResponseWriter, r *http.Request) {
	refuse := func(why string) {
		w.WriteHeader(http.StatusBadRequest)
		_ = json.NewEncoder(w).Encode(map[string]string{"error": "invalid_grant", "error_description": why})
	}
	parts := strings.Split(r.FormValue("assertion"), ".")
	if r.FormValue("grant_type") != "urn:ietf:params:oauth:grant-type:jwt-bearer" || len(parts) != 3 {
		refuse("no assertion")
		return
	}
	sum := sha256.Sum256([]byte(parts[0] + "." + parts[1]))
	signature, err := base64.RawURLEncoding.DecodeString(parts[2])
	if err != nil || rsa.VerifyPKCS1v15(&g.key.PublicKey, crypto.SHA256, sum[:], signature) != nil {
		refuse("Invalid JWT Signature.")
		return
	}
	var claims struct {
		Iss, Aud, Scope string
		Exp, Iat        int64
	}
	body, err := base64.RawURLEncoding.DecodeString(parts[1])
	if err != nil || json.Unmarshal(body, &claims) != nil || claims.Iss != g.email || claims.Aud != g.URL+tokenPath ||
		claims.Scope != "https://www.googleapis.com/auth/devstorage.read_write" || claims.Exp < time.Now().Unix() || claims.Exp > time.Now().Add(2*time.Hour).Unix() {
		refuse("the claims are others")
		return
	}
	token := "token-" + rand.Text()
	g.mu.Lock()
	g.issued[token] = time.Now().Add(g.life)
	g.tokens++
	g.mu.Unlock()
	_ = json.NewEncoder(w).Encode(map[string]any{"access_token": token, "token_type": "Bearer", "expires_in": int(g.life.Seconds())})
}

// vouched lets in who has a token that was given out here.
func (g *GCS) vouched(w http.ResponseWriter, r *http.Request, _ []byte) bool {
	if r.URL.Path == tokenPath {
		return true
	}
	token, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	g.mu.Lock()
	until, ok := g.issued[token]
	g.mu.Unlock()
	if ok && time.Now().Before(until) {
		return true
	}
	gcsError(w, http.StatusUnauthorized, "authError", "Invalid Credentials")
	return false
}

// gcsError answers as the JSON API does.
func gcsError(w http.ResponseWriter, code int, reason, message string) {
	w.Header().Set("Content-Type", "application/json; charset=UTF-8")
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(map[string]any{"error": map[string]any{"code": code, "message": message,
		"errors": []map[string]string{{"message": message, "domain": "global", "reason": reason}}}})
}

// there reports whether the bucket is, else it says so.
func there(w http.ResponseWriter, r *http.Request) bool {
	if r.PathValue("bucket") == Bucket {
		return true
	}
	gcsError(w, http.StatusNotFound, "notFound", "The specified bucket does not exist.")
	return false
}

func (g *GCS) insert(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	if !there(w, r) {
		return
	}
	if q.Get("uploadType") != "media" || q.Get("name") == "" || q.Get("ifGenerationMatch") != "0" {
		gcsError(w, http.StatusBadRequest, "invalid", "an upload without a name or a condition")
		return
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	if !g.create(q.Get("name"), body) {
		gcsError(w, http.StatusPreconditionFailed, "conditionNotMet", "At least one of the pre-conditions you specified did not hold.")
		return
	}
	_ = json.NewEncoder(w).Encode(map[string]string{"generation": "1"})
}

func (g *GCS) list(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	if !there(w, r) {
		return
	}
	most := pageSize
	if n, err := strconv.Atoi(q.Get("maxResults")); err == nil {
		most = min(n, most)
	}
	after, err := base64.URLEncoding.DecodeString(q.Get("pageToken"))
	if err != nil {
		gcsError(w, http.StatusBadRequest, "invalid", "Invalid page token")
		return
	}
	keys, more := g.page(q.Get("prefix"), string(after), most)
	out := map[string]any{"kind": "storage#objects"}
	var items []map[string]string
	for _, key := range keys {
		h, _ := g.get(key)
		items = append(items, map[string]string{"name": key, "timeCreated": h.at.UTC().Format("2006-01-02T15:04:05.000Z")})
	}
	if items != nil && q.Get("fields") != "kind" {
		out["items"] = items
	}
	if more {
		out["nextPageToken"] = base64.URLEncoding.EncodeToString([]byte(keys[len(keys)-1]))
	}
	_ = json.NewEncoder(w).Encode(out)
}

func (g *GCS) read(w http.ResponseWriter, r *http.Request) {
	if !there(w, r) {
		return
	}
	h, ok := g.get(r.PathValue("object"))
	if !ok || r.URL.Query().Get("alt") != "media" { // media is answered with text where it fails
		w.WriteHeader(http.StatusNotFound)
		_, _ = io.WriteString(w, "No such object: "+Bucket+"/"+r.PathValue("object"))
		return
	}
	w.Header().Set("Content-Type", "application/octet-stream")
	w.Header().Set("Content-Length", strconv.Itoa(len(h.data)))
	_, _ = w.Write(h.data)
}

func (g *GCS) delete(w http.ResponseWriter, r *http.Request) {
	if !there(w, r) {
		return
	}
	if !g.remove(r.PathValue("object")) {
		gcsError(w, http.StatusNotFound, "notFound", "No such object: "+Bucket+"/"+r.PathValue("object"))
		return
	}
	w.WriteHeader(http.StatusNoContent)
}

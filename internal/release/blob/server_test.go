package blob

import (
	"context"
	"encoding/base64"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/container"

	"hawser.dev/hawser/internal/release"
	"hawser.dev/hawser/internal/release/storetest"
	"hawser.dev/hawser/internal/testbucket"
)

// quick is how test servers are asked.
var quick = Server{UserAgent: "hawser/test", Wait: 5 * time.Millisecond}

func gcsOptions(t *testing.T, server *testbucket.GCS) GCSOptions {
	return GCSOptions{Bucket: testbucket.Bucket, Prefix: "/team a/prod/", Endpoint: server.URL, Key: server.Key(t), Server: quick}
}

func openGCS(t *testing.T, o GCSOptions) *GCS {
	t.Helper()
	b, err := NewGCS(o)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// azureOptions are those of a test server, as an emulator has them: the account stands in the path.
func azureOptions(server *testbucket.Azure) AzureOptions {
	return AzureOptions{Account: testbucket.Account, Container: testbucket.Bucket, Prefix: "/team a/prod/", Endpoint: server.URL + "/" + testbucket.Account, Key: testbucket.Key, Server: quick}
}

func openAzure(t *testing.T, o AzureOptions) *Azure {
	t.Helper()
	b, err := NewAzure(o)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// clouds start a server each, with a bucket in it; change may be nil.
var clouds = map[string]func(t *testing.T, ahead time.Duration, change func(*Server, *string)) (*testbucket.Front, Bucket){
	"gcs": func(t *testing.T, ahead time.Duration, change func(*Server, *string)) (*testbucket.Front, Bucket) {
		server := testbucket.NewGCS(t, ahead)
		o := gcsOptions(t, server)
		if change != nil {
			change(&o.Server, &o.Bucket)
		}
		return server.Front, openGCS(t, o)
	},
	"azure": func(t *testing.T, ahead time.Duration, change func(*Server, *string)) (*testbucket.Front, Bucket) {
		server := testbucket.NewAzure(t, ahead, false)
		o := azureOptions(server)
		if change != nil {
			change(&o.Server, &o.Container)
		}
		return server.Front, openAzure(t, o)
	},
}

// eachCloud runs a test with every cloud.
func eachCloud(t *testing.T, ahead time.Duration, change func(*Server, *string), test func(t *testing.T, server *testbucket.Front, b Bucket)) {
	for name, start := range clouds {
		t.Run(name, func(t *testing.T) {
			server, b := start(t, ahead, change)
			test(t, server, b)
		})
	}
}

// TestGCS is the conformance suite of stores on Google Cloud Storage.
func TestGCS(t *testing.T) {
	server := testbucket.NewGCS(t, 0)
	storetest.Run(t, func(t *testing.T) release.Store { return open(t, openGCS(t, gcsOptions(t, server))) })
}

// TestAzure is the conformance suite of stores on Azure Blob Storage, whose requests are signed with a key of the account.
func TestAzure(t *testing.T) {
	server := testbucket.NewAzure(t, 0, false)
	storetest.Run(t, func(t *testing.T) release.Store { return open(t, openAzure(t, azureOptions(server))) })
}

// TestCloudClockIsAnHourWrong: locks expire by the server's clock alone.
func TestCloudClockIsAnHourWrong(t *testing.T) {
	for _, ahead := range []time.Duration{-time.Hour, time.Hour} {
		eachCloud(t, ahead, nil, func(t *testing.T, _ *testbucket.Front, b Bucket) {
			s := open(t, b)
			l, err := s.Lock(t.Context(), "owner", "ann", time.Minute)
			if err != nil {
				t.Fatal(err)
			}
			_, err = s.Lock(t.Context(), "owner", "bob", time.Minute)
			locked, ok := errors.AsType[*release.LockedError](err)
			if !ok || time.Until(locked.Expires) > 2*time.Minute || time.Until(locked.Expires) < 0 || time.Since(locked.Since) > time.Minute {
				t.Errorf("%s: %v", ahead, err)
			}
			if err := l.Unlock(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestCloudsLoseAnswers: every third request is carried out and answered with 500, with nothing, or with the half of its answer: nothing is
// lost, nothing done twice.
func TestCloudsLoseAnswers(t *testing.T) {
	for name, fault := range map[string]func(*testbucket.Front, func(*http.Request) bool) testbucket.Fault{
		"500":     func(f *testbucket.Front, when func(*http.Request) bool) testbucket.Fault { return f.Then(500, when) },
		"503":     func(f *testbucket.Front, when func(*http.Request) bool) testbucket.Fault { return f.Then(503, when) },
		"nothing": func(f *testbucket.Front, when func(*http.Request) bool) testbucket.Fault { return f.Then(0, when) },
		"half":    func(f *testbucket.Front, when func(*http.Request) bool) testbucket.Fault { return f.Cut(when) },
	} {
		eachCloud(t, 0, nil, func(t *testing.T, server *testbucket.Front, b Bucket) {
			s := open(t, b)
			var n atomic.Int64
			server.Fail(fault(server, func(*http.Request) bool { return n.Add(1)%3 == 0 }))
			for number := 1; number <= 4; number++ {
				if err := revise(t.Context(), s, storetest.Record(t, number)); err != nil {
					t.Fatalf("%s, revision %d: %v", name, number, err)
				}
			}
			server.Fail(nil)
			if now := whole(t, s, storetest.Record(t, 1).Owner); now.Revision != 4 {
				t.Errorf("%s: revision %d", name, now.Revision)
			}
			orphans(t, s, storetest.Record(t, 1).Owner)
		})
	}
}

// TestCloudRefusals: what a server says that does not serve us is told in words, and not tried again for long.
func TestCloudRefusals(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*Server, *string)
		fault  testbucket.Fault
		want   string
		most   int
	}{
		"no such bucket": {change: func(_ *Server, bucket *string) { *bucket = "another" }, want: "make it, or correct releases.store.", most: 2}, // one is for a token
		"always busy":    {fault: testbucket.Answer(503), want: "503", most: attempts},
		"no answer":      {fault: testbucket.Answer(0), want: "EOF", most: 2 * attempts}, // one of them may be net/http's
		"no conditions":  {fault: testbucket.Answer(501), want: "does not know conditional writes", most: 2},
		"may not":        {fault: unlessToken(testbucket.Answer(403)), want: "lets these credentials not do that (403 Forbidden)", most: 2},
		"somewhere else": {fault: unlessToken(testbucket.Elsewhere("http://127.0.0.1:1/")), want: "leads to another one (307", most: 2},
	} {
		t.Run(name, func(t *testing.T) {
			eachCloud(t, 0, c.change, func(t *testing.T, server *testbucket.Front, b Bucket) {
				server.Fail(unlessToken(c.fault))
				err := b.Create(t.Context(), "a", []byte("x"))
				if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
					t.Errorf("error %v, want %s", err, c.want)
				}
				if n := len(server.Seen()); n > c.most+1 {
					t.Errorf("%d requests, want at most %d", n, c.most)
				}
			})
		})
	}
}

// unlessToken is a fault of the bucket, and not of the server of tokens.
func unlessToken(f testbucket.Fault) testbucket.Fault {
	return func(w http.ResponseWriter, r *http.Request) bool {
		return f != nil && r.URL.Path != "/token" && f(w, r)
	}
}

// verbs are all that a bucket is asked.
func verbs(ctx context.Context, b Bucket) map[string]func() error {
	return map[string]func() error{
		"get":    func() error { _, err := b.Get(ctx, "a", 10); return err },
		"create": func() error { return b.Create(ctx, "a", []byte("x")) },
		"list":   func() error { _, err := b.List(ctx, ""); return err },
		"delete": func() error { return b.Delete(ctx, "a") },
		"now":    func() error { _, err := b.Now(ctx); return err },
	}
}

// TestCloudsStayWhereTheyAre: a redirect to another host is not followed, and nothing of the request goes there: neither of the bucket's
// nor of the one for a token.
func TestCloudsStayWhereTheyAre(t *testing.T) {
	var asked atomic.Int64
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked.Add(1) }))
	defer other.Close()
	eachCloud(t, 0, nil, func(t *testing.T, server *testbucket.Front, b Bucket) {
		server.Fail(testbucket.Elsewhere(other.URL + "/x"))
		for name, do := range verbs(t.Context(), b) {
			if err := do(); err == nil {
				t.Errorf("%s: no error", name)
			}
		}
		server.Fail(unlessToken(testbucket.Elsewhere(other.URL + "/x")))
		for name, do := range verbs(t.Context(), b) {
			if err := do(); err == nil || errors.Is(err, ErrAbsent) {
				t.Errorf("%s: %v", name, err)
			}
		}
	})
	if asked.Load() > 0 {
		t.Errorf("%d requests came to the other host", asked.Load())
	}
}

// TestCloudAnswersAreBounded: an object that is larger than what we write, or does not come to its end, is an error and not memory; a
// server that is silent is given up.
func TestCloudAnswersAreBounded(t *testing.T) {
	eachCloud(t, 0, func(s *Server, _ *string) { s.Attempt = 300 * time.Millisecond }, func(t *testing.T, server *testbucket.Front, b Bucket) {
		if err := b.Create(t.Context(), "big", make([]byte, 1<<20)); err != nil {
			t.Fatal(err)
		}
		if _, err := b.Get(t.Context(), "big", 1<<10); err == nil || !strings.Contains(err.Error(), "at most 1024 are read") {
			t.Errorf("error %v", err)
		}
		server.Fail(server.Cut(func(*http.Request) bool { return true }))
		if data, err := b.Get(t.Context(), "big", 1<<21); err == nil || errors.Is(err, ErrAbsent) {
			t.Errorf("%d bytes of a half answer, %v", len(data), err)
		}
		release := make(chan struct{})
		defer close(release)
		server.Fail(testbucket.Hang(release))
		began := time.Now()
		if _, err := b.Get(t.Context(), "big", 1<<21); err == nil || !strings.Contains(err.Error(), "no answer within") || time.Since(began) > 20*time.Second {
			t.Errorf("after %s: %v", time.Since(began), err)
		}
	})
}

// TestCloudListings: all pages come, sorted, and nothing but blobs below the prefix.
func TestCloudListings(t *testing.T) {
	eachCloud(t, 0, nil, func(t *testing.T, server *testbucket.Front, b Bucket) {
		var want []string
		for _, key := range []string{"a/1", "a/2", "a/b/1", "a/b/2", "a/b/3", "a/b/4", "a/c", "b/1"} {
			if err := b.Create(t.Context(), key, []byte(key)); err != nil {
				t.Fatal(err)
			}
			if err := b.Create(t.Context(), key, []byte("other")); !errors.Is(err, ErrExists) {
				t.Errorf("%s twice: %v", key, err)
			}
			if strings.HasPrefix(key, "a/") {
				want = append(want, key)
			}
		}
		list, err := b.List(t.Context(), "a/")
		var got []string
		for _, e := range list {
			got = append(got, e.Key)
			if time.Since(e.Modified).Abs() > time.Minute {
				t.Errorf("%s was made at %s", e.Key, e.Modified)
			}
		}
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%v %v, want %v", got, err, want)
		}
		if data, err := b.Get(t.Context(), "a/b/3", 10); string(data) != "a/b/3" || err != nil {
			t.Errorf("%q %v", data, err)
		}
		for range 2 {
			if err := b.Delete(t.Context(), "a/b/3"); err != nil {
				t.Error(err)
			}
		}
		if _, err := b.Get(t.Context(), "a/b/3", 10); !errors.Is(err, ErrAbsent) {
			t.Error(err)
		}
	})
}

// TestGCSTokens: one token serves many requests; a key that is another one is refused in words that do not hold it; a server of tokens that
// fails is asked again; what is no key of a service account is never used.
func TestGCSTokens(t *testing.T) {
	server := testbucket.NewGCS(t, 0)
	b := openGCS(t, gcsOptions(t, server))
	for range 5 {
		if _, err := b.List(t.Context(), ""); err != nil {
			t.Fatal(err)
		}
	}
	if n := server.Granted(); n != 1 {
		t.Errorf("%d tokens for five requests", n)
	}
	o := gcsOptions(t, server)
	o.Key = []byte(strings.Replace(string(testbucket.NewGCS(t, 0).Key(t)), `"token_uri":"`, `"token_uri":"`+server.URL+`/token","x":"`, 1))
	if _, err := openGCS(t, o).List(t.Context(), ""); err == nil || !strings.Contains(err.Error(), "invalid_grant") || strings.Contains(err.Error(), "PRIVATE") {
		t.Errorf("another key: %v", err)
	}
	var n atomic.Int64
	server.Fail(func(w http.ResponseWriter, r *http.Request) bool {
		return r.URL.Path == "/token" && n.Add(1) < 3 && testbucket.Answer(503)(w, r)
	})
	if err := openGCS(t, gcsOptions(t, server)).Create(t.Context(), "a", []byte("x")); err != nil || n.Load() != 3 {
		t.Errorf("after %d tries: %v", n.Load(), err)
	}
	for _, key := range []string{"hunter2", "{}", `{"type":"external_account","credential_source":{"file":"/etc/passwd"},"token_url":"https://evil.example.com"}`,
		`{"type":"service_account","installed":{"client_id":"hunter2"}}`, `{"type":"authorized_user","refresh_token":"hunter2"}`} {
		o.Key = []byte(key)
		if _, err := NewGCS(o); err == nil || !strings.Contains(err.Error(), "no key of a service account") || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: %v", key, err)
		}
	}
}

// TestMachinesCredentialsStayAtHome: what Google's and Azure's tools find on a machine goes to no endpoint of a fleet's file.
func TestMachinesCredentialsStayAtHome(t *testing.T) {
	server := testbucket.NewGCS(t, 0)
	o := gcsOptions(t, server)
	key := t.TempDir() + "/key.json"
	writeFile(t, key, o.Key)
	t.Setenv("GOOGLE_APPLICATION_CREDENTIALS", key)
	o.Key = nil
	if _, err := openGCS(t, o).List(t.Context(), ""); err == nil || !strings.Contains(err.Error(), "401") || server.Granted() > 0 {
		t.Errorf("%d tokens, %v", server.Granted(), err)
	}
	for _, endpoint := range []string{"https://storage.googleapis.com", "https://storage.me-central2.rep.googleapis.com", ""} {
		o.Endpoint = endpoint
		if openGCS(t, o).tokens == nil {
			t.Errorf("%s is asked without credentials", endpoint)
		}
	}
	for _, endpoint := range []string{"http://storage.googleapis.com", "https://evilgoogleapis.com", "https://googleapis.com.example.com"} {
		o.Endpoint = endpoint
		if openGCS(t, o).tokens != nil {
			t.Errorf("%s is asked with the machine's credentials", endpoint)
		}
	}
	for endpoint, home := range map[string]bool{"": true, "https://acmereleases.blob.core.usgovcloudapi.net": true, "https://blob.core.windows.net.example.com": false, "http://acmereleases.blob.core.windows.net": false} {
		_, err := NewAzure(AzureOptions{Account: testbucket.Account, Container: "c", Endpoint: endpoint})
		if (err == nil) != home {
			t.Errorf("%s: %v", endpoint, err)
		}
	}
}

// TestAzureCredentials: a shared access signature, a token, and what is wrong with either, in words that do not hold them.
func TestAzureCredentials(t *testing.T) {
	server := testbucket.NewAzure(t, 0, false)
	o := azureOptions(server)
	o.Key, o.SAS = "", "?"+testbucket.SAS
	for name, do := range verbs(t.Context(), openAzure(t, o)) {
		if err := do(); err != nil && !errors.Is(err, ErrAbsent) && !errors.Is(err, ErrExists) {
			t.Errorf("%s with a shared access signature: %v", name, err)
		}
	}
	o.SAS = strings.Replace(testbucket.SAS, "sig=", "sig=hunter2%2F", 1)
	server.Fail(nil)
	if _, err := openAzure(t, o).List(t.Context(), ""); err == nil || !strings.Contains(err.Error(), "403 AuthenticationFailed") || strings.Contains(err.Error(), "hunter2") {
		t.Errorf("another signature: %v", err)
	}
	o.SAS, o.Endpoint = testbucket.SAS, "http://127.0.0.1:1/"+testbucket.Account
	if _, err := openAzure(t, o).List(t.Context(), ""); err == nil || strings.Contains(err.Error(), "sig=") || strings.Contains(err.Error(), "c2lnbmF0dXJl") {
		t.Errorf("nobody answers: %v", err)
	}
	o = azureOptions(server)
	o.Key = base64.StdEncoding.EncodeToString([]byte("hunter2-another-key"))
	if err := openAzure(t, o).Create(t.Context(), "a", []byte("x")); err == nil || !strings.Contains(err.Error(), "Storage Blob Data Contributor") || strings.Contains(err.Error(), o.Key) {
		t.Errorf("another key: %v", err)
	}
	for _, change := range []func(*AzureOptions){func(o *AzureOptions) { o.Key = "hunter2!" }, func(o *AzureOptions) { o.Key, o.SAS = "", "https://hunter2.example.com/?x" }} {
		bad := azureOptions(server)
		change(&bad)
		if _, err := NewAzure(bad); err == nil || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%v", err)
		}
	}
}

// TestAzureWithoutCredentials: nothing is sent without, and what was looked for is named.
func TestAzureWithoutCredentials(t *testing.T) {
	t.Setenv("AZURE_TOKEN_CREDENTIALS", "EnvironmentCredential")
	for _, name := range []string{"AZURE_TENANT_ID", "AZURE_CLIENT_ID", "AZURE_CLIENT_SECRET"} {
		t.Setenv(name, "")
	}
	o := AzureOptions{Account: testbucket.Account, Container: testbucket.Bucket, Server: quick}
	if err := openAzure(t, o).Create(t.Context(), "a", nil); !errors.Is(err, errCredentials) || !strings.Contains(err.Error(), "AZURE_TENANT_ID") || strings.Contains(err.Error(), "\n") {
		t.Errorf("%v", err)
	}
}

// TestGCSWithoutCredentials: likewise.
func TestGCSWithoutCredentials(t *testing.T) {
	t.Setenv("GOOGLE_APPLICATION_CREDENTIALS", t.TempDir()+"/none.json")
	if err := openGCS(t, GCSOptions{Bucket: "b", Server: quick}).Create(t.Context(), "a", nil); !errors.Is(err, errCredentials) || !strings.Contains(err.Error(), "gcloud auth") {
		t.Errorf("%v", err)
	}
}

// fixedToken is a credential that gives one token.
type fixedToken string

// GetToken gives it.
func (f fixedToken) GetToken(context.Context, policy.TokenRequestOptions) (azcore.AccessToken, error) {
	return azcore.AccessToken{Token: string(f), ExpiresOn: time.Now().Add(time.Hour)}, nil
}

func writeFile(t *testing.T, name string, data []byte) {
	t.Helper()
	if err := os.WriteFile(name, data, 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestAzureToken: a token of an identity lets in, over TLS alone.
func TestAzureToken(t *testing.T) {
	server := testbucket.NewAzure(t, 0, true)
	server.Token = "token-of-an-identity"
	o := azureOptions(server)
	b := openAzure(t, o)
	b.transport.RoundTripper = server.Server.Client().Transport
	var err error
	options := &container.ClientOptions{ClientOptions: azcore.ClientOptions{Transport: b.transport, Retry: policy.RetryOptions{MaxRetries: -1}}}
	if b.client, err = container.NewClient(o.Endpoint+"/"+testbucket.Bucket, azureChain{fixedToken(server.Token), quick}, options); err != nil {
		t.Fatal(err)
	}
	if err := b.Create(t.Context(), "a", []byte("x")); err != nil {
		t.Error(err)
	}
	if data, err := b.Get(t.Context(), "a", 10); string(data) != "x" || err != nil {
		t.Errorf("%q %v", data, err)
	}
	if b.client, err = container.NewClient(strings.Replace(o.Endpoint, "https:", "http:", 1)+"/"+testbucket.Bucket, azureChain{fixedToken(server.Token), quick}, options); err != nil {
		t.Fatal(err)
	}
	server.Seen()
	if _, err := b.Get(t.Context(), "a", 10); err == nil || len(server.Seen()) > 0 {
		t.Errorf("sent without TLS: %v", err)
	}
}

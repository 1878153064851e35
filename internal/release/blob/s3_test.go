package blob

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"hawser.dev/hawser/internal/release"
	"hawser.dev/hawser/internal/release/storetest"
	"hawser.dev/hawser/internal/testbucket"
	"hawser.dev/hawser/internal/tests3"
)

// s3Options are those of a test server's bucket.
func s3Options(server *tests3.Server) S3Options {
	return S3Options{Bucket: tests3.Bucket, Prefix: "/team a/prod/", Endpoint: server.URL, Region: tests3.Region, Server: Server{UserAgent: "hawser/test", Wait: 5 * time.Millisecond},
		Credentials: S3Credentials{AccessKeyID: tests3.AccessKeyID, SecretAccessKey: tests3.SecretAccessKey}}
}

func openS3(t *testing.T, o S3Options) *S3 {
	t.Helper()
	b, err := NewS3(o)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestS3 is the conformance suite of stores on a real S3 server.
func TestS3(t *testing.T) {
	server := tests3.New(t, 0)
	storetest.Run(t, func(t *testing.T) release.Store { return open(t, openS3(t, s3Options(server))) })
}

// TestS3ClockIsAnHourWrong: locks expire by the server's clock alone.
func TestS3ClockIsAnHourWrong(t *testing.T) {
	for _, ahead := range []time.Duration{-time.Hour, time.Hour} {
		server := tests3.New(t, ahead)
		s := open(t, openS3(t, s3Options(server)))
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
	}
}

// TestS3LosesAnswers: every third request is carried out and answered with 500, or with nothing: nothing is lost, nothing done twice.
func TestS3LosesAnswers(t *testing.T) {
	for _, code := range []int{500, 503, 0} {
		server := tests3.New(t, 0)
		s := open(t, openS3(t, s3Options(server)))
		var n atomic.Int64
		server.Fail(server.Then(code, func(*http.Request) bool { return n.Add(1)%3 == 0 }))
		for number := 1; number <= 4; number++ {
			if err := revise(t.Context(), s, storetest.Record(t, number)); err != nil {
				t.Fatalf("answer %d, revision %d: %v", code, number, err)
			}
		}
		server.Fail(nil)
		if now := whole(t, s, storetest.Record(t, 1).Owner); now.Revision != 4 {
			t.Errorf("answer %d: revision %d", code, now.Revision)
		}
		orphans(t, s, storetest.Record(t, 1).Owner)
	}
}

// TestS3Refusals: what a server says that does not serve us is told in words, and not tried again for long.
func TestS3Refusals(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*S3Options)
		fault  testbucket.Fault
		want   string
		most   int
	}{
		"no such bucket":       {change: func(o *S3Options) { o.Bucket = "another" }, want: "there is no bucket another", most: 1},
		"wrong key":            {change: func(o *S3Options) { o.Credentials.SecretAccessKey = "hunter2-wrong" }, want: "the server lets these credentials not do that (403 SignatureDoesNotMatch", most: 1},
		"always busy":          {fault: testbucket.Answer(503), want: "the server answers 503", most: attempts},
		"no answer":            {fault: testbucket.Answer(0), want: "Connection closed", most: 2 * attempts}, // one of them may be net/http's
		"no conditions":        {fault: notImplemented, want: "does not know conditional writes", most: 1},
		"leads somewhere else": {fault: testbucket.Elsewhere("http://127.0.0.1:1/"), want: "leads to another one (307", most: 1},
	} {
		t.Run(name, func(t *testing.T) {
			server := tests3.New(t, 0)
			server.Fail(c.fault)
			o := s3Options(server)
			if c.change != nil {
				c.change(&o)
			}
			err := openS3(t, o).Create(t.Context(), "a", []byte("x"))
			if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "hunter2") {
				t.Errorf("error %v, want %s", err, c.want)
			}
			if n := len(server.Seen()); n > c.most {
				t.Errorf("%d requests, want at most %d", n, c.most)
			}
		})
	}
}

func notImplemented(w http.ResponseWriter, _ *http.Request) bool {
	w.WriteHeader(http.StatusNotImplemented)
	_, _ = io.WriteString(w, "<Error><Code>NotImplemented</Code></Error>")
	return true
}

// TestS3StaysWhereItIs: a redirect to another host is not followed, and nothing of the request goes there.
func TestS3StaysWhereItIs(t *testing.T) {
	var asked atomic.Int64
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked.Add(1) }))
	defer other.Close()
	server := tests3.New(t, 0)
	server.Fail(testbucket.Elsewhere(other.URL + "/x"))
	b := openS3(t, s3Options(server))
	for name, do := range map[string]func() error{
		"get":    func() error { _, err := b.Get(t.Context(), "a", 10); return err },
		"create": func() error { return b.Create(t.Context(), "a", []byte("x")) },
		"list":   func() error { _, err := b.List(t.Context(), ""); return err },
		"delete": func() error { return b.Delete(t.Context(), "a") },
		"now":    func() error { _, err := b.Now(t.Context()); return err },
	} {
		if err := do(); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if asked.Load() > 0 {
		t.Errorf("%d requests came to the other host", asked.Load())
	}
}

// TestS3AnswersAreBounded: an object that is larger than what we write, or does not come to its end, is an error and not memory; a server
// that is silent is given up.
func TestS3AnswersAreBounded(t *testing.T) {
	server := tests3.New(t, 0)
	o := s3Options(server)
	o.Attempt = 200 * time.Millisecond
	b := openS3(t, o)
	if err := b.Create(t.Context(), "big", make([]byte, 1<<20)); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Get(t.Context(), "big", 1<<10); err == nil || !strings.Contains(err.Error(), "at most 1024 are read") {
		t.Errorf("error %v", err)
	}
	release := make(chan struct{})
	defer close(release)
	server.Fail(testbucket.Hang(release))
	began := time.Now()
	if _, err := b.Get(t.Context(), "big", 1<<21); err == nil || !strings.Contains(err.Error(), "no answer within") || time.Since(began) > 20*time.Second {
		t.Errorf("after %s: %v", time.Since(began), err)
	}
}

// TestS3WithoutCredentials: nothing is sent unsigned, and what was looked for is named.
func TestS3WithoutCredentials(t *testing.T) {
	for _, name := range []string{"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_ACCESS_KEY", "AWS_SECRET_KEY", "AWS_PROFILE", "AWS_WEB_IDENTITY_TOKEN_FILE",
		"AWS_CONTAINER_CREDENTIALS_RELATIVE_URI", "AWS_CONTAINER_CREDENTIALS_FULL_URI"} {
		t.Setenv(name, "")
	}
	t.Setenv("AWS_EC2_METADATA_DISABLED", "true")
	dir := t.TempDir()
	t.Setenv("AWS_SHARED_CREDENTIALS_FILE", dir+"/credentials")
	t.Setenv("AWS_CONFIG_FILE", dir+"/config")
	server := tests3.New(t, 0)
	o := s3Options(server)
	o.Credentials = S3Credentials{}
	t.Setenv("AWS_ENDPOINT_URL_S3", server.URL+"/")
	_, err := openS3(t, o).List(t.Context(), "")
	if !errors.Is(err, errCredentials) || !strings.Contains(err.Error(), "AWS_PROFILE") || len(server.Seen()) > 0 {
		t.Errorf("%v", err)
	}
	t.Setenv("AWS_ACCESS_KEY_ID", tests3.AccessKeyID)
	t.Setenv("AWS_SECRET_ACCESS_KEY", tests3.SecretAccessKey)
	if _, err := openS3(t, o).List(t.Context(), ""); err != nil {
		t.Error(err)
	}
}

// TestS3MachinesCredentialsStayAtHome: what AWS's tools find on a machine goes to Amazon, or where its user says, and is in no answer.
func TestS3MachinesCredentialsStayAtHome(t *testing.T) {
	server := tests3.New(t, 0)
	for name, value := range map[string]string{"AWS_ACCESS_KEY_ID": "AKIACANARY", "AWS_SECRET_ACCESS_KEY": "canary-key", "AWS_SESSION_TOKEN": "canary-token", "AWS_ENDPOINT_URL": "", "AWS_ENDPOINT_URL_S3": ""} {
		t.Setenv(name, value)
	}
	o := s3Options(server)
	for _, given := range []S3Credentials{{}, {Profile: "prod"}} {
		o.Credentials = given
		for endpoint, home := range map[string]bool{"": true, "https://s3.eu-central-1.amazonaws.com": true, "https://s3-fips.us-gov-west-1.amazonaws.com": true, "https://S3.cn-north-1.amazonaws.com.cn": true,
			"https://s3-eu-west-1.amazonaws.com": true, "https://shop.s3-accelerate.dualstack.amazonaws.com": true, "https://shop.s3.dualstack.eu-central-1.amazonaws.com": true,
			"https://s3-x-123.eu-central-1.elb.amazonaws.com": false, "https://s3-x.compute.amazonaws.com": false,
			"http://s3.amazonaws.com": false, "https://s3.amazonaws.com.example.com": false, "https://s3-amazonaws.com": false, "https://a1.execute-api.eu-central-1.amazonaws.com": false,
			"https://minio.example.com": false, server.URL: false} {
			o.Endpoint = endpoint
			if _, err := NewS3(o); (err == nil) != home || err != nil && !strings.Contains(err.Error(), "AWS_ENDPOINT_URL_S3="+endpoint) {
				t.Errorf("%q: %v", endpoint, err)
			}
		}
	}
	o.Credentials, o.Endpoint = S3Credentials{}, server.URL
	t.Setenv("AWS_ENDPOINT_URL_S3", server.URL+".example.com")
	if _, err := NewS3(o); err == nil {
		t.Error("another endpoint of the user's lets this one have the credentials")
	}
	repeats := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusForbidden)
		_, _ = io.WriteString(w, "<Error><Code>AccessDenied</Code><Message>no token "+r.Header.Get("X-Amz-Security-Token")+" is known</Message></Error>")
	}))
	defer repeats.Close()
	o.Endpoint = repeats.URL
	t.Setenv("AWS_ENDPOINT_URL", repeats.URL)
	_, err := openS3(t, o).List(t.Context(), "")
	if err == nil || !strings.Contains(err.Error(), "no token *** is known") {
		t.Errorf("a server that repeats the token: %v", err)
	}
}

// TestS3HostStyle: the bucket may be in the host's name.
func TestS3HostStyle(t *testing.T) {
	server := tests3.New(t, 0)
	o, no := s3Options(server), false
	o.PathStyle, o.Endpoint = &no, strings.Replace(server.URL, "127.0.0.1", "localhost", 1)
	var host atomic.Value
	server.Fail(func(_ http.ResponseWriter, r *http.Request) bool { host.Store(r.Host); return false })
	b := openS3(t, o)
	b.hosts(t, "127.0.0.1")
	if err := b.Create(t.Context(), "a", []byte("x")); err != nil {
		t.Fatal(err)
	}
	if got, _ := host.Load().(string); !strings.HasPrefix(got, tests3.Bucket+".localhost:") {
		t.Errorf("asked %s", got)
	}
	if data, err := b.Get(t.Context(), "a", 10); string(data) != "x" || err != nil {
		t.Errorf("%q %v", data, err)
	}
}

// TestEndpoints: what is no endpoint is said.
func TestEndpoints(t *testing.T) {
	for _, endpoint := range []string{"minio.example.com", "ftp://minio.example.com", "https://user:pass@minio.example.com", "https://minio.example.com/path", "https://minio.example.com?x=y", "://"} {
		if _, err := NewS3(S3Options{Bucket: "b", Endpoint: endpoint}); err == nil {
			t.Errorf("%s is taken", endpoint)
		}
	}
}

// forgetful is a bucket that takes conditions for nothing.
type forgetful struct{ Bucket }

func (f forgetful) Create(ctx context.Context, key string, data []byte) error {
	if err := f.Delete(ctx, key); err != nil {
		return err
	}
	return f.Bucket.Create(ctx, key, data)
}

// TestServerThatForgetsConditions: a bucket that writes over what is there is not used.
func TestServerThatForgetsConditions(t *testing.T) {
	dir := openDir(t, t.TempDir())
	s := open(t, forgetful{dir})
	if _, err := s.Place(t.Context(), true); err == nil || !strings.Contains(err.Error(), "written over") {
		t.Errorf("error %v", err)
	}
	if list, err := dir.List(t.Context(), ""); len(list) > 0 || err != nil {
		t.Errorf("left %v, %v", list, err)
	}
}

// hosts lets the names of all hosts lead to one address.
func (s *S3) hosts(t *testing.T, address string) {
	t.Helper()
	base := s.transport.RoundTripper.(*http.Transport)
	dial := base.DialContext
	base.DialContext = func(ctx context.Context, network, at string) (net.Conn, error) {
		_, port, err := net.SplitHostPort(at)
		if err != nil {
			return nil, err
		}
		return dial(ctx, network, net.JoinHostPort(address, port))
	}
}

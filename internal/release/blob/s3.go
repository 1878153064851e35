package blob

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/minio/minio-go/v7"
)

// S3Options say which bucket, and how it is reached.
type S3Options struct {
	Bucket, Prefix string
	// Endpoint is https://HOST[:PORT] (or http://), "" for Amazon's. Region is "" for the environment's, else where the bucket is.
	Endpoint, Region string
	// PathStyle puts the bucket into the path or, false, into the host name; nil does what the endpoint is known for.
	PathStyle *bool
	// Credentials are those to sign with; the zero value stands for the usual chain.
	Credentials S3Credentials
	UserAgent   string
	// Attempt bounds one request without much data (default 15 s), Wait is the first pause before it is tried again (default 250 ms).
	Attempt, Wait time.Duration
}

// S3 is a Bucket that speaks the S3 protocol. Whether a blob is absent is decided by the server (If-None-Match: *).
type S3 struct {
	client    minio.Core
	options   S3Options
	transport *bounded
	prefix    string
}

var _ Bucket = (*S3)(nil)

const (
	// attempts bounds how often a request is sent whose answer is that the server is busy, or none.
	attempts = 4
	// smallBody is what a request moves in the time of one without data; slowest is how fast more moves at least.
	smallBody, slowest = 256 << 10, 128 << 10
	// maxAnswer bounds every answer.
	maxAnswer = 1 << 28
	// maxBlobs bounds a listing.
	maxBlobs = 200_000
)

// NewS3 returns the bucket. Nobody is asked for anything yet.
func NewS3(o S3Options) (*S3, error) {
	o.Attempt, o.Wait = cmp.Or(o.Attempt, 15*time.Second), cmp.Or(o.Wait, 250*time.Millisecond)
	host, secure := "s3.amazonaws.com", true
	if o.Endpoint != "" {
		u, err := url.Parse(o.Endpoint)
		if err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" || strings.Trim(u.Path, "/") != "" || u.RawQuery != "" || u.User != nil {
			return nil, fmt.Errorf("the endpoint %q is none: https://HOST or https://HOST:PORT", o.Endpoint)
		}
		host, secure = u.Host, u.Scheme == "https"
	}
	o.Region = cmp.Or(o.Region, os.Getenv("AWS_REGION"), os.Getenv("AWS_DEFAULT_REGION"))
	if o.Region == "" && o.Endpoint != "" {
		o.Region = "us-east-1" // what servers without regions are called
	}
	lookup := minio.BucketLookupAuto
	if o.PathStyle != nil {
		if lookup = minio.BucketLookupDNS; *o.PathStyle {
			lookup = minio.BucketLookupPath
		}
	}
	transport := &bounded{&http.Transport{Proxy: http.ProxyFromEnvironment, DialContext: (&net.Dialer{Timeout: 10 * time.Second, KeepAlive: 30 * time.Second}).DialContext,
		TLSHandshakeTimeout: 10 * time.Second, MaxIdleConnsPerHost: 8, IdleConnTimeout: time.Minute, MaxResponseHeaderBytes: 1 << 20, DisableCompression: true}}
	client, err := minio.NewCore(host, &minio.Options{Creds: o.Credentials.chain(), Secure: secure, Region: o.Region, BucketLookup: lookup, MaxRetries: 1, Transport: transport})
	if err != nil {
		return nil, err
	}
	if name, version, ok := strings.Cut(o.UserAgent, "/"); ok {
		client.SetAppInfo(name, version)
	}
	s := &S3{client: *client, options: o, transport: transport}
	if s.prefix = strings.Trim(o.Prefix, "/"); s.prefix != "" {
		s.prefix += "/"
	}
	return s, nil
}

func (s *S3) String() string { return s.options.String() }

// String names the bucket for people: "S3 bucket acme/prod at https://minio.example.com".
func (o S3Options) String() string {
	out := "S3 bucket " + strings.Trim(o.Bucket+"/"+strings.Trim(o.Prefix, "/"), "/")
	if o.Endpoint != "" {
		out += " at " + o.Endpoint
	}
	return out
}

// dated takes the server's time of an answer.
type dated struct{}

// bounded lets no answer be larger than anything we asked for, and tells its time.
type bounded struct{ http.RoundTripper }

// RoundTrip sends one request.
func (b *bounded) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := b.RoundTripper.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	if at, ok := req.Context().Value(dated{}).(*time.Time); ok {
		*at, _ = http.ParseTime(resp.Header.Get("Date"))
	}
	resp.Body = struct {
		io.Reader
		io.Closer
	}{io.LimitReader(resp.Body, maxAnswer), resp.Body}
	return resp, nil
}

// try sends a request of so many bytes until it is answered, within bounds. unsure tells that one that failed may have been carried out.
func (s *S3) try(ctx context.Context, size int, send func(context.Context) error) (unsure bool, err error) {
	limit := s.options.Attempt + time.Duration(max(0, size-smallBody)/slowest)*time.Second
	for n, wait := 1, s.options.Wait; ; n, wait = n+1, wait*2 {
		one, cancel := context.WithTimeout(ctx, limit)
		err = send(one)
		late := one.Err() != nil && ctx.Err() == nil
		cancel()
		again, maybe := worthwhile(err)
		unsure = unsure || maybe
		if err == nil || ctx.Err() != nil || !again || n == attempts {
			if late && err != nil {
				err = fmt.Errorf("no answer within %s: %w", limit.Round(time.Second), err)
			}
			return unsure, s.told(err)
		}
		select {
		case <-ctx.Done():
			return unsure, context.Cause(ctx)
		case <-time.After(wait):
		}
	}
}

// worthwhile reports whether a request may fare better when it is sent again, and whether it may have been carried out.
func worthwhile(err error) (again, maybe bool) {
	answer, ok := errors.AsType[minio.ErrorResponse](err)
	switch {
	case err == nil, errors.Is(err, errCredentials):
		return false, false
	case !ok || answer.StatusCode == 0: // no answer
		return true, true
	case answer.StatusCode == http.StatusNotImplemented:
		return false, false
	case answer.StatusCode >= 500:
		return true, true
	}
	// A 409 is that somebody else writes it at this moment: the next try tells who did.
	return answer.StatusCode == http.StatusTooManyRequests || answer.StatusCode == http.StatusConflict || answer.StatusCode == http.StatusRequestTimeout, false
}

// told says what the server's answers mean.
func (s *S3) told(err error) error {
	answer, ok := errors.AsType[minio.ErrorResponse](err)
	if !ok {
		return err
	}
	said := cmp.Or(answer.Code, http.StatusText(answer.StatusCode))
	if answer.Message != "" && answer.Message != said {
		said += ": " + answer.Message
	}
	switch {
	case answer.Code == "NoSuchBucket":
		return fmt.Errorf("there is no bucket %s (%d %s): make it, or correct releases.store.s3 of the fleet's file", s.options.Bucket, answer.StatusCode, said)
	case answer.StatusCode == http.StatusNotFound:
		return ErrAbsent
	case answer.StatusCode == http.StatusPreconditionFailed:
		return ErrExists
	case answer.StatusCode == http.StatusNotImplemented:
		return fmt.Errorf("the server does not know conditional writes (If-None-Match), without which it can hold neither locks nor records (501 %s)", said)
	case answer.StatusCode == http.StatusForbidden, answer.StatusCode == http.StatusUnauthorized:
		return fmt.Errorf("the server lets these credentials not do that (%d %s): s3:ListBucket of the bucket, s3:GetObject, s3:PutObject and s3:DeleteObject of what is in it are needed", answer.StatusCode, said)
	case answer.StatusCode/100 == 3:
		return fmt.Errorf("the server leads to another one (%d %s), to which nothing is sent: correct region or endpoint of releases.store.s3", answer.StatusCode, said)
	}
	return fmt.Errorf("the server answers %d %s", answer.StatusCode, said)
}

// Get reads an object.
func (s *S3) Get(ctx context.Context, key string, limit int) (data []byte, err error) {
	_, err = s.try(ctx, 0, func(ctx context.Context) error {
		body, info, _, err := s.client.GetObject(ctx, s.options.Bucket, s.prefix+key, minio.GetObjectOptions{})
		if err != nil {
			return err
		}
		defer func() { _ = body.Close() }()
		if info.Size > int64(limit) {
			return minio.ErrorResponse{StatusCode: http.StatusRequestEntityTooLarge, Code: fmt.Sprintf("it has %d bytes, at most %d are read", info.Size, limit)}
		}
		data, err = io.ReadAll(io.LimitReader(body, int64(limit)+1))
		if err == nil && (len(data) > limit || int64(len(data)) != info.Size) {
			err = fmt.Errorf("it has %d bytes, of which %d came", info.Size, len(data))
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return data, nil
}

// Create puts an object where there is none. One that is there after a try of which nobody knows is ours when it holds the same: what is
// sealed is sealed only once.
func (s *S3) Create(ctx context.Context, key string, data []byte) error {
	unsure, err := s.try(ctx, len(data), func(ctx context.Context) error {
		o := minio.PutObjectOptions{ContentType: "application/octet-stream", DisableMultipart: true}
		o.SetMatchETagExcept("*")
		_, err := s.client.Client.PutObject(ctx, s.options.Bucket, s.prefix+key, bytes.NewReader(data), int64(len(data)), o)
		return err
	})
	if unsure && errors.Is(err, ErrExists) {
		if there, look := s.Get(ctx, key, len(data)); look == nil && bytes.Equal(there, data) {
			return nil
		}
	}
	return err
}

// List reads all pages of a listing.
func (s *S3) List(ctx context.Context, prefix string) (out []Entry, err error) {
	_, err = s.try(ctx, 0, func(ctx context.Context) error {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		out = nil
		no := false
		for o := range s.client.Client.ListObjects(ctx, s.options.Bucket, minio.ListObjectsOptions{Prefix: s.prefix + prefix, Recursive: true, FetchOwner: &no}) {
			if o.Err != nil {
				return o.Err
			}
			key, ok := strings.CutPrefix(o.Key, s.prefix)
			if !ok || !strings.HasPrefix(key, prefix) {
				return minio.ErrorResponse{StatusCode: http.StatusExpectationFailed, Code: "the list has " + o.Key + ", for which nobody asked"}
			}
			if len(out) == maxBlobs {
				return minio.ErrorResponse{StatusCode: http.StatusRequestEntityTooLarge, Code: fmt.Sprintf("the list has more than %d objects", maxBlobs)}
			}
			out = append(out, Entry{key, o.LastModified})
		}
		return ctx.Err()
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// Delete removes an object.
func (s *S3) Delete(ctx context.Context, key string) error {
	_, err := s.try(ctx, 0, func(ctx context.Context) error {
		return s.client.RemoveObject(ctx, s.options.Bucket, s.prefix+key, minio.RemoveObjectOptions{})
	})
	if errors.Is(err, ErrAbsent) {
		return nil
	}
	return err
}

// Now is what the server says the time is.
func (s *S3) Now(ctx context.Context) (at time.Time, err error) {
	_, err = s.try(ctx, 0, func(ctx context.Context) error {
		at = time.Time{}
		there, err := s.client.BucketExists(context.WithValue(ctx, dated{}, &at), s.options.Bucket)
		switch {
		case err != nil:
			return err
		case !there:
			return minio.ErrorResponse{StatusCode: http.StatusNotFound, Code: "NoSuchBucket"}
		case at.IsZero():
			return minio.ErrorResponse{StatusCode: http.StatusOK, Code: "it tells no time (header Date)"}
		}
		return nil
	})
	return at, err
}

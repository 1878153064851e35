package blob

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"slices"
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
	// Credentials are those to sign with; the zero value stands for the usual chain, whose go to Amazon alone (atHome).
	Credentials S3Credentials
	Server
}

// S3 is a Bucket that speaks the S3 protocol. Whether a blob is absent is decided by the server (If-None-Match: *).
type S3 struct {
	client    minio.Core
	options   S3Options
	transport *bounded
	prefix    string
	// secrets are those of the credentials.
	secrets func() []string
}

var _ Bucket = (*S3)(nil)

// NewS3 returns the bucket. Nobody is asked for anything yet.
func NewS3(o S3Options) (*S3, error) {
	o.Server = o.withDefaults()
	host, secure := "s3.amazonaws.com", true
	if o.Endpoint != "" {
		u, err := endpointURL(o.Endpoint, false)
		if err != nil {
			return nil, err
		}
		if err := allowed(u, atHome(u)); err != nil && o.Credentials.given() {
			return nil, fmt.Errorf("releases.store.s3.endpoint of the fleet's file is %s: %w", o.Endpoint, err)
		}
		if !o.Credentials.given() && !atHome(u) {
			return nil, fmt.Errorf("the machine's own credentials go to Amazon's servers alone, which %s is not: give releases.store.s3.credentials in the fleet's file as ref:// references, or name the endpoint in the environment of whoever runs this, AWS_ENDPOINT_URL_S3=%s", o.Endpoint, o.Endpoint)
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
	transport := newTransport(o.Tell)
	creds, secrets := o.Credentials.chain(o.Redact)
	client, err := minio.NewCore(host, &minio.Options{Creds: creds, Secure: secure, Region: o.Region, BucketLookup: lookup, MaxRetries: 1, Transport: transport})
	if err != nil {
		return nil, err
	}
	if name, version, ok := strings.Cut(o.UserAgent, "/"); ok {
		client.SetAppInfo(name, version)
	}
	return &S3{client: *client, options: o, transport: transport, prefix: rooted(o.Prefix), secrets: secrets}, nil
}

func (s *S3) String() string { return s.options.String() }

// String names the bucket for people: "S3 bucket acme/prod at https://minio.example.com".
func (o S3Options) String() string { return named("S3 bucket", o.Bucket, o.Prefix, o.Endpoint) }

// try sends a request of so many bytes until it is answered.
func (s *S3) try(ctx context.Context, size int, send func(context.Context) error) (unsure bool, err error) {
	unsure, err = s.options.try(ctx, size, func(ctx context.Context) error { return s.refused(send(ctx)) })
	return unsure, vocabulary{"releases.store.s3", "bucket " + s.options.Bucket,
		"s3:ListBucket of the bucket, s3:GetObject, s3:PutObject and s3:DeleteObject of what is in it are needed"}.told(err)
}

// refused is what the client says in our words, without what it signed with.
func (s *S3) refused(err error) error {
	answer, ok := errors.AsType[minio.ErrorResponse](err)
	if !ok || answer.StatusCode == 0 {
		return err
	}
	secrets := slices.Concat(s.secrets(), s.transport.signatures())
	return &refusal{status: answer.StatusCode, code: s.options.said(answer.Code, secrets...), message: s.options.said(answer.Message, secrets...), bucketless: answer.Code == minio.NoSuchBucket}
}

// Get reads an object.
func (s *S3) Get(ctx context.Context, key string, limit int) (data []byte, err error) {
	_, err = s.try(ctx, 0, func(ctx context.Context) error {
		body, info, _, err := s.client.GetObject(aBlob.in(ctx), s.options.Bucket, s.prefix+key, minio.GetObjectOptions{})
		if err != nil {
			return err
		}
		defer func() { _ = body.Close() }()
		data, err = read(body, info.Size, limit)
		return err
	})
	if err != nil {
		return nil, err
	}
	return data, nil
}

// Create puts an object where there is none.
func (s *S3) Create(ctx context.Context, key string, data []byte) error {
	unsure, err := s.try(ctx, len(data), func(ctx context.Context) error {
		o := minio.PutObjectOptions{ContentType: "application/octet-stream", DisableMultipart: true}
		o.SetMatchETagExcept("*")
		_, err := s.client.Client.PutObject(ctx, s.options.Bucket, s.prefix+key, bytes.NewReader(data), int64(len(data)), o)
		return err
	})
	return settled(ctx, s, key, data, unsure, err)
}

// List reads all pages of a listing.
func (s *S3) List(ctx context.Context, prefix string) ([]Entry, error) {
	var list listing
	_, err := s.try(ctx, 0, func(ctx context.Context) error {
		ctx, cancel := context.WithCancel(s3Page.in(ctx))
		defer cancel()
		list = listing{root: s.prefix, prefix: prefix}
		no := false
		for o := range s.client.Client.ListObjects(ctx, s.options.Bucket, minio.ListObjectsOptions{Prefix: s.prefix + prefix, Recursive: true, FetchOwner: &no}) {
			if o.Err != nil {
				return o.Err
			}
			if err := list.add(o.Key, o.LastModified); err != nil {
				return err
			}
		}
		return ctx.Err()
	})
	if err != nil {
		return nil, err
	}
	return list.sorted(), nil
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
		at, err = atServer(ctx, func(ctx context.Context) error {
			there, err := s.client.BucketExists(ctx, s.options.Bucket)
			if err == nil && !there {
				err = minio.ErrorResponse{StatusCode: http.StatusNotFound, Code: minio.NoSuchBucket}
			}
			return err
		})
		return err
	})
	return at, err
}

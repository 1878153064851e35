package blob

import (
	"encoding/base64"
	"strings"
	"testing"

	"hawser.dev/hawser/internal/testbucket"
)

// TestCredentialsOfTheFile: what a fleet's file gives as credentials goes to the provider's own servers, to this machine, and to a server that
// whoever runs Hawser allows; to no other one that the file names, as references in a file reach all that the environment holds.
func TestCredentialsOfTheFile(t *testing.T) {
	key := base64.StdEncoding.EncodeToString([]byte("key"))
	google := testbucket.NewGCS(t, 0).Key(t)
	open := map[string]func(endpoint string) error{
		"s3": func(endpoint string) error {
			_, err := NewS3(S3Options{Bucket: "b", Region: "eu", Endpoint: endpoint, Credentials: S3Credentials{AccessKeyID: "C4NARY", SecretAccessKey: "C4NARY", SessionToken: "C4NARY"}})
			return err
		},
		"azure": func(endpoint string) error {
			_, err := NewAzure(AzureOptions{Account: "a", Container: "c", Endpoint: endpoint, Key: key})
			return err
		},
		"azure sas": func(endpoint string) error {
			_, err := NewAzure(AzureOptions{Account: "a", Container: "c", Endpoint: endpoint, SAS: "sv=1&sig=C4NARY"})
			return err
		},
		"gcs": func(endpoint string) error {
			_, err := NewGCS(GCSOptions{Bucket: "b", Endpoint: endpoint, Key: google})
			return err
		},
	}
	homes := map[string]string{"s3": "https://s3.eu-west-1.amazonaws.com", "azure": "https://a.blob.core.windows.net", "azure sas": "https://a.blob.core.windows.net", "gcs": "https://storage.googleapis.com"}
	for kind, try := range open {
		for _, c := range []struct {
			endpoint, hosts string
			goes            bool
		}{
			{"https://minio.example.com:9000", "", false},
			{"https://minio.example.com:9000", "minio.example.com:9000", true},
			{"https://minio.example.com:9000", "x, https://MINIO.example.com:9000", true},
			{"https://minio.example.com:9000", "minio.example.com", false},
			{"https://minio.example.com", "minio.example.com", true},
			{"http://minio.example.com", "minio.example.com", false},
			{"http://minio.example.com", "http://minio.example.com", true},
			{"https://minio.example.com", "http://minio.example.com", false},
			{"https://example.com", ",", false},
			{"https://minio.example.com.evil.example", "minio.example.com", false},
			{"http://127.0.0.1:9000", "", true},
			{"http://[::1]:9000", "", true},
			{"https://127.0.0.1.evil.example", "", false},
			{"", "", true},
			{homes[kind], "", true},
			{strings.Replace(homes[kind], "https", "http", 1), "", false},
		} {
			t.Setenv(hostsVariable, c.hosts)
			err := try(c.endpoint)
			if (err == nil) != c.goes {
				t.Errorf("%s: %s with %q: %v", kind, c.endpoint, c.hosts, err)
			}
			if err != nil && (strings.Contains(err.Error(), "C4NARY") || !strings.Contains(err.Error(), c.endpoint) || !strings.Contains(err.Error(), hostsVariable+"=")) {
				t.Errorf("%s: %v", kind, err)
			}
		}
	}
}

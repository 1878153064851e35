package blob

import (
	"encoding/base64"
	"errors"
	"strings"
	"testing"

	"hawser.dev/hawser/internal/testbucket"
)

// TestContentInPathVariables: what stands in a variable that should hold a file's path is not shown; a path that leads nowhere is.
func TestContentInPathVariables(t *testing.T) {
	for _, name := range []string{"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_ACCESS_KEY", "AWS_SECRET_KEY", "AWS_PROFILE", "AZURE_CLIENT_SECRET"} {
		t.Setenv(name, "")
	}
	t.Setenv("AWS_EC2_METADATA_DISABLED", "true")
	t.Setenv("AZURE_TOKEN_CREDENTIALS", "prod")
	t.Setenv("AZURE_TENANT_ID", "11111111-1111-1111-1111-111111111111")
	t.Setenv("AZURE_CLIENT_ID", "11111111-1111-1111-1111-111111111111")
	for _, name := range []string{"AWS_WEB_IDENTITY_TOKEN_FILE", "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE"} {
		t.Setenv(name, "")
	}
	gcs := func() error { return openGCS(t, GCSOptions{Bucket: "b", Server: quick}).Create(t.Context(), "a", nil) }
	azure := func() error {
		b, err := NewAzure(AzureOptions{Account: testbucket.Account, Container: testbucket.Bucket, Server: quick})
		if err != nil {
			return err
		}
		return b.Create(t.Context(), "a", nil)
	}
	s3 := func() error {
		b, err := NewS3(S3Options{Bucket: "bucket", Region: "eu-central-1", Server: quick})
		if err != nil {
			return err
		}
		return b.Create(t.Context(), "a", nil)
	}
	json := `{"type":"service_account","private_key":"hunter2hunter2"}`
	for variable, send := range map[string]func() error{"GOOGLE_APPLICATION_CREDENTIALS": gcs, "AZURE_CLIENT_CERTIFICATE_PATH": azure, "AZURE_FEDERATED_TOKEN_FILE": azure,
		"AWS_SHARED_CREDENTIALS_FILE": s3, "AWS_CONFIG_FILE": s3, "AWS_WEB_IDENTITY_TOKEN_FILE": s3, "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE": s3} {
		t.Run(variable, func(t *testing.T) {
			for _, content := range []string{json, base64.StdEncoding.EncodeToString([]byte(json)), "GOCSPX-hunter2hunter2hunter2hu", "-----BEGIN PRIVATE KEY-----\nhunter2", "eyJhbGciOi.hunter2.hunter2", "aws_secret_access_key = hunter2"} {
				t.Setenv(variable, content)
				if err := send(); err == nil || !strings.Contains(err.Error(), variable) || strings.Contains(err.Error(), "hunter2") || strings.Contains(err.Error(), content) {
					t.Errorf("%s: %v", content, err)
				}
			}
		})
	}
	t.Setenv("GOOGLE_APPLICATION_CREDENTIALS", "/nowhere/key.json")
	if err := gcs(); !errors.Is(err, errCredentials) || !strings.Contains(err.Error(), "/nowhere/key.json") {
		t.Errorf("%v", err)
	}
}

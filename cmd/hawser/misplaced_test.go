package main

import (
	"context"
	"strings"
	"testing"

	"hawser.dev/hawser/api/v1alpha1"
	"hawser.dev/hawser/internal/release/blob"
)

// A secret where a fleet's file names a file is not shown, nor as a part of a path that is not there.
func TestSecretsAsPathsOfStores(t *testing.T) {
	none := func(context.Context, string) (string, error) { return "", nil }
	for _, content := range []string{"GOCSPX-hunter2hunter2hunter2hu", `{"type":"service_account","private_key":"hunter2"}`, "token: hunter2"} {
		for _, store := range []v1alpha1.ReleaseStore{{GCS: &v1alpha1.GCSReleases{Bucket: "b", Credentials: &v1alpha1.GCSCredentials{Path: content, Dir: t.TempDir()}}},
			{File: &v1alpha1.FileReleases{Path: content, Dir: t.TempDir()}}} {
			b := bucketOf(store, blob.Server{}, none)
			if _, err := b.Get(t.Context(), "a", 1); err == nil || !strings.Contains(err.Error(), "not shown") || strings.Contains(err.Error()+b.String(), "hunter2") {
				t.Errorf("%s: %s: %v", content, b, err)
			}
		}
		if _, err := storeDir(t.TempDir(), content); err == nil || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: %v", content, err)
		}
	}
}

package blob

import (
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"

	"hawser.dev/hawser/internal/testbucket"
	"hawser.dev/hawser/internal/tests3"
)

// TestPagesAreBounded: a page of a list that no server gives, by its entries or its size, is an error before it is decoded; the memory that
// it takes is that of the page. Other answers than blobs and pages are small.
func TestPagesAreBounded(t *testing.T) {
	const many = 300_000
	answer := ""
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, answer) }))
	defer server.Close()
	s3, err := NewS3(S3Options{Bucket: "bucket", Endpoint: server.URL, Region: "r", Credentials: S3Credentials{AccessKeyID: tests3.AccessKeyID, SecretAccessKey: tests3.SecretAccessKey}, Server: quick})
	if err != nil {
		t.Fatal(err)
	}
	azure := openAzure(t, AzureOptions{Account: testbucket.Account, Container: "b", Endpoint: server.URL, Key: testbucket.Key, Server: quick})
	google := openGCS(t, GCSOptions{Bucket: "bucket", Endpoint: server.URL, Server: quick})
	const date = "<LastModified>2026-01-01T00:00:00.000Z</LastModified>"
	for name, c := range map[string]struct {
		b           Bucket
		head, entry string
		tail        string
	}{
		"s3": {s3, "<ListBucketResult><IsTruncated>false</IsTruncated>", "<Contents><Key>a</Key>" + date + "</Contents>", "</ListBucketResult>"},
		"azure": {azure, `<?xml version="1.0"?><EnumerationResults><Blobs>`, "<Blob><Name>a</Name><Properties><Last-Modified>Fri, 27 Nov 2026 00:00:00 GMT</Last-Modified></Properties></Blob>",
			"</Blobs></EnumerationResults>"},
		"gcs": {google, `{"items":[{}`, `,{"name":"a"}`, "]}"},
	} {
		t.Run(name, func(t *testing.T) {
			for what, n := range map[string]int{"small entries": many, "a long one": 1} {
				entries := strings.Repeat(c.entry, n)
				if n == 1 {
					entries = strings.Replace(entries, "a", strings.Repeat("a", 40<<20), 1)
				}
				answer = c.head + entries + c.tail
				var before, after runtime.MemStats
				runtime.ReadMemStats(&before)
				list, err := c.b.List(t.Context(), "")
				runtime.ReadMemStats(&after)
				if err == nil || !strings.Contains(err.Error(), "a page of the list has more") {
					t.Errorf("%s: %d entries, %v", what, len(list), err)
				}
				if took := (after.TotalAlloc - before.TotalAlloc) >> 20; took > 120 {
					t.Errorf("%s: %d MiB for %d MiB", what, took, len(answer)>>20)
				}
			}
			entries := strings.Repeat(c.entry, 999)
			if answer = c.head + entries + c.tail; name == "gcs" {
				answer = strings.Replace(answer, "{},", "", 1)
			}
			if list, err := c.b.List(t.Context(), ""); err != nil || len(list) != 999 {
				t.Errorf("%d entries of a page, %v", len(list), err)
			}
		})
	}
}

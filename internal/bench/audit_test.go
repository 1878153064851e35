//go:build bench

package bench

import (
	"fmt"
	"strings"
	"testing"

	"hawser.dev/hawser/internal/testfleet"
)

// requests are what the API servers' audit logs say of the product.
type requests []testfleet.AuditEntry

// audited runs do and returns the product's requests to the clusters meanwhile.
func audited(t *testing.T, f *testfleet.Fleet, clusters []string, do func()) requests {
	t.Helper()
	from := make([]int64, len(clusters))
	for i, c := range clusters {
		from[i] = f.AuditOffset(t, c)
	}
	do()
	var out requests
	for i, c := range clusters {
		for _, e := range f.Audit(t, c, from[i]) {
			if strings.HasPrefix(e.UserAgent, "hawser/") {
				out = append(out, e)
			}
		}
	}
	return out
}

func (r requests) count(match func(testfleet.AuditEntry) bool) int {
	n := 0
	for _, e := range r {
		if match(e) {
			n++
		}
	}
	return n
}

// patches are applies of the fixtures' objects, records and locks apart.
func (r requests) patches(dryRun bool) int {
	return r.count(func(e testfleet.AuditEntry) bool {
		return e.Method == "PATCH" && e.DryRun == dryRun && e.Namespace != "hawser-system"
	})
}

// writes are all but reads, dry runs and access reviews.
func (r requests) writes() int {
	return r.count(func(e testfleet.AuditEntry) bool {
		return e.Method != "GET" && !e.DryRun && !strings.Contains(e.Resource, "selfsubject")
	})
}

// others are the requests that are not the PATCHes of objects, one a line.
func (r requests) others() string {
	var b strings.Builder
	for _, e := range r {
		if e.Method == "PATCH" && e.Namespace != "hawser-system" {
			continue
		}
		fmt.Fprintf(&b, "\n%s %s?%s %d %.1fms", e.Method, e.Path, e.Query, e.Status, e.DurationMs)
	}
	return b.String()
}

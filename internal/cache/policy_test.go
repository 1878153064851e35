package cache

import (
	"testing"
	"time"
)

// Ages and sizes are read as people write them.
func TestPolicyIsRead(t *testing.T) {
	for text, want := range map[string]time.Duration{"30d": 720 * time.Hour, "2w": 336 * time.Hour, "168h": 168 * time.Hour, "1h30m": 90 * time.Minute,
		"0s": 0, "0d": 0, "-1d": 0, "-1h": 0, "": 0, "d": 0, "30": 0, "1.5d": 0, "99999999d": 0, "30days": 0} {
		if got, err := ParseAge(text); got != want || (err == nil) != (want > 0) {
			t.Errorf("%q is %v, %v, want %v", text, got, err, want)
		}
	}
	for text, want := range map[string]int64{"1MB": 1e6, "2GB": 2e9, "500MiB": 500 << 20, "2GiB": 2 << 30, "2Gi": 2 << 30, "2 GiB": 2 << 30, "1M": 1e6, "3kB": 3000, "3KB": 3000, "3KiB": 3 << 10, "100B": 100, "100": 100,
		"": 0, "B": 0, "much": 0, "0": 0, "-1Gi": 0, "1mB": 0, "500m": 0, "1MBB": 0} {
		if got, err := ParseSize(text); got != want || (err == nil) != (want > 0) {
			t.Errorf("%q is %d, %v, want %d", text, got, err, want)
		}
	}
}

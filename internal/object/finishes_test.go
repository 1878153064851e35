package object

import "testing"

// TestFinishes: what does its work and is done is told by group and kind; a custom kind by the same name is another one.
func TestFinishes(t *testing.T) {
	for _, c := range []struct {
		group, kind   string
		job, finishes bool
	}{
		{"batch", "Job", true, true}, {"", "Pod", false, true}, {"batch", "CronJob", false, false}, {"apps", "Deployment", false, false},
		{"batch.volcano.sh", "Job", false, false}, {"example.com", "Pod", false, false}, {"", "Job", false, false},
	} {
		r := Ref{Group: c.group, Kind: c.kind}
		if r.IsJob() != c.job || r.Finishes() != c.finishes {
			t.Errorf("%s/%s: %t %t", c.group, c.kind, r.IsJob(), r.Finishes())
		}
	}
}

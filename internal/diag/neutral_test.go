package diag

import "testing"

func TestNeutral(t *testing.T) {
	for _, c := range [][3]string{
		{"cluster prod-eu has no labels.regin", "prod-eu", "the cluster has no labels.regin"},
		{"this is not the cluster prod-eu of before", "prod-eu", "this is not the cluster of before"},
		{"clusters: prod-eu-1, prod-eu", "prod-eu", "clusters: prod-eu-1, <cluster>"},
		{"--accept-cluster prod-eu", "prod-eu", "--accept-cluster <cluster>"},
		{"dial tcp 10.9.0.17:6443: i/o timeout (10 s)", "edge", "dial tcp <address>: i/o timeout (10 s)"},
		{`Get "https://10.0.0.1:6443/version": refused`, "", `Get "<address>": refused`},
		{"set by x, 19 minutes ago", "", "set by x, some time ago"},
		{"it has uid 0a1b2c3d-0a1b-0a1b-0a1b-0a1b2c3d4e5f", "x", "it has uid <uid>"},
		{"nothing of it", "it-is", "nothing of it"},
	} {
		if got := Neutral(c[0], c[1]); got != c[2] {
			t.Errorf("%q: %q, want %q", c[0], got, c[2])
		}
	}
}

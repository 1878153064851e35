package redact

import "testing"

func TestURLsAreHidden(t *testing.T) {
	for in, want := range map[string]string{
		"proxy http://me:pw@proxy:3128/ down":  "proxy http://***@proxy:3128/ down",
		"https://token@host/x":                 "https://***@host/x",
		`{"url":"chart+https://u:p@h/r"}`:      `{"url":"chart+https://***@h/r"}`,
		"postgres://app:p%40ss@db:5432/x":      "postgres://app:***@db:5432/x",
		"redis://:pw@host":                     "redis://:***@host",
		"ssh://git@host/x, git@host:x":         "ssh://git@host/x, git@host:x",
		"https://host/a@b and https://h:8/x@y": "https://host/a@b and https://h:8/x@y",
		"mail a@b: see https://host":           "mail a@b: see https://host",
		"https://***@host":                     "https://***@host",
	} {
		if got := New().Redact(in); got != want {
			t.Errorf("%s: %s, want %s", in, got, want)
		}
		if got := New("pw").Sweep(in); New().Sweep(got) != got {
			t.Errorf("%s: not the same again: %s", in, got)
		}
	}
}

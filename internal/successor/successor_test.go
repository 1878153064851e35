package successor

import "testing"

func TestOf(t *testing.T) {
	for _, tt := range []struct {
		old, next string
		want      bool
	}{
		{"env-abc12", "env-ff034", true},
		{"env-g7t5f2m9kb", "env-2kd8mth4c6", true},
		{"migrate-1", "migrate-2", true},
		{"migrate-v1.2.0", "migrate-v1.3.0", true},
		{"settings-1.2", "settings-1.3", true},
		{"app-credentials", "app-tls", false},
		{"app-certificates", "app-passwords1", false},
		{"env-abc12", "other-abc12", false},
		{"env-abc12", "env-abc123", false}, // digests of one kind are of one length
		{"env", "env-abc12", false},
		{"a", "b", false},
	} {
		if Of(tt.old, tt.next) != tt.want || Of(tt.next, tt.old) != tt.want {
			t.Errorf("%s, %s: not %v", tt.old, tt.next, tt.want)
		}
	}
}

package object

import "testing"

// The data of a Secret is decoded; what is none is an error that does not show it.
func TestSecretData(t *testing.T) {
	got, err := SecretData(map[string]any{"data": map[string]any{"a": "aGV5", "empty": ""}})
	if err != nil || len(got) != 2 || string(got["a"]) != "hey" || len(got["empty"]) != 0 {
		t.Errorf("%q %v", got, err)
	}
	if got, err := SecretData(map[string]any{}); err != nil || len(got) != 0 {
		t.Errorf("%q %v", got, err)
	}
	if _, err := SecretData(map[string]any{"data": map[string]any{"a": "c3Vy!"}}); err == nil {
		t.Error("no error")
	}
}

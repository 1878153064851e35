package main

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"hawser.dev/hawser/internal/redact"
)

// TestToolsMaskRegistries: what a registry echoes of a credential is masked before it is cut, for the commands about modules
// and artifacts too: half a password is none that is known.
func TestToolsMaskRegistries(t *testing.T) {
	t.Parallel()
	const password = "c4nary-of-a-password"
	pad := 0
	registry := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusBadRequest)
		_ = json.NewEncoder(w).Encode(map[string]any{"errors": []map[string]string{{"code": "DENIED", "message": strings.Repeat("x", pad) + password}}})
	}))
	t.Cleanup(registry.Close)
	redactor := redact.New()
	redactor.Add(password)
	tools, err := newTools(redactor)
	if err != nil {
		t.Fatal(err)
	}
	cut := false
	for pad = 200; pad < 340; pad += 4 {
		_, err := tools.Digests.Digest(t.Context(), "oci://"+strings.TrimPrefix(registry.URL, "http://")+"/web:1.0.0")
		if err == nil {
			t.Fatal("the registry's refusal is no error")
		}
		text := err.Error()
		if !strings.Contains(text, "xxx") {
			t.Fatalf("the registry's words are not told: %s", text)
		}
		cut = cut || !strings.Contains(text, "x"+redact.Mask)
		if strings.Contains(text, "c4n") {
			t.Fatalf("cut at %d: %s", pad, text)
		}
	}
	if !cut {
		t.Error("nothing was cut: the test shows nothing")
	}
}

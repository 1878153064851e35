package sops

import (
	"strings"
	"testing"
)

// A key that stands where its file or its variable is named is not in the error.
func TestKeyForItsName(t *testing.T) {
	const key = "AGE-SECRET-KEY-1QQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQ"
	for reason, err := range map[string]error{"file": new(identity).file("/fleet/"+key, true), "variable": new(identity).variable(system{env: func(string) (string, bool) { return "", false }}, key, true)} {
		if err == nil || strings.Contains(err.Error(), "QQQ") {
			t.Errorf("%s: %v", reason, err)
		}
	}
}

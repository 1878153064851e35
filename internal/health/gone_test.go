package health

import (
	"testing"

	"sigs.k8s.io/yaml"
)

// TestGone: a Job that is gone is done when it ended well, or when it goes by itself and nobody saw it fail.
func TestGone(t *testing.T) {
	const (
		complete = `{kind: Job, status: {conditions: [{type: Complete, status: "True"}]}}`
		failed   = `{kind: Job, status: {failed: 1, conditions: [{type: Failed, status: "True", reason: BackoffLimitExceeded}]}}`
		failing  = `{kind: Job, status: {failed: 1}}`
		doomed   = `{kind: Job, status: {conditions: [{type: FailureTarget, status: "True"}]}}`
		running  = `{kind: Job, status: {active: 1}}`
	)
	for name, tt := range map[string]struct {
		last           string
		whole, expires bool
		want           State
	}{
		"completed, as its deletion tells":      {complete, true, true, Ready},
		"completed when it was seen last":       {complete, false, true, Ready},
		"failed":                                {failed, true, true, Failed},
		"failed when it was seen last":          {failed, false, true, Failed},
		"deleted while it ran":                  {running, true, true, Missing},
		"seen running, its end was not seen":    {running, false, true, Ready},
		"seen failing, its end was not seen":    {failing, false, true, Missing},
		"about to fail, its end was not seen":   {doomed, false, true, Missing},
		"never seen":                            {"", false, true, Ready},
		"never seen, and does not go by itself": {"", false, false, Missing},
		"completed, and does not go by itself":  {complete, true, false, Missing},
	} {
		var last map[string]any
		if err := yaml.Unmarshal([]byte(tt.last), &last); err != nil {
			t.Fatal(err)
		}
		if got := Gone(last, tt.whole, tt.expires); got.State != tt.want {
			t.Errorf("%s: %+v, want %s", name, got, tt.want)
		}
	}
}

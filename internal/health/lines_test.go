package health

import (
	"slices"
	"testing"
)

// The cause stands before what follows from it, and who looks once is told that what waiting cannot heal has failed.
func TestLines(t *testing.T) {
	const pod = "pod api-1, container api: ImagePullBackOff: not found"
	for _, c := range []struct {
		name  string
		st    Status
		want  []string
		line  string
		state State
	}{
		{"image", Status{State: Progressing, Reason: "1 old pod to go", Stalled: true, Details: []string{pod, "pod b: x"}}, []string{pod, "1 old pod to go", "pod b: x"}, pod + " (1 old pod to go)", Failed},
		{"quota", Status{State: Progressing, Reason: "0 of 1 pod ready", Stalled: true, Details: []string{"FailedCreate: quota"}}, []string{"FailedCreate: quota", "0 of 1 pod ready"}, "FailedCreate: quota (0 of 1 pod ready)", Failed},
		{"others' details", Status{State: Progressing, Reason: "waits", Details: []string{"for a", "for b"}}, []string{"waits", "for a", "for b"}, "waits (for a)", Progressing},
		{"a detail that says it all", Status{State: Failed, Reason: "invalid value", Details: []string{"a.yaml:1: invalid value (correct it)"}}, []string{"a.yaml:1: invalid value (correct it)"}, "a.yaml:1: invalid value (correct it)", Failed},
		{"ready", Status{State: Ready}, nil, "", Ready},
		{"no reason", Status{State: Failed, Stalled: true, Details: []string{pod}}, []string{pod}, pod, Failed},
	} {
		if got := c.st.Lines(); !slices.Equal(got, c.want) || c.st.Line() != c.line || c.st.Settled().State != c.state {
			t.Errorf("%s: %q, %q, %s", c.name, got, c.st.Line(), c.st.Settled().State)
		}
	}
}

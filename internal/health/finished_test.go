package health

import (
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

func TestFinished(t *testing.T) {
	for _, c := range []struct{ reason, object, want string }{
		{"a job that was just made", `{apiVersion: batch/v1, kind: Job}`, "progressing 0 of 1 completion"},
		{"a job that runs", `{apiVersion: batch/v1, kind: Job, spec: {completions: 3}, status: {succeeded: 1}}`, "progressing 1 of 3 completions"},
		{"a suspended job has not done its work, whatever readiness says", `{apiVersion: batch/v1, kind: Job, spec: {suspend: true}}`, "progressing suspended"},
		{"a completed job", `{apiVersion: batch/v1, kind: Job, status: {conditions: [{type: Complete, status: "True"}]}}`, "ready completed"},
		{"a failed job says why", `{apiVersion: batch/v1, kind: Job, status: {conditions: [{type: Failed, status: "True", reason: BackoffLimitExceeded, message: it has reached the specified backoff limit}]}}`,
			"failed the job failed: BackoffLimitExceeded: it has reached the specified backoff limit"},
		{"a pod that was just made", `{apiVersion: v1, kind: Pod}`, "progressing not started yet"},
		{"a pod that is ready is not done", `{apiVersion: v1, kind: Pod, status: {phase: Running, conditions: [{type: Ready, status: "True"}]}}`, "progressing its phase is Running"},
		{"a pod says what its container waits for", `{apiVersion: v1, kind: Pod, status: {phase: Pending, containerStatuses: [{name: main, image: x:1, state: {waiting: {reason: ImagePullBackOff, message: "Back-off pulling image \"x:1\": x:1: not found"}}}]}}`,
			"progressing its phase is Pending; container main: ImagePullBackOff: x:1: not found, hopeless"},
		{"a pod that no node takes", `{apiVersion: v1, kind: Pod, status: {phase: Pending, conditions: [{type: PodScheduled, status: "False", reason: Unschedulable, message: 0/3 nodes}]}}`,
			"progressing its phase is Pending; Unschedulable: 0/3 nodes, hopeless"},
		{"a pod that succeeded", `{apiVersion: v1, kind: Pod, status: {phase: Succeeded}}`, "ready completed"},
		{"a pod that failed says which container did", `{apiVersion: v1, kind: Pod, status: {phase: Failed, message: it was evicted, containerStatuses: [{name: a, state: {terminated: {exitCode: 0}}}, {name: b, state: {terminated: {exitCode: 3}}}]}}`,
			"failed the pod failed: container b ended with 3; it was evicted"},
		{"a definition", `{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition}`, "progressing not established yet"},
		{"everything else is done when it is there", `{apiVersion: apps/v1, kind: Deployment}`, "ready "},
	} {
		t.Run(c.reason, func(t *testing.T) {
			var obj map[string]any
			if err := yaml.Unmarshal([]byte(c.object), &obj); err != nil {
				t.Fatal(err)
			}
			st := Finished(obj)
			got := strings.Join(append([]string{string(st.State) + " " + st.Reason}, st.Details...), "; ")
			if st.Stalled {
				got += ", hopeless"
			}
			if got != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}

package health

import (
	"fmt"
	"strings"

	"github.com/fluxcd/cli-utils/pkg/kstatus/status"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"hawser.dev/hawser/internal/object"
)

// Of judges a live object by its content. The rules given come first; the first that applies decides. Then the kinds
// whose states people should be able to read are judged here, those of well-known operators by built-in rules, and all
// others by kstatus, the rules of kubectl's and Flux' waiting (conditions Ready, Stalled, Reconciling and
// observedGeneration).
func Of(obj map[string]any, rules Rules) Status {
	u := &unstructured.Unstructured{Object: obj}
	if u.GetDeletionTimestamp() != nil {
		return Leaving(obj)
	}
	if st, ok := checked(u, rules.Checks, rules); ok {
		return st
	}
	r := object.Object{Body: obj}.Ref()
	if judge, ok := judges[r.Group+"/"+r.Kind]; ok {
		if behind(obj) {
			return notSeen
		}
		return judge(obj)
	}
	if st, ok := checked(u, builtins(r), rules); ok {
		return st
	}
	return generic(u)
}

// notSeen is what an object is whose status tells of an older generation.
var notSeen = Status{State: Progressing, Reason: "its controller has not seen the change yet"}

// checked asks the rules for the object's kind and name. A rule in CEL may trust the status: one that tells of an older
// generation was not asked.
func checked(u *unstructured.Unstructured, checks []Check, by Rules) (Status, bool) {
	if by.Checker == nil {
		return Status{}, false
	}
	ref := object.Object{Body: u.Object}.Ref()
	for _, c := range checks {
		if !c.For(ref) {
			continue
		}
		if c.CEL != nil && behind(u.Object) && !flag(u.Object, "spec", "suspend") {
			return notSeen, true
		}
		c.Cluster = by.Cluster
		st, ok, err := by.Checker.Check(c, u.Object)
		switch {
		case err != nil:
			return Status{State: Progressing, Reason: c.Title() + ": " + err.Error()}, true
		case ok:
			return st, true
		}
	}
	return Status{}, false
}

// judges decide by kind ("group/Kind"); the generation was compared before.
var judges = map[string]func(map[string]any) Status{
	"apps/Deployment":        deployment,
	"apps/StatefulSet":       statefulSet,
	"apps/DaemonSet":         daemonSet,
	"batch/Job":              job,
	"batch/CronJob":          func(map[string]any) Status { return Status{State: Ready} },
	"/Pod":                   aPod,
	"/Service":               service,
	"/PersistentVolumeClaim": claim,
	"/Namespace":             func(map[string]any) Status { return Status{State: Ready} },
	"apiextensions.k8s.io/CustomResourceDefinition": definition,
	"apiregistration.k8s.io/APIService":             apiService,
}

// behind reports that the controller has not observed the generation that is there. A kind without
// observedGeneration, or a status that was never written, is not behind by itself.
func behind(obj map[string]any) bool {
	observed, ok := number(obj, "status", "observedGeneration")
	generation, has := number(obj, "metadata", "generation")
	if !ok {
		switch text(obj, "kind") {
		case "Deployment", "StatefulSet", "DaemonSet":
			return true
		}
		return false
	}
	return has && observed < generation
}

func generic(u *unstructured.Unstructured) Status {
	res, err := status.Compute(u)
	if err != nil {
		return Status{State: Progressing, Reason: err.Error()}
	}
	switch res.Status {
	case status.CurrentStatus:
		return Status{State: Ready}
	case status.FailedStatus:
		return Status{State: Failed, Reason: res.Message}
	case status.TerminatingStatus:
		return Status{State: Terminating, Reason: res.Message}
	}
	return Status{State: Progressing, Reason: res.Message}
}

func deployment(obj map[string]any) Status {
	want := numberOr(obj, 1, "spec", "replicas")
	updated := numberOr(obj, 0, "status", "updatedReplicas")
	total := numberOr(obj, 0, "status", "replicas")
	available := numberOr(obj, 0, "status", "availableReplicas")
	ready := numberOr(obj, 0, "status", "readyReplicas")
	if c := condition(obj, "ReplicaFailure"); c.status == "True" {
		return Status{State: Progressing, Reason: pods(ready, want), Stalled: true, Details: []string{c.reason + ": " + c.message}}
	}
	if c := condition(obj, "Progressing"); c.reason == "ProgressDeadlineExceeded" {
		return Status{State: Failed, Reason: pods(ready, want) + ", its progress deadline is over"}
	}
	if flag(obj, "spec", "paused") {
		return Status{State: Ready, Reason: "paused"}
	}
	switch {
	case updated < want:
		return Status{State: Progressing, Reason: fmt.Sprintf("%d of %d pods updated", updated, want)}
	case total > updated:
		return Status{State: Progressing, Reason: fmt.Sprintf("%d old %s to go", total-updated, plural(total-updated, "pod"))}
	case available < want:
		return Status{State: Progressing, Reason: pods(min(ready, available), want)}
	}
	return Status{State: Ready, Reason: pods(want, want)}
}

func statefulSet(obj map[string]any) Status {
	want := numberOr(obj, 1, "spec", "replicas")
	ready := numberOr(obj, 0, "status", "readyReplicas")
	updated := numberOr(obj, 0, "status", "updatedReplicas")
	st := generic(&unstructured.Unstructured{Object: obj})
	if st.State == Ready {
		st.Reason = pods(ready, want)
		return st
	}
	if text(obj, "spec", "updateStrategy", "type") == "OnDelete" || ready < want || updated >= want {
		st.Reason = pods(ready, want)
		return st
	}
	st.Reason = fmt.Sprintf("%d of %d pods updated", updated, want)
	return st
}

func daemonSet(obj map[string]any) Status {
	want := numberOr(obj, 0, "status", "desiredNumberScheduled")
	updated := numberOr(obj, 0, "status", "updatedNumberScheduled")
	available := numberOr(obj, 0, "status", "numberAvailable")
	switch {
	case updated < want && text(obj, "spec", "updateStrategy", "type") != "OnDelete":
		return Status{State: Progressing, Reason: fmt.Sprintf("%d of %d pods updated", updated, want)}
	case available < want:
		return Status{State: Progressing, Reason: pods(available, want)}
	}
	return Status{State: Ready, Reason: pods(want, want)}
}

// job is ready when it completed. A suspended one is not waited for: nothing runs.
func job(obj map[string]any) Status {
	want := numberOr(obj, 1, "spec", "completions")
	done := numberOr(obj, 0, "status", "succeeded")
	if c := condition(obj, "Failed"); c.status == "True" {
		return Status{State: Failed, Reason: "the job failed: " + c.both()}
	}
	if condition(obj, "Complete").status == "True" {
		return Status{State: Ready, Reason: "completed"}
	}
	if c := condition(obj, "FailureTarget"); c.status == "True" {
		return Status{State: Progressing, Reason: "the job is about to fail: " + c.both()}
	}
	if flag(obj, "spec", "suspend") {
		return Status{State: Ready, Reason: "suspended"}
	}
	reason := fmt.Sprintf("%d of %d %s", done, want, plural(want, "completion"))
	if failed := numberOr(obj, 0, "status", "failed"); failed > 0 {
		reason += fmt.Sprintf(", %d %s failed (backoff limit %d)", failed, plural(failed, "pod"), numberOr(obj, 6, "spec", "backoffLimit"))
	}
	return Status{State: Progressing, Reason: reason}
}

// aPod is ready when it ended well, or runs and is ready.
func aPod(obj map[string]any) Status {
	switch text(obj, "status", "phase") {
	case "Succeeded":
		return Status{State: Ready, Reason: "completed"}
	case "Failed":
		return Status{State: Failed, Reason: "the pod failed: " + ended(obj)}
	}
	if condition(obj, "Ready").status == "True" {
		return Status{State: Ready, Reason: "running"}
	}
	return held(obj, "not ready yet")
}

// ended says how a failed pod's containers ended.
func ended(obj map[string]any) string {
	var parts []string
	if r := strings.TrimSpace(text(obj, "status", "reason") + " " + text(obj, "status", "message")); r != "" {
		parts = append(parts, r)
	}
	for _, kind := range []string{"initContainerStatuses", "containerStatuses"} {
		list, _, _ := unstructured.NestedSlice(obj, "status", kind)
		for _, item := range list {
			c, _ := item.(map[string]any)
			if code, ok := number(c, "state", "terminated", "exitCode"); ok && code != 0 {
				parts = append(parts, fmt.Sprintf("container %s: %s, exit code %d", text(c, "name"), text(c, "state", "terminated", "reason"), code))
			}
		}
	}
	if len(parts) == 0 {
		return "no container says why"
	}
	return strings.Join(parts, "; ")
}

func service(obj map[string]any) Status {
	if text(obj, "spec", "type") != "LoadBalancer" {
		return Status{State: Ready}
	}
	if list, _, _ := unstructured.NestedSlice(obj, "status", "loadBalancer", "ingress"); len(list) > 0 {
		return Status{State: Ready}
	}
	return Status{State: Progressing, Reason: "waiting for a load balancer's address"}
}

func claim(obj map[string]any) Status {
	switch text(obj, "status", "phase") {
	case "Lost":
		return Status{State: Failed, Reason: "its volume is lost"}
	case "Bound":
		return Status{State: Ready, Reason: "bound"}
	}
	return Status{State: Ready, Reason: "not bound yet"}
}

func definition(obj map[string]any) Status {
	if c := condition(obj, "NamesAccepted"); c.status == "False" {
		return Status{State: Failed, Reason: "its names are not accepted: " + c.text()}
	}
	if condition(obj, "Established").status == "True" {
		return Status{State: Ready, Reason: "established"}
	}
	return Status{State: Progressing, Reason: "not established yet"}
}

func apiService(obj map[string]any) Status {
	c := condition(obj, "Available")
	switch c.status {
	case "True":
		return Status{State: Ready, Reason: "available"}
	case "":
		return Status{State: Progressing, Reason: "not available yet"}
	}
	return Status{State: Progressing, Reason: "not available: " + c.text()}
}

func pods(have, want int64) string {
	return fmt.Sprintf("%d of %d %s ready", have, want, plural(want, "pod"))
}

func plural(n int64, noun string) string {
	if n == 1 {
		return noun
	}
	return noun + "s"
}

// Finished judges the object of a hook: whether it has done its work. Ready is done, Failed has failed for good.
func Finished(obj map[string]any) Status {
	r := object.Object{Body: obj}.Ref()
	switch {
	case !WaitsAsHook(r):
		return Status{State: Ready}
	case r.Kind == "Job":
		if st := job(obj); st.State != Ready || st.Reason == "completed" {
			return st
		}
		return Status{State: Progressing, Reason: "suspended"}
	case r.Kind == "Pod":
		return finishedPod(obj)
	}
	return definition(obj)
}

func finishedPod(obj map[string]any) Status {
	switch phase := text(obj, "status", "phase"); phase {
	case "Succeeded":
		return Status{State: Ready, Reason: "completed"}
	case "Failed":
		return Status{State: Failed, Reason: "the pod failed" + exits(obj)}
	case "":
		return Status{State: Progressing, Reason: "not started yet"}
	default:
		return held(obj, "its phase is "+phase)
	}
}

// held is the state of a pod that is not done or not ready: what its containers wait for, and whether that can come.
func held(obj map[string]any, reason string) Status {
	st := Status{State: Progressing, Reason: reason}
	lines, hopeless := pod(obj)
	for _, l := range lines {
		st.Details = append(st.Details, strings.TrimLeft(l, ":, "))
	}
	st.Stalled = hopeless
	return st
}

// exits are the containers that ended with an error, and the pod's own words.
func exits(obj map[string]any) string {
	var parts []string
	list, _, _ := unstructured.NestedSlice(obj, "status", "containerStatuses")
	for _, c := range list {
		m, _ := c.(map[string]any)
		if code, _ := number(m, "state", "terminated", "exitCode"); code != 0 {
			parts = append(parts, fmt.Sprintf("container %s ended with %d", text(m, "name"), code))
		}
	}
	if m := text(obj, "status", "message"); m != "" {
		parts = append(parts, m)
	}
	if len(parts) == 0 {
		return ""
	}
	return ": " + strings.Join(parts, "; ")
}

package health

import (
	"fmt"
	"strings"

	"github.com/fluxcd/cli-utils/pkg/kstatus/status"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"hawser.dev/hawser/internal/object"
)

// Of judges a live object by its content. A module's own checks come first; the first that applies decides. Then the
// kinds whose states people should be able to read are judged here, and all others by kstatus, the rules of kubectl's
// and Flux' waiting (conditions Ready, Stalled, Reconciling and observedGeneration).
func Of(obj map[string]any, rules Rules) Status {
	u := &unstructured.Unstructured{Object: obj}
	if u.GetDeletionTimestamp() != nil {
		st := Status{State: Terminating, Reason: "is being deleted"}
		if f := u.GetFinalizers(); len(f) > 0 {
			st.Reason += ", held by finalizer " + strings.Join(f, ", ")
		}
		return st
	}
	if st, ok := checked(u, rules); ok {
		return st
	}
	r := object.Object{Body: obj}.Ref()
	if judge, ok := judges[r.Group+"/"+r.Kind]; ok {
		if behind(obj) {
			return Status{State: Progressing, Reason: "its controller has not seen the change yet"}
		}
		return judge(obj)
	}
	return generic(u)
}

// checked asks the module's checks for the object's kind.
func checked(u *unstructured.Unstructured, rules Rules) (Status, bool) {
	if rules.Checker == nil {
		return Status{}, false
	}
	gvk := u.GroupVersionKind()
	for _, c := range rules.Checks {
		if c.Group != gvk.Group || c.Kind != "" && c.Kind != gvk.Kind {
			continue
		}
		st, ok, err := rules.Checker.Check(c, u.Object)
		switch {
		case err != nil:
			return Status{State: Progressing, Reason: "health check " + c.Name + ": " + err.Error()}, true
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
		return Status{State: Progressing, Reason: pods(ready, want), Hopeless: true, Details: []string{c.reason + ": " + c.message}}
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

func job(obj map[string]any) Status {
	want := numberOr(obj, 1, "spec", "completions")
	done := numberOr(obj, 0, "status", "succeeded")
	if c := condition(obj, "Failed"); c.status == "True" {
		return Status{State: Failed, Reason: "the job failed: " + c.text()}
	}
	if condition(obj, "Complete").status == "True" {
		return Status{State: Ready, Reason: "completed"}
	}
	if flag(obj, "spec", "suspend") {
		return Status{State: Ready, Reason: "suspended"}
	}
	return Status{State: Progressing, Reason: fmt.Sprintf("%d of %d %s", done, want, plural(want, "completion"))}
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

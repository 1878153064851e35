package health

import (
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

// hopelessReasons are why a container waits that waiting does not heal.
var hopelessReasons = []string{"ImagePullBackOff", "ErrImagePull", "InvalidImageName", "ErrImageNeverPull",
	"CrashLoopBackOff", "CreateContainerConfigError", "CreateContainerError", "RunContainerError"}

// maxDetails bounds the lines about pods: a thousand pods that cannot pull one image say the same thing.
const maxDetails = 5

// WithPods adds what an unready workload's pods say: one line per container that waits for something that does not
// come, and per pod that no node takes; what several pods say is told once. Stalled is set when any of it cannot heal
// by waiting. A ready status is returned as it is.
func WithPods(st Status, podList []map[string]any) Status {
	if st.State == Ready {
		return st
	}
	names := map[string][]string{} // by what they say
	for _, p := range podList {
		lines, hopeless := pod(p)
		name := text(p, "metadata", "name")
		for _, l := range lines {
			if !slices.Contains(names[l], name) {
				names[l] = append(names[l], name)
			}
		}
		st.Stalled = st.Stalled || hopeless
	}
	details := make([]string, 0, len(names))
	for line, pods := range names {
		slices.Sort(pods)
		head := "pod " + pods[0]
		if n := len(pods) - 1; n > 0 {
			head += fmt.Sprintf(" and %d more", n)
		}
		details = append(details, head+line)
	}
	slices.Sort(details)
	if n := len(details); n > maxDetails {
		details = append(details[:maxDetails:maxDetails], fmt.Sprintf("and %d more", n-maxDetails))
	}
	if len(details) > 0 {
		st.Details = append(st.Details, details...)
	}
	return st
}

// WithEvents adds the warnings that a controller left about a workload it cannot make pods for (quota, admission).
func WithEvents(st Status, events []map[string]any) Status {
	if st.State == Ready {
		return st
	}
	for _, e := range events {
		if text(e, "type") != "Warning" {
			continue
		}
		line := text(e, "reason") + ": " + text(e, "message")
		if text(e, "reason") == "FailedCreate" {
			st.Stalled = true
		}
		if !slices.Contains(st.Details, line) && len(st.Details) < maxDetails {
			st.Details = append(st.Details, line)
		}
	}
	return st
}

// pod is what one pod says, each line to stand behind its name.
func pod(p map[string]any) (lines []string, hopeless bool) {
	if text(p, "metadata", "deletionTimestamp") != "" {
		return nil, false
	}
	if c := condition(p, "PodScheduled"); c.status == "False" && c.reason == "Unschedulable" {
		return []string{": Unschedulable: " + c.message}, true
	}
	for _, kind := range []string{"initContainerStatuses", "containerStatuses"} {
		list, _, _ := unstructured.NestedSlice(p, "status", kind)
		for _, item := range list {
			c, ok := item.(map[string]any)
			if !ok {
				continue
			}
			line, bad := container(c)
			if line != "" {
				lines = append(lines, line)
			}
			hopeless = hopeless || bad
		}
	}
	if len(lines) == 0 && text(p, "status", "phase") == "Failed" {
		lines = append(lines, ": "+text(p, "status", "reason")+" "+text(p, "status", "message"))
	}
	return lines, hopeless
}

func container(c map[string]any) (line string, hopeless bool) {
	prefix := ", container " + text(c, "name") + ": "
	reason, message := text(c, "state", "waiting", "reason"), text(c, "state", "waiting", "message")
	if reason == "" || reason == "ContainerCreating" || reason == "PodInitializing" {
		if r := text(c, "state", "terminated", "reason"); r != "" && r != "Completed" {
			return prefix + r, false
		}
		return "", false
	}
	line = prefix + reason
	if message = shortPull(message, text(c, "image")); message != "" {
		line += ": " + message
	}
	if code, ok := number(c, "lastState", "terminated", "exitCode"); ok && reason == "CrashLoopBackOff" {
		line = prefix + fmt.Sprintf("%s (last exit: %s, code %d)", reason, text(c, "lastState", "terminated", "reason"), code)
	}
	return line, slices.Contains(hopelessReasons, reason)
}

// shortPull is what a registry said about an image, without the container runtime's words around it: each of its layers
// repeats the image, and the last one has the reason.
func shortPull(message, image string) string {
	if i := strings.LastIndex(message, image+": "); image != "" && i > 0 {
		return message[i:]
	}
	return message
}

// PodSelector is a workload's selector as a query, "" when it has none.
func PodSelector(obj map[string]any) string {
	raw, ok, _ := unstructured.NestedMap(obj, "spec", "selector")
	if !ok {
		return ""
	}
	var sel metav1.LabelSelector
	if runtime.DefaultUnstructuredConverter.FromUnstructured(raw, &sel) != nil {
		return ""
	}
	out, err := metav1.LabelSelectorAsSelector(&sel)
	if err != nil || out.Empty() {
		return ""
	}
	return out.String()
}

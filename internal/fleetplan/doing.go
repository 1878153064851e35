package fleetplan

import "strings"

// Doing is what a cluster is at, on one line: the object, what is said of it, and for how long it has been waited for (""
// where it is not). Where that does not fit, the pod's name goes; then the reason comes first, so that what is cut off at
// the end is the object.
func Doing(object, message, age string, fits func(string) bool) string {
	join := func(sep string, parts ...string) string {
		var some []string
		for _, p := range parts {
			if p != "" {
				some = append(some, p)
			}
		}
		return strings.Join(some, sep)
	}
	between := " "
	if age == "" {
		between = ": "
	}
	short := Podless(message)
	var text string
	for _, text = range []string{join(", ", join(between, object, message), age), join(", ", join(between, object, short), age), join(", ", short, age, object)} {
		if fits(text) {
			break
		}
	}
	return text
}

// Podless is what a pod says without the pod's name, which is another one on each cluster.
func Podless(cause string) string {
	if !strings.HasPrefix(cause, "pod ") {
		return cause
	}
	if end := strings.IndexAny(cause, ",:"); end > 0 {
		return strings.TrimLeft(cause[end:], ",: ")
	}
	return cause
}

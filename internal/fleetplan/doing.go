package fleetplan

import "strings"

// Doing is what a cluster is at, on one line: the object, what is said of it, and for how long it has been waited for (""
// where it is not). Where that does not fit, the names of pod and container go; then the reason is cut at a word. The object
// stays.
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
	for _, text = range []string{join(", ", join(between, object, message), age), join(", ", join(between, object, short), age)} {
		if fits(text) {
			return text
		}
	}
	if _, reason, ok := strings.Cut(short, ": "); ok && strings.HasPrefix(short, "container ") { // why says more than in which
		short = reason
		if text = join(", ", join(between, object, short), age); fits(text) {
			return text
		}
	}
	words := strings.Fields(short)
	for n := len(words) - 1; n > 0; n-- {
		if text = join(", ", join(between, object, strings.TrimRight(strings.Join(words[:n], " "), ",:;")+" ..."), age); fits(text) {
			return text
		}
	}
	return join(", ", object, age) // what is too long even so is cut by whoever prints it
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

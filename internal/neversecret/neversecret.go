// Package neversecret says at which places of objects no secret stands: those that say what runs, as whom, with whose secrets, and who
// may do what. What a kept release calls secret there is shown.
//
// neversecret must not know objects, nor who calls what secret.
package neversecret

import (
	"slices"
	"strconv"
	"strings"
)

var (
	// fields are never secret, wherever they stand but in data.
	fields = set("image", "serviceAccountName", "serviceAccount", "nodeName", "secretName", "claimName", "runtimeClassName", "priorityClassName", "schedulerName")
	// parts are never secret with everything below them.
	parts = set("securityContext", "hostPath", "nodeSelector", "tolerations")
	// references name other objects in a field called name.
	references = set("secretRef", "configMapRef", "secretKeyRef", "configMapKeyRef", "imagePullSecrets", "secret", "configMap")
	// lists of texts that are run.
	lists = set("command", "args")
	// ports and labels are fields of numbers and of what is selected by, which say what is called how.
	ports  = set("port", "containerPort", "hostPort", "targetPort", "nodePort")
	labels = set("labels", "matchLabels", "matchExpressions", "selector")
	// groups whose objects give rights, or decide about what others write.
	groups = set("rbac.authorization.k8s.io", "admissionregistration.k8s.io", "apiregistration.k8s.io")
)

func set(names ...string) map[string]bool {
	out := map[string]bool{}
	for _, n := range names {
		out[n] = true
	}
	return out
}

// Place reports whether what stands at a path of an object of a group and kind is never secret. The path has the names of fields, and
// "" for an item of a list.
func Place(group, kind string, path []string) bool {
	switch {
	case len(path) == 0:
		return false
	case path[0] == "metadata":
		return metadata(group, kind, path[1:])
	case groups[group]:
		return path[len(path)-1] != "url"
	case group == "" && (kind == "Namespace" || kind == "ServiceAccount"), group == "networking.k8s.io" && kind == "NetworkPolicy":
		return true
	case data(group, kind):
		return false
	}
	last := path[len(path)-1]
	return fields[last] || last == "name" && references[listOf(path)] || slices.ContainsFunc(path, func(name string) bool { return parts[name] })
}

// Named reports whether what stands at a path says what something is called or selected by, what runs, and who may do what: Place, and labels, selectors,
// names, keys of references and ports anywhere. A secret of the instance's own that equals such a thing hides it, and has no business there.
func Named(group, kind string, path []string) bool {
	if Place(group, kind, path) {
		return true
	}
	if len(path) == 0 || path[0] == "metadata" || data(group, kind) || slices.Contains(path, "annotations") {
		return false
	}
	last, in := path[len(path)-1], listOf(path)
	return last == "name" || ports[last] || last == "number" && in == "port" || last == "key" && (references[in] || in == "items") ||
		slices.ContainsFunc(path, func(name string) bool { return labels[name] })
}

// Mask is what hides in a text at a path: mask, or own, which knows of fewer secrets, where it is never secret; what gives rights is shown
// there.
func Mask(group, kind string, path []string, mask, own func(text string) string) func(text string) string {
	switch {
	case !Place(group, kind, path):
		return mask
	case groups[group]:
		return func(text string) string { return text }
	}
	return own
}

// At is Place of a path as plans write it: names between dots, in quotes where they have dots themselves, items of lists in brackets.
func At(group, kind, path string) bool { return Place(group, kind, Steps(path)) }

// Steps are those of such a path.
func Steps(path string) (steps []string) {
	for path != "" {
		end := strings.IndexAny(path, ".[")
		switch {
		case path[0] == '.':
			path = path[1:]
			continue
		case path[0] == '[':
			steps, path = append(steps, ""), path[bracket(path):]
			continue
		case path[0] == '"':
			quoted, err := strconv.QuotedPrefix(path)
			if err != nil {
				return append(steps, path)
			}
			name, _ := strconv.Unquote(quoted)
			steps, path = append(steps, name), path[len(quoted):]
			continue
		case end < 0:
			end = len(path)
		}
		steps, path = append(steps, path[:end]), path[end:]
	}
	return steps
}

// bracket is where a bracket that a text begins with ends; what is in quotes does not end it.
func bracket(text string) int {
	for i := 1; i < len(text); i++ {
		switch text[i] {
		case ']':
			return i + 1
		case '"':
			if quoted, err := strconv.QuotedPrefix(text[i:]); err == nil {
				i += len(quoted) - 1
			}
		}
	}
	return len(text)
}

// identities begin the annotations of a ServiceAccount that say as whom its pods run.
var identities = []string{"eks.amazonaws.com/", "iam.gke.io/", "azure.workload.identity/"}

// metadata: annotations may be anything, but for those that say as whom pods run.
func metadata(group, kind string, path []string) bool {
	if len(path) == 0 {
		return false
	}
	return path[0] != "annotations" || len(path) > 1 && (strings.HasPrefix(path[1], "container.apparmor.security.beta.kubernetes.io/") ||
		group == "" && kind == "ServiceAccount" && slices.ContainsFunc(identities, func(begin string) bool { return strings.HasPrefix(path[1], begin) }))
}

// Kept reports whether what stands at a path says what runs, is never another's secret, and is hidden all the same where a kept release says that
// it is secret: an image with a secret of its own instance in it, which nobody else knows any more.
func Kept(group, kind string, path []string) bool {
	n := len(path)
	return n > 0 && path[n-1] == "image" && !data(group, kind) && !groups[group] && path[0] != "metadata"
}

// Runs reports whether what stands at a path says what runs: a command, or an argument of it. A secret may be among them.
func Runs(group, kind string, path []string) bool {
	n := len(path)
	return n > 0 && !data(group, kind) && path[0] != "metadata" && (lists[path[n-1]] || path[n-1] == "" && lists[listOf(path)])
}

// listOf is the field, or the list, in which the last step of a path stands.
func listOf(path []string) string {
	for i := len(path) - 2; i >= 0; i-- {
		if path[i] != "" {
			return path[i]
		}
	}
	return ""
}

// data: objects of the kind hold what anybody puts there.
func data(group, kind string) bool { return group == "" && (kind == "Secret" || kind == "ConfigMap") }

// Grants reports whether objects of a group give rights, or decide about what others write.
func Grants(group string) bool { return groups[group] }

// Admits reports whether labels say what a Namespace lets run.
func Admits(group, kind string, labels map[string]any) bool {
	for name := range labels {
		if group == "" && kind == "Namespace" && strings.HasPrefix(name, "pod-security.kubernetes.io/") {
			return true
		}
	}
	return false
}

package answer

import (
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// NameOf is the name of an object that was read; a Status and the like have none.
func NameOf(into any) string {
	switch m := into.(type) {
	case *map[string]any:
		return (&unstructured.Unstructured{Object: *m}).GetName()
	case metav1.Object:
		return m.GetName()
	}
	return ""
}

// Named is the name that the answer to a request for a typed object must have, "" for any: that of the object that was
// sent, or the last part of the path.
func Named(method, path string, body, into any) string {
	if _, ok := into.(metav1.Object); !ok {
		return ""
	}
	if sent, ok := body.(metav1.Object); ok {
		return sent.GetName()
	}
	if method == "GET" {
		return path[strings.LastIndexByte(path, '/')+1:]
	}
	return ""
}

// Doubt is why a typed object or list cannot be the answer to a query, "" when it can: objects that are kept have a uid
// and a version, a list says that it is one, also an empty one, and its pages end.
func Doubt(query url.Values, into any) string {
	switch got := into.(type) {
	case *metav1.Status: // it looks like a list
	case interface {
		metav1.ListInterface
		GetObjectKind() schema.ObjectKind
	}:
		if kind := got.GetObjectKind().GroupVersionKind().Kind; !strings.HasSuffix(kind, "List") {
			return fmt.Sprintf("gave something else (%.40q) than the list that was asked for", kind)
		}
		if got.GetContinue() != "" && got.GetContinue() == query.Get("continue") {
			return "gave a list that does not end"
		}
	case metav1.Object:
		if !query.Has("dryRun") && (got.GetUID() == "" || got.GetResourceVersion() == "") {
			return "gave an object without uid or resourceVersion"
		}
	}
	return ""
}

// Deletion is what a deletion is answered with: the object, or a Status with its uid.
type Deletion struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
	Status            any                   `json:"status"`
	Details           *metav1.StatusDetails `json:"details"`
}

// Of reports whether the answer is about the object with a uid.
func (d *Deletion) Of(uid string) bool {
	if d.Kind == "Status" {
		return d.Details != nil && string(d.Details.UID) == uid
	}
	return string(d.UID) == uid
}

// RetryAfter is the pause that an answer's header of that name asks for, 0 for none.
func RetryAfter(header string) time.Duration {
	n, err := strconv.Atoi(header)
	if err != nil || n < 0 {
		return 0
	}
	return time.Duration(n) * time.Second
}

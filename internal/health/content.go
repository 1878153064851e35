package health

import "k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

// cond is one status condition.
type cond struct{ status, reason, message string }

// text is the message, or the reason where there is none.
func (c cond) text() string {
	if c.message != "" {
		return c.message
	}
	return c.reason
}

// both is reason and message.
func (c cond) both() string {
	if c.message == "" || c.reason == "" {
		return c.text()
	}
	return c.reason + ": " + c.message
}

// condition is the status condition of a type; the zero cond when there is none.
func condition(obj map[string]any, kind string) cond {
	list, _, _ := unstructured.NestedSlice(obj, "status", "conditions")
	for _, item := range list {
		if m, ok := item.(map[string]any); ok && text(m, "type") == kind {
			return cond{text(m, "status"), text(m, "reason"), text(m, "message")}
		}
	}
	return cond{}
}

func text(obj map[string]any, path ...string) string {
	s, _, _ := unstructured.NestedString(obj, path...)
	return s
}

func flag(obj map[string]any, path ...string) bool {
	b, _, _ := unstructured.NestedBool(obj, path...)
	return b
}

// number reads an integer, also where JSON was decoded to float64.
func number(obj map[string]any, path ...string) (int64, bool) {
	v, ok, err := unstructured.NestedFieldNoCopy(obj, path...)
	if err != nil || !ok {
		return 0, false
	}
	switch n := v.(type) {
	case int64:
		return n, true
	case float64:
		return int64(n), true
	case int:
		return int64(n), true
	}
	return 0, false
}

func numberOr(obj map[string]any, def int64, path ...string) int64 {
	if n, ok := number(obj, path...); ok {
		return n
	}
	return def
}

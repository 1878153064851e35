package object

import (
	"encoding/base64"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// IsSecret reports whether the ref is a core Secret.
func (r Ref) IsSecret() bool { return r.Group == "" && r.Kind == "Secret" }

// Secret reports whether an object is a Secret, or is known to hold something secret: its digest would tell who guesses it right.
func (o Object) Secret() bool { return o.Ref().IsSecret() || len(o.Sensitive) > 0 }

// foldStringData moves a Secret's stringData into data (base64), as the API server would, so that digest, diff and
// apply see one form: a foreign stringData write is invisible in our managed fields entry otherwise.
func foldStringData(u *unstructured.Unstructured) {
	if u.GetKind() != "Secret" || u.GetAPIVersion() != "v1" {
		return
	}
	plain, ok := u.Object["stringData"].(map[string]any)
	delete(u.Object, "stringData")
	if !ok || len(plain) == 0 {
		return
	}
	data, ok := u.Object["data"].(map[string]any)
	if !ok {
		data = map[string]any{}
	}
	for k, v := range plain {
		data[k] = base64.StdEncoding.EncodeToString([]byte(fmt.Sprint(v)))
	}
	u.Object["data"] = data
}

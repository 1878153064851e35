package engine

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"slices"

	"hawser.dev/hawser/internal/object"
	"hawser.dev/hawser/internal/values"
)

// forValues is the cluster as the reader of values sees it: one that can be asked for Secrets when it is connected.
func (t *target) forValues() values.Target {
	out := values.Target{Cluster: t.cluster.Name}
	if t.session != nil {
		out.Secrets = t.secretData
	}
	return out
}

// sensitive is the object with the paths at which a value known to be secret turns up: there also what was before is
// hidden. Secrets are hidden by their kind.
func (r *run) sensitive(o object.Object) object.Object {
	if r.Redactor.Longest() == 0 {
		return o // nothing is secret
	}
	known := func(text string) bool { return r.redact(text) != text }
	if data, err := json.Marshal(o.Body); o.Ref().IsSecret() || err == nil && !known(string(data)) {
		return o
	}
	o.Sensitive = slices.Concat(o.Sensitive, object.SensitivePaths(o.Body, known))
	return o
}

// secretData reads the data of a Secret of the cluster.
func (t *target) secretData(ctx context.Context, namespace, name string) (map[string][]byte, error) {
	obj, err := t.session.Get(ctx, "v1", "Secret", namespace, name)
	if err != nil {
		return nil, err
	}
	held, _ := obj["data"].(map[string]any)
	out := make(map[string][]byte, len(held))
	for key, v := range held {
		text, _ := v.(string)
		if out[key], err = base64.StdEncoding.DecodeString(text); err != nil {
			return nil, err // the server takes nothing else; the text names an offset alone
		}
	}
	return out, nil
}

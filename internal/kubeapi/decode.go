package kubeapi

import (
	"context"
	"encoding/json"
	"net/http/httptrace"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utiljson "k8s.io/apimachinery/pkg/util/json"
)

// Metadata is the metadata of one object, as it is asked for with MetadataType.
type Metadata struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
}

// Decode reads JSON; into plain maps integers become int64, as apimachinery has them.
func Decode(data []byte, into any) error {
	if m, ok := into.(*map[string]any); ok {
		return utiljson.Unmarshal(data, m)
	}
	return json.Unmarshal(data, into)
}

// traceConn calls fn once when a request has its connection.
func traceConn(ctx context.Context, fn func()) context.Context {
	return httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) { fn() }})
}

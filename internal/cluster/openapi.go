package cluster

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"hawser.dev/hawser/internal/answer"
	"hawser.dev/hawser/internal/kubeapi"
	"hawser.dev/hawser/internal/openapi"
)

// OpenAPI reads one of the server's OpenAPI documents: openapi.Root, or a relative URL that stands there. A URL that leads
// anywhere else is an error.
func (s *Session) OpenAPI(ctx context.Context, at string) ([]byte, error) {
	u, err := url.Parse(at)
	if err != nil || u.Host != "" || u.Scheme != "" || u.Path != openapi.Root && !strings.HasPrefix(u.Path, openapi.Root+"/") || strings.Contains(u.Path, "..") {
		return nil, fmt.Errorf("%.200q is no OpenAPI document of the server", at)
	}
	var data []byte
	_, err = s.Do(ctx, kubeapi.Request{Method: http.MethodGet, Path: u.Path, Query: u.Query(), Accept: kubeapi.JSONType, Limits: answer.Discovery,
		Into: func(raw []byte) error { data = bytes.Clone(raw); return nil }})
	return data, err
}

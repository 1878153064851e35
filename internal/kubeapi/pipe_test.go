package kubeapi

import (
	"testing"

	"hawser.dev/hawser/internal/fleet"
)

// A kubeconfig that came from a pipe is taken from the access: the pipe is empty by now.
func TestKubeconfigOfAPipe(t *testing.T) {
	text := "apiVersion: v1\nkind: Config\nclusters: [{name: c, cluster: {server: 'https://127.0.0.1:1'}}]\nusers: [{name: u, user: {token: x}}]\n" +
		"contexts: [{name: x, context: {cluster: c, user: u}}]\n"
	cfg, err := restConfig(Config{Access: fleet.Access{KubeconfigPaths: []string{"/dev/fd/1000000"}, Content: []byte(text), Context: "x"}})
	if err != nil || cfg.Host != "https://127.0.0.1:1" || cfg.BearerToken != "x" {
		t.Errorf("%v %+v", err, cfg)
	}
}

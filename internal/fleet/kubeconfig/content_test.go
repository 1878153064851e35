package kubeconfig

import (
	"encoding/base64"
	"strings"
	"testing"

	"hawser.dev/hawser/api/v1alpha1"
	"hawser.dev/hawser/internal/fleet"
)

// TestContentForItsPath: of a kubeconfig's content that stands where its path is wanted nothing is said.
func TestContentForItsPath(t *testing.T) {
	const text = "apiVersion: v1\nclusters: [{name: c, cluster: {server: 'https://h'}}]\nusers: [{name: u, user: {token: t0k3nt0k3n}}]\n"
	encoded := base64.StdEncoding.EncodeToString([]byte(text))
	for _, content := range []string{text, encoded, `{"clusters": [], "users": [{"user": {"token": "t0k3nt0k3n"}}]}`, strings.ReplaceAll(text, "\n", " ")} {
		t.Setenv("KUBECONFIG", content)
		said := map[string]string{}
		_, fs := new(Resolver).Resolve(declared("x"), fleet.AccessOptions{})
		said["KUBECONFIG holds"] = fs.Err().Error()
		_, fs = new(Resolver).Resolve(declared("x"), fleet.AccessOptions{Kubeconfig: content})
		said["--kubeconfig holds"] = fs.Err().Error()
		_, fs = new(Resolver).Resolve(fleet.Cluster{ClusterSpec: v1alpha1.ClusterSpec{Name: "c", Kubeconfig: &v1alpha1.KubeconfigAccess{Path: content, Dir: "/x"}}}, fleet.AccessOptions{})
		said["the fleet's file holds"] = fs.Err().Error()
		for want, got := range said {
			if !strings.Contains(got, want+" the content of a kubeconfig") || strings.Contains(got, "t0k3n") || strings.Contains(got, encoded[10:60]) {
				t.Errorf("%s: %s", want, got)
			}
		}
	}
	if got := readable("-----BEGIN PRIVATE KEY-----\nMII"); strings.Contains(got, "MII") || got == "" {
		t.Error(got)
	}
}

package kubeapi

import (
	"context"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"hawser.dev/hawser/internal/object"
)

// ServerVersion asks for the API server's version; like says how long and how often. What is no version, or what was sent, is an error.
func (c *Client) ServerVersion(ctx context.Context, like Request) (string, error) {
	var version struct {
		GitVersion string `json:"gitVersion"`
	}
	like.Path, like.Into = "/version", &version
	if _, err := c.Do(ctx, like); err != nil {
		return "", err
	}
	if err := c.echoedExactly("its version", version.GitVersion); err != nil {
		return "", err
	}
	if !versionForm.MatchString(version.GitVersion) {
		return "", c.WrongAnswer("gave a version that is none")
	}
	return strings.TrimPrefix(version.GitVersion, "v"), nil
}

// ClusterUID asks for what tells the cluster from others: the UID of kube-system, or, weak, the record namespace's where the former may not
// be read. Without that namespace there is no UID yet; it gets one with the first record. What is no UID, or what was sent, is an error.
func (c *Client) ClusterUID(ctx context.Context, like Request) (uid string, weak bool, err error) {
	for _, name := range []string{"kube-system", object.SystemNamespace} {
		var m Metadata
		like.Path, like.Named, like.Accept, like.Into = "/api/v1/namespaces/"+name, name, MetadataType, &m
		_, err = c.Do(ctx, like)
		if err == nil && !uidForm.MatchString(string(m.UID)) {
			return "", weak, c.WrongAnswer("gave the namespace %s a UID that is none", name)
		}
		if err == nil || !apierrors.IsForbidden(err) && !apierrors.IsNotFound(err) {
			return string(m.UID), weak, err
		}
		weak = true
	}
	return "", weak, nil
}

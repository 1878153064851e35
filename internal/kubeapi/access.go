package kubeapi

import (
	"encoding/base64"
	"errors"
	"fmt"
	"net"
	"path/filepath"
	"slices"
	"strings"

	"k8s.io/client-go/rest"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"hawser.dev/hawser/internal/fleet"
	"hawser.dev/hawser/internal/rootfs"
)

// serviceAccount is where Kubernetes puts the token and the authority of a pod's service account.
const serviceAccount = "/var/run/secrets/kubernetes.io/serviceaccount"

// ErrNotInCluster: the process does not run in a pod that has a service account.
var ErrNotInCluster = errors.New("this process does not run in a cluster: KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT are not set")

// InCluster is the access of a pod to the cluster it runs in, as its service account. The token is read anew about every minute, as Kubernetes
// renews it. getenv is os.Getenv. The error is ErrNotInCluster where there is no such cluster.
func InCluster(getenv func(string) string) (fleet.Access, error) {
	host, port := getenv("KUBERNETES_SERVICE_HOST"), getenv("KUBERNETES_SERVICE_PORT")
	if host == "" || port == "" {
		return fleet.Access{}, ErrNotInCluster
	}
	return fleet.Access{Server: "https://" + net.JoinHostPort(host, port), ServiceAccount: serviceAccount, From: "the service account of this pod"}, nil
}

// kubeconfigKeys are where a Secret has its kubeconfig, as Cluster API, Flux, Argo CD's importers and kubectl users write it, the likeliest first.
var kubeconfigKeys = []string{"value", "kubeconfig", "value.yaml", "config"}

// FromSecret is the access that a Secret holds: body is the Secret as the API server gives it, key the key of its kubeconfig ("" for the usual
// ones: value, kubeconfig, value.yaml, config), context the context in that ("" for its current one). It is confined: whoever may write
// a Secret may not run commands here, nor have files of this machine sent to a server. The error names the Secret and its keys, never a value.
func FromSecret(body map[string]any, key, context string) (fleet.Access, error) {
	metadata, _ := body["metadata"].(map[string]any)
	name, _ := metadata["name"].(string)
	namespace, _ := metadata["namespace"].(string)
	from := "Secret " + namespace + "/" + name
	data, _ := body["data"].(map[string]any)
	keys := kubeconfigKeys
	if key != "" {
		keys = []string{key}
	}
	for _, k := range keys {
		text, ok := data[k].(string)
		if !ok {
			continue
		}
		content, err := base64.StdEncoding.DecodeString(text)
		if err != nil || len(content) == 0 {
			return fleet.Access{}, fmt.Errorf("%s: key %q is empty or not base64", from, k)
		}
		return fleet.Access{Content: content, Context: context, Confined: true, From: fmt.Sprintf("key %q of %s", k, from)}, nil
	}
	return fleet.Access{}, fmt.Errorf("%s has no kubeconfig: looked for %s among %d keys", from, strings.Join(keys, ", "), len(data))
}

// inPod is the client configuration of a service account whose token and authority lie in a directory.
func inPod(a fleet.Access) (*rest.Config, error) {
	token, authority := filepath.Join(a.ServiceAccount, "token"), filepath.Join(a.ServiceAccount, "ca.crt")
	for _, file := range []string{token, authority} {
		if _, err := rootfs.ReadFile(file, rootfs.MaxSmall); err != nil {
			return nil, fmt.Errorf("the service account: %w", err)
		}
	}
	return &rest.Config{Host: a.Server, BearerTokenFile: token, TLSClientConfig: rest.TLSClientConfig{CAFile: authority}}, nil
}

// confined refuses what leads out of a kubeconfig's own content: a command, a plug-in of the library, a file of this machine. own is the part
// that one context uses.
func confined(own clientcmdapi.Config, from string) error {
	refuse := func(what string) error {
		return fmt.Errorf("the kubeconfig of %s %s: only its own content is used, since whoever wrote it could run commands here, or have files of this machine sent to a server; write the certificates and tokens into it (kubectl config view --flatten)", from, what)
	}
	for _, user := range own.AuthInfos {
		switch {
		case user.Exec != nil:
			return refuse(fmt.Sprintf("runs the command %q to make credentials", user.Exec.Command))
		case user.AuthProvider != nil:
			return refuse(fmt.Sprintf("has the auth-provider %q", user.AuthProvider.Name))
		case user.TokenFile != "":
			return refuse("reads a file: tokenFile")
		case user.ClientCertificate != "":
			return refuse("reads a file: client-certificate")
		case user.ClientKey != "":
			return refuse("reads a file: client-key")
		}
	}
	for _, cluster := range own.Clusters {
		if cluster.CertificateAuthority != "" {
			return refuse("reads a file: certificate-authority")
		}
	}
	return nil
}

// hasKubeconfig reports whether an access is one that a kubeconfig describes.
func hasKubeconfig(a fleet.Access) bool {
	return a.Content != nil || slices.ContainsFunc(a.KubeconfigPaths, func(path string) bool { return path != "" })
}

package state

import (
	"bytes"
	"fmt"
	"strconv"

	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// FaultSuffix makes the name of a cluster's fault context from the name of the cluster.
const FaultSuffix = "-fault"

// Identity is a client certificate with its key and the authority its servers are checked against, all PEM.
type Identity struct {
	User          string
	CA, Cert, Key []byte
}

// Kubeconfig makes a kubeconfig with two contexts per cluster: NAME, straight to the API server, and NAME-fault,
// through the fault-injecting proxy. The first cluster is the current context.
func Kubeconfig(clusters []Cluster, id Identity) ([]byte, error) {
	cfg := clientcmdapi.NewConfig()
	cfg.AuthInfos[id.User] = &clientcmdapi.AuthInfo{ClientCertificateData: id.Cert, ClientKeyData: id.Key}
	add := func(name, url string) {
		cfg.Clusters[name] = &clientcmdapi.Cluster{Server: url, CertificateAuthorityData: id.CA}
		cfg.Contexts[name] = &clientcmdapi.Context{Cluster: name, AuthInfo: id.User}
	}
	for _, c := range clusters {
		add(c.Name, c.URL())
		add(c.Name+FaultSuffix, c.FaultURL())
	}
	if len(clusters) > 0 {
		cfg.CurrentContext = clusters[0].Name
	}
	return clientcmd.Write(*cfg)
}

// FleetCUE makes the fleet file in CUE. It names the kubeconfig by its absolute path, so that it works whatever
// KUBECONFIG says.
func FleetCUE(s *Sandbox, kubeconfig string) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "// Written by hawser-sandbox; rewritten whenever the sandbox grows.\n")
	fmt.Fprintf(&b, "fleet: {\n\tapiVersion: \"v1alpha1\"\n\tname:       %s\n\tclusters: {\n", strconv.Quote(s.Name))
	for _, c := range s.Clusters {
		fmt.Fprintf(&b, "\t\t%s: {group: %s, kubeconfig: {path: %s, context: %s}}\n",
			strconv.Quote(c.Name), strconv.Quote(c.Group), strconv.Quote(kubeconfig), strconv.Quote(c.Name))
	}
	b.WriteString("\t}\n}\n")
	return b.Bytes()
}

// FleetYAML makes the same fleet file in YAML. Names are quoted: a cluster may be called "no" or "1".
func FleetYAML(s *Sandbox, kubeconfig string) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "# Written by hawser-sandbox; rewritten whenever the sandbox grows.\n")
	fmt.Fprintf(&b, "fleet:\n  apiVersion: v1alpha1\n  name: %s\n  clusters:\n", strconv.Quote(s.Name))
	for _, c := range s.Clusters {
		fmt.Fprintf(&b, "    %s: {group: %s, kubeconfig: {path: %s, context: %s}}\n",
			strconv.Quote(c.Name), strconv.Quote(c.Group), strconv.Quote(kubeconfig), strconv.Quote(c.Name))
	}
	return b.Bytes()
}

// SaveFiles writes state.json, kubeconfig, fleet.cue and fleet.yaml.
func (d Dir) SaveFiles(s *Sandbox, admin Identity) error {
	if err := d.Save(s); err != nil {
		return err
	}
	kubeconfig, err := Kubeconfig(s.Clusters, admin)
	if err != nil {
		return err
	}
	if err := WriteFile(d.Kubeconfig(), kubeconfig); err != nil {
		return err
	}
	if err := WriteFile(d.FleetCUE(), FleetCUE(s, d.Kubeconfig())); err != nil {
		return err
	}
	return WriteFile(d.FleetYAML(), FleetYAML(s, d.Kubeconfig()))
}

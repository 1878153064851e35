package kubeconfig

import (
	"path/filepath"
	"strings"

	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/fleet"
)

// fromNowhere refuses relative paths of a kubeconfig that comes from a pipe: they begin at the kubeconfig's directory, and it has none. The
// current directory would stand for it, and with it whatever the repository there calls by that name. What o replaces is not used.
func (l *loaded) fromNowhere(context *clientcmdapi.Context, o fleet.Override) *diag.Finding {
	if l.content == nil || context == nil {
		return nil
	}
	refuse := func(what, instead string) *diag.Finding {
		f := diag.Errorf("kubeconfig", "the kubeconfig %s %s by a relative path", l.found[0], what)
		f.Why = "such a path begins at the kubeconfig's directory, and a pipe has none: whatever lies in the current directory would be taken"
		f.Fix = instead + ", or name a file with --kubeconfig or KUBECONFIG"
		return &f
	}
	files := map[string]string{}
	if cluster := l.config.Clusters[context.Cluster]; cluster != nil && o.CertificateAuthority == "" && !o.InsecureSkipTLSVerify {
		files["certificate-authority"] = cluster.CertificateAuthority
	}
	if user := l.config.AuthInfos[context.AuthInfo]; user != nil && !o.Credentials() {
		if e := user.Exec; e != nil && !filepath.IsAbs(e.Command) && (strings.Contains(e.Command, "/") || filepath.Base(e.Command) != e.Command) {
			return refuse("runs the command "+e.Command, "write its absolute path, or a name that is found in PATH")
		}
		files["client-certificate"], files["client-key"], files["tokenFile"] = user.ClientCertificate, user.ClientKey, user.TokenFile
	}
	for _, field := range []string{"certificate-authority", "client-certificate", "client-key", "tokenFile"} {
		if file := files[field]; file != "" && !filepath.IsAbs(file) {
			return refuse("names the file "+file+" ("+field+")", "write its absolute path, or what it holds")
		}
	}
	return nil
}

package kubeconfig

import (
	"os"
	"path/filepath"
	"strings"

	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/fleet"
)

// fromNowhere refuses relative paths of a kubeconfig that comes from a pipe, or from an open file by its descriptor: they begin at the kubeconfig's directory, and it has none. The
// current directory would stand for it, and with it whatever the repository there calls by that name. What o replaces is not used.
func (l *loaded) fromNowhere(context *clientcmdapi.Context, o fleet.Override) *diag.Finding {
	if l.content == nil || context == nil {
		return nil
	}
	refuse := func(what, instead string) *diag.Finding {
		f := diag.Errorf("kubeconfig", "the kubeconfig %s %s by a relative path", l.found[0], what)
		f.Why = "such a path begins at the kubeconfig's directory, and a pipe or an open file (/dev/stdin) has none: whatever lies in the current directory would be taken"
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

// isDescriptor reports whether a path names what this process has open: /dev/stdin, /dev/fd/N, or a link to one.
func isDescriptor(path string) bool {
	const mostLinks = 40
	at, err := filepath.Abs(path)
	for range mostLinks {
		if err != nil {
			return false
		}
		dir := filepath.Dir(at)
		if real, err := filepath.EvalSymlinks(dir); err == nil {
			dir = real
		}
		if at == "/dev/stdin" || dir == "/dev/fd" || strings.HasPrefix(dir, "/proc/") && filepath.Base(dir) == "fd" {
			return true
		}
		var to string
		if to, err = os.Readlink(at); err == nil && !filepath.IsAbs(to) {
			to = filepath.Join(dir, to)
		}
		at = filepath.Clean(to)
	}
	return false
}

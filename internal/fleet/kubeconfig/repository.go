package kubeconfig

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/fleet"
	"hawser.dev/hawser/internal/misplaced"
	"hawser.dev/hawser/internal/rootfs"
)

// envDirs names directories whose kubeconfigs may run commands and read any file, though a fleet of the same repository names
// them: who runs Hawser says so, and not the fleet, which may come from a pull request.
const envDirs = "HAWSER_KUBECONFIG_DIRS"

// inRepository refuses, of a kubeconfig that a fleet names and that may have come with the fleet's file, a command, and a file
// outside of the repository: whoever wrote the two would have them run, and sent to a server of their choice. What is named by a relative
// path counts as come with the file, wherever it leads: a submodule, or a tree without .git, would be left by "..". So does what Hawser
// itself has unpacked: that is an artifact, a chart or a module, and its author may be the one of the fleet's file.
func (r *Resolver) inRepository(c fleet.Cluster, path string, config *clientcmdapi.Config, context *clientcmdapi.Context) *diag.Finding {
	k := c.Kubeconfig
	if k == nil {
		return nil
	}
	why := "the fleet names it and it lies in the same repository"
	switch filled := r.Filled != nil && r.Filled(path); {
	case r.allowed(path, filled):
		return nil
	case filled:
		why = "it lies where Hawser keeps what it fetched, and its author may be any"
	case !filepath.IsAbs(k.Path) && !withinHome(k.Path):
		why = "the fleet names it by a relative path, so that it may have come with the fleet's file"
	case k.Dir != "" && !rootfs.Together(k.Dir, path):
		return nil // it is somebody else's who runs it
	}
	refuse := func(what string) *diag.Finding {
		f := diag.Errorf("kubeconfig", "the kubeconfig %s %s", path, what)
		f.Why = why + ": a pull request could run commands, or have files of this machine sent to a server"
		f.Fix = "keep it outside of the repository and name it with --kubeconfig or KUBECONFIG; or whoever runs Hawser names its directory in " + envDirs + ", which no file can"
		return &f
	}
	files := map[string]string{}
	if cluster := config.Clusters[context.Cluster]; cluster != nil {
		files["certificate-authority"] = cluster.CertificateAuthority
	}
	if user := config.AuthInfos[context.AuthInfo]; user != nil {
		switch {
		case user.Exec != nil:
			return refuse(fmt.Sprintf("runs the command %q to make credentials", user.Exec.Command))
		case user.AuthProvider != nil:
			return refuse(fmt.Sprintf("has the auth-provider %q", user.AuthProvider.Name))
		}
		files["client-certificate"], files["client-key"], files["tokenFile"] = user.ClientCertificate, user.ClientKey, user.TokenFile
	}
	for _, field := range []string{"certificate-authority", "client-certificate", "client-key", "tokenFile"} {
		if file := files[field]; file != "" {
			if _, err := rootfs.Named(cmp.Or(k.Dir, "."), file); err != nil {
				if misplaced.Path(file) {
					return refuse("has the content of a file, not its path, as " + field)
				}
				return refuse("reads a file outside of it: " + field + " " + file)
			}
		}
	}
	return nil
}

// withinHome reports whether a path begins at the home directory and stays there: ~/../ is a relative path by another name.
func withinHome(path string) bool {
	return path == "~" || ofHome(path) && filepath.IsLocal(strings.TrimPrefix(path, "~/"))
}

// allowed reports whether a path lies in one of the directories that whoever runs Hawser trusts. One that holds more than what Hawser has
// unpacked, as the home does, says nothing of that.
func (r *Resolver) allowed(path string, filled bool) bool {
	for _, dir := range filepath.SplitList(os.Getenv(envDirs)) {
		real, err := filepath.EvalSymlinks(dir)
		if err == nil && filepath.IsAbs(real) && rootfs.Within(real, path) == nil && (!filled || r.Filled(filepath.Join(real, filepath.Base(path)))) {
			return true
		}
	}
	return false
}

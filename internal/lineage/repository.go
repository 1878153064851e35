package lineage

import (
	"net/url"
	"strings"
)

// sshHosts are hosts that serve a provider's SSH beside its web host.
var sshHosts = map[string]string{
	"ssh.github.com": "github.com", "altssh.gitlab.com": "gitlab.com", "altssh.bitbucket.org": "bitbucket.org", "ssh.dev.azure.com": "dev.azure.com",
}

// Repository is the address of a Git remote as host/path, the same however it is reached: by https or ssh, with any
// user, port and ending. A remote on this machine is its path. "" stays "".
func Repository(remote string) string {
	remote = strings.TrimSpace(remote)
	host, path, scp := scpLike(remote)
	if !scp {
		u, err := url.Parse(remote)
		if err != nil {
			return ""
		}
		if u.Host == "" || u.Scheme == "file" {
			return strings.TrimSuffix(strings.TrimRight(u.Path, "/"), ".git")
		}
		host, path = u.Hostname(), u.Path
	}
	host = strings.ToLower(host)
	if web, ok := sshHosts[host]; ok {
		host = web
	}
	path = strings.TrimSuffix(strings.Trim(path, "/"), ".git")
	switch {
	case host == "dev.azure.com": // v3/ORG/PROJECT/REPO by ssh, ORG/PROJECT/_git/REPO by https
		path = strings.Replace(strings.TrimPrefix(path, "v3/"), "/_git/", "/", 1)
	case strings.HasPrefix(path, "scm/"): // Bitbucket's servers have that by https alone
		path = strings.TrimPrefix(path, "scm/")
	}
	return strings.TrimSuffix(host+"/"+path, "/")
}

// scpLike takes [user@]host:path apart, as Git writes addresses for ssh.
func scpLike(remote string) (host, path string, ok bool) {
	if strings.Contains(remote, "://") {
		return "", "", false
	}
	host, path, ok = strings.Cut(remote, ":")
	if i := strings.LastIndexByte(host, '@'); i >= 0 {
		host = host[i+1:]
	}
	// a single letter is a drive, and a slash before the colon makes it a path
	return host, path, ok && len(host) > 1 && !strings.Contains(host, "/")
}

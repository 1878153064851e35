package kubeapi

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"strings"
	"sync"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// maxKubeconfigs bounds the bytes of files that a Kubeconfigs keeps.
const maxKubeconfigs = 16 << 20

// Kubeconfigs keeps merged kubeconfigs for as long as their files stay as they are: the clusters of a fleet mostly share one, with
// an entry for each of them. The zero value is ready; a Kubeconfigs must not be copied, and may be used concurrently.
type Kubeconfigs struct {
	mu    sync.Mutex
	bytes int64
	known map[string]*clientcmdapi.Config // shared: nobody changes them
}

// load merges files; content is what the one path held where it can be read only once, nil for files.
func (k *Kubeconfigs) load(paths []string, content []byte) (*clientcmdapi.Config, error) {
	if content != nil {
		return clientcmd.Load(content)
	}
	read := func() (*clientcmdapi.Config, error) {
		return (&clientcmd.ClientConfigLoadingRules{Precedence: paths, WarnIfAllMissing: false}).Load()
	}
	if k == nil {
		return read()
	}
	key, size := asTheyAre(paths...)
	k.mu.Lock()
	defer k.mu.Unlock()
	if known, ok := k.known[key]; ok {
		return known, nil
	}
	config, err := read()
	if err != nil {
		return nil, err
	}
	if k.bytes += size; k.known == nil || k.bytes > maxKubeconfigs {
		k.known, k.bytes = map[string]*clientcmdapi.Config{}, size
	}
	k.known[key] = config
	return config, nil
}

// asTheyAre names files so that one which was changed has another name, and is their size.
func asTheyAre(paths ...string) (name string, size int64) {
	name = strings.Join(paths, "\x00")
	for _, path := range paths {
		if info, err := os.Stat(path); err == nil {
			name += fmt.Sprintln("", info.Size(), info.ModTime().UnixNano())
			size += info.Size()
		}
	}
	return name, size
}

// Key names the connection that a Config leads to: equal ones reach the same server with the same credentials, in the same way. It
// tells nothing of the credentials. The error is an *AccessError.
func (c Config) Key() (string, error) {
	rc, err := restConfig(c)
	if err != nil {
		return "", &AccessError{Cluster: c.Name, Server: c.Access.Server, Via: c.via(), Err: err}
	}
	files, _ := asTheyAre(rc.CAFile, rc.CertFile, rc.KeyFile, rc.BearerTokenFile)
	h := sha256.New()
	err = json.NewEncoder(h).Encode([]any{c.Name, rc.Host, rc.APIPath, rc.ServerName, rc.Insecure, rc.CAData, rc.CertData, rc.KeyData, rc.Username, rc.Password, rc.BearerToken,
		rc.Impersonate, rc.ExecProvider, rc.AuthProvider, proxied(rc), rc.UserAgent, c.Parallel, c.RequestTimeout, files})
	return hex.EncodeToString(h.Sum(nil)), err
}

// proxied is the proxy on the way to the server, "" for none of the access's own.
func proxied(rc *rest.Config) string {
	base, err := serverURL(rc.Host)
	if rc.Proxy == nil || err != nil {
		return ""
	}
	if via, err := rc.Proxy(&http.Request{URL: base}); err == nil && via != nil {
		return via.String()
	}
	return ""
}

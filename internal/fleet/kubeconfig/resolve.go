// Package kubeconfig finds out how clusters are reached from kubeconfig files: which file, context, server. Files are
// read, never written, and nothing falls back: a context that is not there is an error, not the current one.
//
// kubeconfig must not connect to a cluster; cluster.Session does, with the Access resolved here.
package kubeconfig

import (
	"cmp"
	"fmt"
	"maps"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/fleet"
	"hawser.dev/hawser/internal/httpclient"
	"hawser.dev/hawser/internal/misplaced"
	"hawser.dev/hawser/internal/rootfs"
)

// Resolver reads each kubeconfig once. The zero Resolver is ready; its methods may be called concurrently.
type Resolver struct {
	// Filled reports whether a path lies where Hawser keeps what it fetched, whose authors are others than who runs it; nil knows of none.
	Filled func(path string) bool

	mu     sync.Mutex
	loaded map[string]*loaded
}

type loaded struct {
	config *clientcmdapi.Config
	// found are the files that exist.
	found []string
	// content is that of the one path that is a pipe, or an open file by its descriptor.
	content  []byte
	findings diag.Findings
	// missing: there is no file at all, which is among the findings.
	missing bool
}

// Resolve is Resolver.Resolve for one cluster.
func Resolve(c fleet.Cluster, o fleet.AccessOptions) (fleet.Access, diag.Findings) {
	return new(Resolver).Resolve(c, o)
}

// Resolve finds out how a cluster is reached. It fails, before any connection, when a file cannot be read, when the
// context, its cluster or its user is not there, and when a file with credentials or a command that makes them is
// missing. Findings are at the cluster's entry in the fleet file, or at the kubeconfig.
func (r *Resolver) Resolve(c fleet.Cluster, o fleet.AccessOptions) (fleet.Access, diag.Findings) {
	paths, must, err := pathsFor(c, o)
	if err != nil {
		return fleet.Access{}, at(c, diag.Errorf("kubeconfig", "%v", err))
	}
	l := r.load(paths, must)
	if l.missing && o.Override.Server != "" && o.Context == "" { // as with kubectl, the flags may say everything
		if f := usable(o.Override); f != nil {
			return fleet.Access{}, at(c, *f)
		}
		return secured(c, "", o.Override.InsecureSkipTLSVerify, fleet.Access{ProxyURL: c.ProxyURL, Server: open(o.Override.Server), Impersonate: o.As, Groups: slices.Clone(o.AsGroups), Override: o.Override})
	}
	if l.findings != nil {
		return fleet.Access{}, at(c, l.findings...)
	}
	name, f := contextName(c, o, l)
	if f != nil {
		return fleet.Access{}, at(c, *f)
	}
	context := l.config.Contexts[name]
	if f := usable(o.Override); f != nil {
		return fleet.Access{}, at(c, *f)
	}
	if f := r.inRepository(c, paths[0], l.config, context); f != nil {
		return fleet.Access{}, at(c, *f)
	}
	if f := l.fromNowhere(context, o.Override); f != nil {
		return fleet.Access{}, at(c, *f)
	}
	server, f := check(replaced(l.config, context, o.Override), name, context)
	if f != nil {
		return fleet.Access{}, at(c, *f)
	}
	unverified := o.Override.InsecureSkipTLSVerify || o.Override.CertificateAuthority == "" && l.config.Clusters[context.Cluster].InsecureSkipTLSVerify
	return secured(c, name, unverified, fleet.Access{
		KubeconfigPaths: l.found, Content: l.content, Context: name, ProxyURL: c.ProxyURL, Server: open(server),
		Impersonate: o.As, Groups: slices.Clone(o.AsGroups), Override: o.Override,
	})
}

// open is a server's address without the user and password it may hold.
func open(server string) string {
	u, err := url.Parse(server)
	if err != nil || u.User == nil {
		return server
	}
	u.User = nil
	return u.String()
}

// secured is an access, with what insecure says of it; none where that refuses it.
func secured(c fleet.Cluster, name string, unverified bool, access fleet.Access) (fleet.Access, diag.Findings) {
	fs := insecure(c, name, unverified, access.Server)
	if fs.HasErrors() {
		return fleet.Access{}, fs
	}
	return access, fs
}

// insecure warns of a cluster whose certificate is not looked at, or that is asked without TLS: anybody on the way can be it. A proxy of the
// fleet's file, but one on this machine, is refused then: it would be on the way by somebody else's choice.
func insecure(c fleet.Cluster, name string, unverified bool, server string) diag.Findings {
	what, how := "the certificate of the API server is not verified", fmt.Sprintf("context %q is used with insecure-skip-tls-verify", name)
	fix := "set certificate-authority-data in the kubeconfig"
	u, err := url.Parse(server)
	plain := err == nil && u.Scheme == "http"
	if plain {
		what, how, fix = "the API server is asked without TLS", fmt.Sprintf("context %q is used with the server %s", name, server), "give it a server with https:// in the kubeconfig"
	}
	if !unverified && !plain {
		return nil
	}
	if proxy, err := url.Parse(c.ProxyURL); c.ProxyURL != "" && (err != nil || !httpclient.Loopback(proxy.Hostname())) {
		n := diag.Errorf("insecure-proxy", "the proxyURL of the fleet's file is not used where the certificate of the API server is not verified")
		n.Why = how + ": the proxy could be the API server, and would get the credentials and every Secret"
		n.Fix = fix + ", or the proxy there (proxy-url), where it is the choice of whoever has the credentials"
		return at(c, n)
	}
	if plain && httpclient.Loopback(u.Hostname()) {
		return nil // nobody is on the way
	}
	n := diag.Warnf("insecure-tls", "%s", what)
	n.Why = how + ": whoever is on the way gets the credentials and every Secret"
	n.Fix = fix
	return at(c, n)
}

// usable finds what no override can be: half a pair, or two kinds of credentials.
func usable(o fleet.Override) *diag.Finding {
	why := ""
	switch {
	case (o.ClientCertificate == "") != (o.ClientKey == ""):
		why = "--kube-client-certificate and --kube-client-key go together"
	case o.Token != "" && o.ClientCertificate != "":
		why = "--kube-token and --kube-client-certificate are two ways to say who you are: give one"
	case o.InsecureSkipTLSVerify && o.CertificateAuthority != "":
		why = "--kube-insecure-skip-tls-verify does not go with --kube-certificate-authority: nothing would be verified"
	}
	for _, path := range []string{o.ClientCertificate, o.ClientKey, o.CertificateAuthority} {
		if text := readable(path); why == "" && text != "" {
			why = text
		}
	}
	if why == "" {
		return nil
	}
	n := diag.Errorf("kubeconfig", "%s", why)
	return &n
}

// replaced is a kubeconfig with what an override replaces in a context; the original stays as it is.
func replaced(config *clientcmdapi.Config, context *clientcmdapi.Context, o fleet.Override) *clientcmdapi.Config {
	if o.Empty() || context == nil {
		return config
	}
	config = config.DeepCopy()
	if cluster := config.Clusters[context.Cluster]; cluster != nil {
		if o.Server != "" {
			cluster.Server = o.Server
		}
		if o.CertificateAuthority != "" || o.InsecureSkipTLSVerify {
			cluster.CertificateAuthority = o.CertificateAuthority
		}
	}
	if o.Credentials() && config.AuthInfos[context.AuthInfo] != nil {
		config.AuthInfos[context.AuthInfo] = &clientcmdapi.AuthInfo{Token: o.Token, ClientCertificate: o.ClientCertificate, ClientKey: o.ClientKey}
	}
	return config
}

// at places findings at the cluster's entry.
func at(c fleet.Cluster, fs ...diag.Finding) diag.Findings {
	out := slices.Clone(diag.Findings(fs))
	for i := range out {
		out[i].Cluster = c.Name
		if c.Pos.File != "" {
			out[i].Pos = diag.Pos(c.Pos)
		}
		if c.Kubeconfig != nil && c.Kubeconfig.Pos.File != "" {
			out[i].Pos = diag.Pos(c.Kubeconfig.Pos)
		}
	}
	return out
}

// pathsFor lists the files to merge; must tells that each has to exist.
func pathsFor(c fleet.Cluster, o fleet.AccessOptions) (paths []string, must bool, err error) {
	if c.Kubeconfig != nil {
		if err := misplaced.File("the fleet's file", "a kubeconfig", c.Kubeconfig.Path); err != nil {
			return nil, false, err
		}
		path, err := expand(c.Kubeconfig.Path, c.Kubeconfig.Dir)
		return []string{path}, true, err
	}
	list, must, by := o.Kubeconfig, true, "--kubeconfig"
	if list == "" {
		list, must, by = os.Getenv(clientcmd.RecommendedConfigPathEnvVar), false, clientcmd.RecommendedConfigPathEnvVar
	}
	if err := misplaced.File(by, "a kubeconfig", list); err != nil && (len(filepath.SplitList(list)) < 2 || !existing(list)) {
		return nil, false, err
	}
	for _, path := range filepath.SplitList(list) {
		if path == "" {
			continue
		}
		path, err := expand(path, "")
		if err != nil {
			return nil, false, err
		}
		if !slices.Contains(paths, path) {
			paths = append(paths, path)
		}
	}
	if len(paths) == 0 {
		path, err := expand("~/.kube/config", "")
		return []string{path}, false, err
	}
	return paths, must, nil
}

// existing reports whether all of a list of paths, which may be a long one, are there.
func existing(list string) bool {
	return !slices.ContainsFunc(filepath.SplitList(list), func(path string) bool {
		_, err := os.Stat(path)
		return err != nil
	})
}

// expand makes a path absolute: ~ is the home directory, a relative path starts at dir ("" = the current directory).
func expand(path, dir string) (string, error) {
	if ofHome(path) {
		home, err := os.UserHomeDir()
		if err != nil {
			return "", fmt.Errorf("%s: no home directory: %w", path, err)
		}
		return filepath.Join(home, strings.TrimPrefix(path, "~")), nil
	}
	if !filepath.IsAbs(path) && dir != "" {
		path = filepath.Join(dir, path)
	}
	return filepath.Abs(path)
}

// ofHome reports whether a path begins at the home directory.
func ofHome(path string) bool { return path == "~" || strings.HasPrefix(path, "~/") }

func (r *Resolver) load(paths []string, must bool) *loaded {
	key := fmt.Sprint(must, paths)
	r.mu.Lock()
	defer r.mu.Unlock()
	if l, ok := r.loaded[key]; ok {
		return l
	}
	if r.loaded == nil {
		r.loaded = map[string]*loaded{}
	}
	l := read(paths, must)
	r.loaded[key] = l
	return l
}

func read(paths []string, must bool) *loaded {
	l := &loaded{}
	for _, path := range paths {
		data, err := rootfs.ReadFile(path, maxFile)
		if os.IsNotExist(err) && !must {
			continue
		}
		if err != nil {
			n := diag.Errorf("kubeconfig", "kubeconfig %s cannot be read", path)
			n.Why, n.Fix = cause(err), "name a kubeconfig's file with --kubeconfig, KUBECONFIG or, for a cluster of a fleet, in the fleet's file"
			l.findings = append(l.findings, n)
			continue
		}
		if n := mistaken(path, data); n != nil {
			l.findings = append(l.findings, *n)
			continue
		}
		if l.found = append(l.found, path); isPipe(path) || isDescriptor(path) {
			l.content = data
		}
	}
	if l.content != nil && len(l.found) > 1 {
		n := diag.Errorf("kubeconfig", "a pipe is no kubeconfig beside others, nor is an open file by its descriptor: %s", strings.Join(l.found, ", "))
		n.Why, n.Fix = "it can be read only once", "merge them in the program that writes it, or name files"
		l.findings = append(l.findings, n)
	}
	if l.findings != nil {
		return l
	}
	if len(l.found) == 0 {
		n := diag.Errorf("kubeconfig", "there is no kubeconfig: %s does not exist", strings.Join(paths, ", "))
		n.Fix = "give one with --kubeconfig or KUBECONFIG"
		l.findings, l.missing = diag.Findings{n}, true
		return l
	}
	config, err := l.parse()
	if err != nil {
		n := diag.Errorf("kubeconfig", "kubeconfig %s cannot be understood", strings.Join(l.found, ", "))
		n.Why, n.Fix = undecoded(err), "correct it, or name another one with --kubeconfig or KUBECONFIG"
		l.findings = diag.Findings{n}
		return l
	}
	l.config = config
	return l
}

// parse reads the files that were found, or what the one pipe gave.
func (l *loaded) parse() (*clientcmdapi.Config, error) {
	if l.content != nil {
		return clientcmd.Load(l.content)
	}
	return (&clientcmd.ClientConfigLoadingRules{Precedence: l.found}).Load()
}

// isPipe reports whether a path is a pipe: a shell's <(program).
func isPipe(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode()&os.ModeNamedPipe != 0
}

func cause(err error) string {
	if pe, ok := err.(*os.PathError); ok {
		return pe.Err.Error()
	}
	return err.Error()
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return line
}

// contextName is the context to use. Only the implicit cluster and an entry with a kubeconfig of its own take the
// file's current one.
func contextName(c fleet.Cluster, o fleet.AccessOptions, l *loaded) (string, *diag.Finding) {
	name, declared := c.KubeContext, true
	if c.Kubeconfig != nil {
		name = c.Kubeconfig.Context
	}
	if c.Implicit && name == "" {
		name = o.Context
	}
	if name == "" {
		if !c.Implicit && c.Kubeconfig == nil {
			n := diag.Errorf("no-access", "nothing says how the cluster is reached")
			n.Fix = "give it kubeContext or kubeconfig"
			return "", &n
		}
		name, declared = l.config.CurrentContext, false
	}
	have := slices.Sorted(maps.Keys(l.config.Contexts))
	where := strings.Join(l.found, ", ")
	if name == "" {
		n := diag.Errorf("no-context", "%s has no current context", where)
		n.Fix = "choose one with --kube-context; there is: " + listing(have)
		if len(have) == 0 {
			n.What, n.Fix = where+" has no contexts", "name another kubeconfig with --kubeconfig or KUBECONFIG"
		}
		return "", &n
	}
	if _, ok := l.config.Contexts[name]; ok {
		return name, nil
	}
	what := "there is no context %q in %s"
	if !declared {
		what = "the current context %q is not in %s"
	}
	n := diag.Errorf(fleet.CodeUnknownContext, what, name, where)
	n.Fix = "there is: " + listing(have)
	if len(have) == 0 {
		n.Why, n.Fix = "it has no contexts at all", "name another kubeconfig with --kubeconfig or KUBECONFIG"
	}
	if s := diag.DidYouMean(name, have); s != "" {
		n.Fix = s + " There is: " + listing(have)
	}
	return "", &n
}

func listing(names []string) string {
	const most = 20
	if len(names) == 0 {
		return "none"
	}
	if len(names) > most {
		return strings.Join(names[:most], ", ") + fmt.Sprintf(" and %d more", len(names)-most)
	}
	return strings.Join(names, ", ")
}

// check looks at what the context names, and returns the server's address.
func check(config *clientcmdapi.Config, name string, context *clientcmdapi.Context) (string, *diag.Finding) {
	fail := func(format string, args ...any) (string, *diag.Finding) {
		n := diag.Errorf("broken-context", "context %q: %s", name, fmt.Sprintf(format, args...))
		return "", &n
	}
	if context == nil {
		return fail("it is empty")
	}
	cluster, ok := config.Clusters[context.Cluster]
	if !ok || cluster == nil {
		return fail("there is no cluster %q", context.Cluster)
	}
	u, err := url.Parse(cluster.Server)
	if err != nil || cluster.Server == "" || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" {
		_, n := fail("cluster %q has no usable server address", context.Cluster)
		n.Fix = "give it one like https://HOST:6443"
		return "", n
	}
	if f := readable(cluster.CertificateAuthority); f != "" {
		return fail("certificate authority of cluster %q: %s", context.Cluster, f)
	}
	if context.AuthInfo == "" && u.Scheme == "http" {
		return cluster.Server, nil
	}
	user, ok := config.AuthInfos[context.AuthInfo]
	if !ok || user == nil {
		return fail("there is no user %q", context.AuthInfo)
	}
	if why, fix := credentials(user); why != "" && u.Scheme == "https" {
		n := diag.Errorf(fleet.CodeNoCredentials, "%s", why)
		n.Fix = fix
		n.Why = fmt.Sprintf("context %q, user %q", name, context.AuthInfo)
		return "", &n
	}
	return cluster.Server, nil
}

// credentials says what is wrong with a user's credentials, "" when they may work, and what to do.
func credentials(user *clientcmdapi.AuthInfo) (why, fix string) {
	for _, path := range []string{user.ClientCertificate, user.ClientKey, user.TokenFile} {
		if why := readable(path); why != "" {
			return why, "log in again, or correct the file's name in the kubeconfig"
		}
	}
	if e := user.Exec; e != nil {
		if _, err := exec.LookPath(e.Command); err != nil {
			return fmt.Sprintf("the command %q that makes its credentials is not found", e.Command),
				cmp.Or(firstLine(strings.TrimSpace(e.InstallHint)), "install it, or put its directory into PATH")
		}
		return "", ""
	}
	certificate := user.ClientCertificate != "" || len(user.ClientCertificateData) > 0
	key := user.ClientKey != "" || len(user.ClientKeyData) > 0
	switch {
	case certificate != key:
		return "a client certificate needs a key, and a key a certificate", "give the user both in the kubeconfig"
	case certificate, user.Token != "", user.TokenFile != "", user.Username != "", user.AuthProvider != nil:
		return "", ""
	}
	return "it has no credentials", "log in, or name another user in its context"
}

// readable says why a file cannot be read, "" when it can or when there is none to read.
func readable(path string) string {
	if path == "" {
		return ""
	}
	if misplaced.Path(path) {
		return "what is named as its file is the content of one, and is not shown: write it to a file (mode 0600) and name that"
	}
	if _, err := rootfs.ReadFile(path, maxFile); err != nil { // client-go reads it without a limit
		return path + " cannot be read: " + cause(err)
	}
	return ""
}

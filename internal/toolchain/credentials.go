package toolchain

import (
	"bytes"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/lazyregexp"
	"hawser.dev/hawser/internal/module"
	"hawser.dev/hawser/internal/rootfs"
)

var (
	// credentialNames are files that hold somebody's credentials, by the end of their paths.
	credentialNames = lazyregexp.New(`(?i)(?:^|/)(?:` + strings.Join([]string{
		`\.env`, `\.env\.[^/]*`, `[._]netrc`, `\.npmrc`, `\.pypirc`, `\.pgpass`, `\.git-credentials`, `\.vault-token`, `\.dockercfg`, `\.docker/config\.json`,
		`\.aws/credentials`, `\.azure/[^/]*tokens?[^/]*\.json`, `application_default_credentials\.json`, `id_(?:rsa|dsa|ecdsa|ed25519)`, `[^/]*\.(?:p12|pfx|jks)`, `[^/]*\.tfstate(?:\.backup)?`}, "|") + `)$`)
	// exampleName is what a file is called that shows others what to write into their own.
	exampleName = lazyregexp.New(`(?i)[._-](?:example|sample|template|tmpl|dist|defaults?)$`)
	// kubeconfigName is a file that may hold what a user of a cluster has.
	kubeconfigName = lazyregexp.New(`(?i)(?:^|/)(?:\.kube/config|[^/]*kubeconfig[^/]*)$`)
	// keyName is a file that may hold a private key, a certificate or a public one.
	keyName = lazyregexp.New(`(?i)\.(?:pem|key|p8)$`)
	// ageKey and userKey are private keys and passwords in a text, of age and of a kubeconfig.
	userKey = lazyregexp.New(`(?m)^[ \t-]*["']?(?:client-key-data|token|password)["']?:[ \t]*["']?[A-Za-z0-9+/=_.-]{8,}`)
	ageKey  = lazyregexp.New(`(?i)AGE-SECRET-KEY-1[0-9A-Z]{50}`)
)

// holdsCredentials reports whether a file looks like somebody's credentials: by its name, or by a private key in it. What is empty
// or encrypted by SOPS is none.
func holdsCredentials(name string, data []byte, known bool) bool {
	if known && (len(bytes.TrimSpace(data)) == 0 || bytes.Contains(data, []byte("ENC[AES256_GCM,")) && bytes.Contains(data, []byte("sops"))) {
		return false
	}
	switch {
	case credentialNames.MatchString(name):
		return !exampleName.MatchString(name)
	case keyName.MatchString(name):
		return bytes.Contains(data, []byte("PRIVATE KEY-----"))
	case kubeconfigName.MatchString(name):
		return userKey.Match(data)
	}
	return bytes.Contains(data, []byte("AGE-SECRET-KEY-1")) && ageKey.Match(data)
}

// credentialsIn names those of the files below a directory that look like somebody's credentials. What is vendored is others'.
func credentialsIn(root string, files []string) (out []string) {
	for _, name := range files {
		if strings.HasPrefix(name, "cue.mod/") {
			continue
		}
		data, err := fs.ReadFile(rootfs.FS{Root: root, Limit: maxManifest}, name)
		if holdsCredentials(name, data, err == nil) {
			out = append(out, name)
		}
	}
	return out
}

// credentialsToo warns of files that look like somebody's credentials, if any: who may read the registry will read them. dir says
// that the whole directory is pushed, whose ignore file leaves files out.
func credentialsToo(root string, files []string, dir bool) diag.Findings {
	if len(files) == 0 {
		return nil
	}
	f := diag.Warnf("credentials-in-clear", "what looks like credentials is in it: %s", named(files))
	f.Why = "who may read the artifact can read them"
	f.Fix = "name the others with -f; and change credentials that others may have read"
	if dir {
		var lines []string
		for _, name := range files {
			line := "/" + name
			if base := path.Base(name); strings.HasPrefix(base, ".env") {
				line = base
			}
			if !slices.Contains(lines, line) {
				lines = append(lines, line)
			}
		}
		f.Fix = "leave them out: a line each in " + filepath.Join(root, module.IgnoreFile) + " (" + named(lines) + "); and change credentials that others may have read"
	}
	return diag.Findings{f}
}

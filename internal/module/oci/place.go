package oci

import (
	"path/filepath"
	"strings"

	"oras.land/oras-go/v2/registry"

	"hawser.dev/hawser/internal/cache"
	"hawser.dev/hawser/internal/module"
)

// place is where an artifact is: in a repository, or in a layout at path, which is a directory or an archive.
type place struct {
	scheme string
	remote registry.Reference // without tag and digest
	path   string
	// tag or digest, or neither.
	tag, digest string
}

// String is the place as a URL.
func (p place) String() string {
	s := p.scheme
	if p.scheme == module.SchemeOCI {
		s += p.remote.String()
	} else {
		s += filepath.ToSlash(p.path)
	}
	switch {
	case p.digest != "":
		s += "@" + p.digest
	case p.tag != "":
		s += ":" + p.tag
	}
	return s
}

// at is the same place with another tag or digest.
func (p place) at(reference string) place {
	p.tag, p.digest = reference, ""
	if cache.ValidDigest(reference) {
		p.tag, p.digest = "", reference
	}
	return p
}

// reference is the tag or the digest, "latest" when there is neither.
func (p place) reference() string {
	switch {
	case p.digest != "":
		return p.digest
	case p.tag != "":
		return p.tag
	}
	return "latest"
}

// parsePlace reads a URL of any of the three schemes. Errors are findings.
func parsePlace(url string) (place, error) {
	for _, scheme := range []string{module.SchemeLayout, module.SchemeArchive, module.SchemeOCI} {
		rest, ok := strings.CutPrefix(url, scheme)
		if !ok {
			continue
		}
		p := place{scheme: scheme}
		rest, p.tag, p.digest = cutReference(rest, scheme != module.SchemeOCI)
		if p.digest != "" && !cache.ValidDigest(p.digest) {
			return p, badURL(url, "the digest is not of the form sha256:<64 hexadecimal digits>")
		}
		if scheme != module.SchemeOCI {
			switch last := rest[strings.LastIndex(rest, "/")+1:]; {
			case rest == "":
				return p, badURL(url, "there is no path")
			case strings.ContainsAny(last, ":@"), p.tag == "" && p.digest == "" && strings.HasSuffix(url, ":"):
				return p, badURL(url, "a path ends before a single tag or digest")
			}
			p.path = filepath.FromSlash(rest)
			return p, nil
		}
		whole := rest
		if p.tag != "" {
			whole += ":" + p.tag
		}
		if strings.Contains(rest, "@") {
			return p, badURL(url, "credentials do not belong into the URL")
		}
		ref, err := registry.ParseReference(whole)
		if err != nil {
			return p, badURL(url, err.Error())
		}
		ref.Reference = ""
		p.remote = ref
		return p, nil
	}
	return place{}, badURL(url, "it does not begin with oci://")
}

// cutReference takes the tag or digest off the end of a place: what follows an @ or colon behind the last slash. A file
// needs no slash; a registry without one may have a port.
func cutReference(s string, file bool) (rest, tag, digest string) {
	slash := strings.LastIndex(s, "/")
	if at := strings.LastIndex(s, "@"); at > slash {
		rest, digest = s[:at], s[at+1:]
		if colon := strings.LastIndex(rest, ":"); colon > slash {
			rest = rest[:colon] // a tag beside a digest says nothing
		}
		return rest, "", digest
	}
	if colon := strings.LastIndex(s, ":"); colon > slash && (slash >= 0 || file) {
		return s[:colon], s[colon+1:], ""
	}
	return s, "", ""
}

func badURL(url, why string) error {
	return failure("module-url", "the URL "+quote(anonymous(url))+" cannot be used", why, "write oci://REGISTRY/REPOSITORY, and version or digest beside it")
}

// anonymous is a URL without what may be a user and a password.
func anonymous(url string) string {
	rest, digest, _ := strings.Cut(url, "@sha256:")
	at := strings.LastIndex(rest, "@")
	if at < 0 {
		return url
	}
	scheme := 0
	if i := strings.Index(rest, "://"); i >= 0 && i+3 <= at {
		scheme = i + 3
	}
	rest = rest[:scheme] + "..." + rest[at:]
	if digest != "" {
		rest += "@sha256:" + digest
	}
	return rest
}

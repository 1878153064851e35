package archive

import (
	"archive/tar"
	"context"
	"errors"
	"io/fs"
	"path"
	"strings"
	"syscall"
)

// maxHops is how many links may lead from one to the next.
const maxHops = 16

// link remembers a link, for it may point to what comes later. Its target starts at base.
func (x *extraction) link(h *tar.Header, at, base string) error {
	if len(h.Linkname) > x.limits.PathBytes {
		return refuse(Limit, h.Name, "it is a link to a path longer than %d bytes", x.limits.PathBytes)
	}
	if why := odd(h.Linkname); why != "" {
		return refuse(Escape, h.Name, "it is a link to %s: %s", quoted(h.Linkname), why)
	}
	target := path.Join(base, h.Linkname)
	if target == ".." || strings.HasPrefix(target, "../") {
		return refuse(Escape, h.Name, "it is a link to %s, which leads out of the archive", quoted(h.Linkname))
	}
	if err := x.claim(h.Name, at); err != nil {
		return err
	}
	x.links = append(x.links, link{name: h.Name, at: at, target: target})
	return nil
}

// follow makes every link a copy of the file it leads to.
func (x *extraction) follow(ctx context.Context) error {
	targets := make(map[string]string, len(x.links))
	for _, l := range x.links {
		targets[l.at] = l.target
	}
	for _, l := range x.links {
		if err := ctx.Err(); err != nil {
			return err
		}
		end := l.target
		for hops := 0; ; hops++ {
			next, isLink := targets[end]
			if !isLink {
				break
			}
			if hops == maxHops {
				return refuse(Link, l.name, "it is a link over more than %d links, or in a circle", maxHops)
			}
			end = next
		}
		if err := x.copy(l.name, l.at, end); err != nil {
			return err
		}
	}
	return nil
}

func (x *extraction) copy(name, at, from string) error {
	if !x.files[from] {
		return refuse(Link, name, "it is a link to %s, which is no file of the archive", quoted(from))
	}
	size, err := x.to.size(from)
	if err != nil {
		return err
	}
	if x.bytes += size; x.bytes > x.limits.Bytes {
		return refuse(Limit, name, "the files have more than %d MiB together", x.limits.Bytes>>20)
	}
	return x.to.copy(at, from)
}

func isKindConflict(err error) bool {
	return errors.Is(err, fs.ErrExist) || errors.Is(err, syscall.ENOTDIR) || errors.Is(err, syscall.EISDIR)
}

// Package checkout is what a directory's Git repository says of it: its root, where it was cloned from, and the commit.
// It reads a few small files of the repository, each up to 4 MiB, and for Dirty commits and trees up to 8 MiB; Git itself is not needed.
//
// checkout must not start a program, read anything but the repository's own files and those it is to compare with them, or know what its
// answers are for.
package checkout

import (
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"hawser.dev/hawser/internal/lazyregexp"
	"hawser.dev/hawser/internal/rootfs"
)

// Checkout is a working copy; fields are empty where nothing can be read.
type Checkout struct {
	// Root is the working copy's directory, absolute.
	Root string
	// Source is the URL of the remote origin, or of the only remote, without credentials. One in a directory of this machine
	// is its absolute path, links followed, however it is written.
	Source string
	// Remotes are the URLs of all remotes, written as Source is, sorted.
	Remotes []string
	// Revision is the commit that is checked out.
	Revision string
}

// Of is the working copy that holds a directory, the zero Checkout when none does.
func Of(dir string) Checkout {
	at, err := filepath.Abs(dir)
	if err != nil {
		return Checkout{}
	}
	for {
		if git, ok := gitDir(filepath.Join(at, ".git")); ok {
			out := Checkout{Root: at, Revision: head(git)}
			out.Source, out.Remotes = remotes(git, at)
			return out
		}
		up := filepath.Dir(at)
		if up == at {
			return Checkout{}
		}
		at = up
	}
}

// gitDir is the directory of a repository: .git itself, or what a file of that name points to (worktrees, submodules).
func gitDir(path string) (string, bool) {
	info, err := os.Stat(path)
	if err != nil {
		return "", false
	}
	if info.IsDir() {
		return path, true
	}
	to, ok := strings.CutPrefix(small(path), "gitdir: ")
	if !ok {
		return "", false
	}
	if !filepath.IsAbs(to) {
		to = filepath.Join(filepath.Dir(path), to)
	}
	return to, true
}

// small reads a small file, "" when it cannot.
func small(path string) string {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() || info.Size() > 4<<20 {
		return ""
	}
	data, err := rootfs.ReadFile(path, 4<<20)
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(data))
}

// common is where a worktree keeps what it shares with the others.
func common(git string) string {
	if to := small(filepath.Join(git, "commondir")); to != "" {
		if filepath.IsAbs(to) {
			return to
		}
		return filepath.Join(git, to)
	}
	return git
}

var commit = lazyregexp.New(`^([0-9a-f]{40}|[0-9a-f]{64})$`)

// head is the commit that is checked out.
func head(git string) string {
	at := small(filepath.Join(git, "HEAD"))
	ref, symbolic := strings.CutPrefix(at, "ref: ")
	if !symbolic {
		return onlyCommit(at)
	}
	if strings.Contains(ref, "..") || !strings.HasPrefix(ref, "refs/") {
		return ""
	}
	for _, dir := range []string{git, common(git)} {
		if sum := onlyCommit(small(filepath.Join(dir, filepath.FromSlash(ref)))); sum != "" {
			return sum
		}
	}
	for line := range strings.Lines(small(filepath.Join(common(git), "packed-refs"))) {
		if sum, name, ok := strings.Cut(strings.TrimSpace(line), " "); ok && name == ref {
			return onlyCommit(sum)
		}
	}
	return ""
}

func onlyCommit(s string) string {
	if commit.MatchString(s) {
		return s
	}
	return ""
}

// remoteSection is the head of a remote's section in a repository's configuration.
var remoteSection = lazyregexp.New(`^\[\s*remote\s+"([^"]*)"\s*\]$`)

// remotes are the URLs of the remotes of a repository with the given root, user and password left out; source is that of the
// remote origin, else of the only one.
func remotes(git, root string) (source string, all []string) {
	name, urls := "", map[string]string{}
	for line := range strings.Lines(small(filepath.Join(common(git), "config"))) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "[") {
			name = ""
			if m := remoteSection.FindStringSubmatch(line); m != nil {
				name = m[1]
			}
			continue
		}
		key, value, ok := strings.Cut(line, "=")
		if ok && name != "" && urls[name] == "" && strings.EqualFold(strings.TrimSpace(key), "url") {
			urls[name] = strings.Trim(strings.TrimSpace(value), `"`)
		}
	}
	if shared := common(git); shared != git && filepath.Base(shared) == ".git" {
		root = filepath.Dir(shared) // a worktree is the same place as the working copy that it belongs to
	}
	for name, url := range urls {
		urls[name] = onDisk(withoutUser(url), root)
		all = append(all, urls[name])
	}
	slices.Sort(all)
	if url, ok := urls["origin"]; ok || len(all) != 1 {
		return url, all
	}
	return all[0], all
}

// onDisk is the absolute path, links followed, of a remote that is a directory of this machine, relative to root as Git reads
// it: a clone has the same one written otherwise. Addresses are as they are.
func onDisk(remote, root string) string {
	path, file := strings.CutPrefix(remote, "file://")
	first, _, _ := strings.Cut(path, "/")
	if remote == "" || file && first != "" || !file && strings.Contains(first, ":") { // a scheme, host:path, or a drive
		return remote
	}
	if path = filepath.FromSlash(path); !filepath.IsAbs(path) {
		path = filepath.Join(root, path)
	}
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	return filepath.ToSlash(filepath.Clean(path))
}

// withoutUser drops user and password of a URL; what is not one, as git@host:path, has no password.
func withoutUser(s string) string {
	if !strings.Contains(s, "://") {
		if at := strings.IndexByte(s, '@'); at >= 0 && strings.Contains(s[:at], ":") {
			return s[at+1:]
		}
		return s
	}
	u, err := url.Parse(s)
	if err != nil {
		return ""
	}
	u.User = nil
	u.RawQuery, u.Fragment = "", ""
	return u.String()
}

package toolchain

import (
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// checkout is what a directory's Git repository says of it; the fields are empty where nothing can be read.
type checkout struct {
	// source is the URL of the remote origin without credentials, revision the commit.
	source, revision string
}

// gitOf reads the files of the repository that holds a directory; Git itself is not needed.
func gitOf(dir string) checkout {
	at, err := filepath.Abs(dir)
	if err != nil {
		return checkout{}
	}
	for {
		if git, ok := gitDir(filepath.Join(at, ".git")); ok {
			return checkout{source: origin(git), revision: head(git)}
		}
		up := filepath.Dir(at)
		if up == at {
			return checkout{}
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
	data, err := os.ReadFile(path)
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

var commit = regexp.MustCompile(`^([0-9a-f]{40}|[0-9a-f]{64})$`)

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

// origin is the URL of the remote origin; user and password are left out.
func origin(git string) string {
	section := ""
	for line := range strings.Lines(small(filepath.Join(common(git), "config"))) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "[") {
			section = line
			continue
		}
		key, value, ok := strings.Cut(line, "=")
		if ok && section == `[remote "origin"]` && strings.TrimSpace(key) == "url" {
			return withoutUser(strings.TrimSpace(value))
		}
	}
	return ""
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

// Package docs holds the pages for people, and the tests that run what they show.
//
// A fenced block says in its info string what it is:
//
//	```yaml bundle            a bundle: loaded, evaluated and rendered for every cluster of the page's fleet (also cue)
//	```yaml fleet             a fleet: loaded; from here on it is the page's fleet (also cue). With "stores" its stores of
//	                          secrets are asked, else a text stands for every secret
//	```yaml fragment=PATH     part of a bundle or fleet, put at PATH: bundle.instances.web, fleet.clusters.eu, fleet
//	```yaml file=FILE         a file beside the blocks that follow (any language): they may name it
//	```cue module=FILE        a file of a module; the files of a page make one module, which is rendered
//	```json event             a document: it must fit docs/schema/event.json (also plan, outcome, status, findings ...)
//	```sh                     every line that begins with hawser must be a command line that the commands accept,
//	                          and do its work with the examples as far as that needs no cluster and no registry
//	```text reason=...        not run, and why
//
// `refused=CODE` at the end of a bundle, fleet or fragment says that loading it must fail with this finding. Before the
// first fleet of a page, examples/fleet.yaml is the page's fleet. Blocks run in a copy of examples.
//
// docs must not know how anything is done: it runs what a user would.
package docs

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// block is one fenced block.
type block struct {
	page string
	line int
	lang string
	args map[string]string
	text string
}

func (b block) String() string { return fmt.Sprintf("%s:%d", b.page, b.line) }

func (b block) has(arg string) bool {
	_, ok := b.args[arg]
	return ok
}

// pages are the pages with examples, by path from the root of the repository. The reference in docs/cli and the records
// in docs/adr hold no examples of their own.
func pages(t *testing.T) []string {
	t.Helper()
	out := []string{"README.md", "SECURITY.md"}
	files, err := filepath.Glob("*.md")
	if err != nil || len(files) == 0 {
		t.Fatalf("no pages: %v", err)
	}
	for _, f := range files {
		out = append(out, "docs/"+f)
	}
	return out
}

func read(t *testing.T, page string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(root, page))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// root is the repository, as an absolute path: tests of commands change the directory.
var root = func() string {
	dir, err := filepath.Abs("..")
	if err != nil {
		panic(err)
	}
	return dir
}()

// blocks are the fenced blocks of a page, in order.
func blocks(t *testing.T, page string) []block {
	t.Helper()
	var out []block
	open := -1
	lines := strings.Split(read(t, page), "\n")
	for i, l := range lines {
		fence := strings.HasPrefix(strings.TrimSpace(l), "```")
		switch {
		case !fence:
		case open < 0:
			open = i
		default:
			info := strings.TrimPrefix(strings.TrimSpace(lines[open]), "```")
			out = append(out, newBlock(page, open+1, info, strings.Join(lines[open+1:i], "\n")+"\n"))
			open = -1
		}
	}
	if open >= 0 {
		t.Errorf("%s:%d: the block is not closed", page, open+1)
	}
	return out
}

func newBlock(page string, line int, info, text string) block {
	b := block{page: page, line: line, args: map[string]string{}, text: text}
	words := strings.Fields(info)
	if len(words) == 0 {
		return b
	}
	b.lang = words[0]
	for i, w := range words[1:] {
		key, value, _ := strings.Cut(w, "=")
		if key == "reason" {
			b.args[key] = strings.TrimPrefix(strings.Join(words[i+1:], " "), "reason=")
			break
		}
		b.args[key] = value
	}
	return b
}

// documentKinds are the JSON documents with a schema.
var documentKinds = []string{"event", "plan", "outcome", "status", "findings", "fleet-report", "history", "comparison"}

// runs reports whether a test runs the block.
func (b block) runs() bool {
	if b.has("file") {
		return true
	}
	switch b.lang {
	case "yaml":
		return b.has("bundle") || b.has("fleet") || b.has("fragment")
	case "cue":
		return b.has("bundle") || b.has("fleet") || b.has("module")
	case "json":
		return slices.ContainsFunc(documentKinds, b.has)
	}
	return b.lang == "sh"
}

// TestEveryBlockRuns: a block is run, or says why not.
func TestEveryBlockRuns(t *testing.T) {
	for _, page := range pages(t) {
		for _, b := range blocks(t, page) {
			if !b.runs() && b.args["reason"] == "" {
				t.Errorf("%s: nobody runs this block (%q): see the conventions in docs/docs_test.go", b, b.lang)
			}
		}
	}
}

var (
	link    = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	heading = regexp.MustCompile(`(?m)^#+ +(.*)$`)
	noSlug  = regexp.MustCompile(`[^a-z0-9 _-]`)
)

// TestLinks: what a page links to is there, the heading too.
func TestLinks(t *testing.T) {
	all := pages(t)
	for _, pattern := range []string{"docs/*/*.md", "examples/*.md", "examples/*/*/*.md", "sandbox/*.md", "*.md"} {
		more, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range more {
			rel, err := filepath.Rel(root, m)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, filepath.ToSlash(rel))
		}
	}
	slices.Sort(all)
	for _, page := range slices.Compact(all) {
		for _, m := range link.FindAllStringSubmatch(prose(read(t, page)), -1) {
			checkLink(t, page, m[1])
		}
	}
}

func checkLink(t *testing.T, page, to string) {
	t.Helper()
	if strings.Contains(to, "://") || strings.HasPrefix(to, "mailto:") {
		return
	}
	path, anchor, _ := strings.Cut(to, "#")
	target := page
	if path != "" {
		target = filepath.ToSlash(filepath.Join(filepath.Dir(page), path))
	}
	if _, err := os.Stat(filepath.Join(root, target)); err != nil {
		t.Errorf("%s links to %s, which is not there", page, to)
		return
	}
	if anchor == "" || !strings.HasSuffix(target, ".md") {
		return
	}
	for _, h := range heading.FindAllStringSubmatch(prose(read(t, target)), -1) {
		if slug(h[1]) == anchor {
			return
		}
	}
	t.Errorf("%s links to %s, and %s has no such heading", page, to, target)
}

// slug is the anchor that forges make of a heading.
func slug(heading string) string {
	return strings.ReplaceAll(noSlug.ReplaceAllString(strings.ToLower(heading), ""), " ", "-")
}

// prose is a page without its fenced blocks.
func prose(text string) string {
	var out []string
	inside := false
	for _, l := range strings.Split(text, "\n") {
		if strings.HasPrefix(strings.TrimSpace(l), "```") {
			inside = !inside
			continue
		}
		if !inside {
			out = append(out, l)
		}
	}
	return strings.Join(out, "\n")
}

// Package lazyregexp has regular expressions that are compiled when they are first used, so that a process that needs few of them does not pay for
// all of them when it starts.
//
// lazyregexp must not know what any of them is for.
package lazyregexp

import (
	"os"
	"regexp"
	"strings"
	"sync"
)

// Regexp is a regular expression of package regexp, with some of its methods, which do what those do. It is safe for concurrent use.
type Regexp struct {
	get func() *regexp.Regexp
}

// inTest: this process is a test's.
var inTest = len(os.Args) > 0 && strings.HasSuffix(strings.TrimSuffix(os.Args[0], ".exe"), ".test")

// New returns a regular expression. One that is wrong panics when it is first used; in tests at once.
func New(text string) *Regexp {
	r := &Regexp{get: sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(text) })}
	if inTest {
		r.get()
	}
	return r
}

// Match is Regexp.Match of package regexp.
func (r *Regexp) Match(b []byte) bool { return r.get().Match(b) }

// MatchString is Regexp.MatchString of package regexp.
func (r *Regexp) MatchString(s string) bool { return r.get().MatchString(s) }

// FindString is Regexp.FindString of package regexp.
func (r *Regexp) FindString(s string) string { return r.get().FindString(s) }

// FindStringIndex is Regexp.FindStringIndex of package regexp.
func (r *Regexp) FindStringIndex(s string) []int { return r.get().FindStringIndex(s) }

// FindStringSubmatch is Regexp.FindStringSubmatch of package regexp.
func (r *Regexp) FindStringSubmatch(s string) []string { return r.get().FindStringSubmatch(s) }

// FindAllString is Regexp.FindAllString of package regexp.
func (r *Regexp) FindAllString(s string, n int) []string { return r.get().FindAllString(s, n) }

// FindAllStringIndex is Regexp.FindAllStringIndex of package regexp.
func (r *Regexp) FindAllStringIndex(s string, n int) [][]int { return r.get().FindAllStringIndex(s, n) }

// FindAllStringSubmatch is Regexp.FindAllStringSubmatch of package regexp.
func (r *Regexp) FindAllStringSubmatch(s string, n int) [][]string {
	return r.get().FindAllStringSubmatch(s, n)
}

// FindAllStringSubmatchIndex is Regexp.FindAllStringSubmatchIndex of package regexp.
func (r *Regexp) FindAllStringSubmatchIndex(s string, n int) [][]int {
	return r.get().FindAllStringSubmatchIndex(s, n)
}

// ReplaceAllString is Regexp.ReplaceAllString of package regexp.
func (r *Regexp) ReplaceAllString(s, with string) string { return r.get().ReplaceAllString(s, with) }

// ReplaceAllStringFunc is Regexp.ReplaceAllStringFunc of package regexp.
func (r *Regexp) ReplaceAllStringFunc(s string, with func(string) string) string {
	return r.get().ReplaceAllStringFunc(s, with)
}

// Split is Regexp.Split of package regexp.
func (r *Regexp) Split(s string, n int) []string { return r.get().Split(s, n) }

// FindIndex is Regexp.FindIndex of package regexp.
func (r *Regexp) FindIndex(b []byte) []int { return r.get().FindIndex(b) }

// ReplaceAll is Regexp.ReplaceAll of package regexp.
func (r *Regexp) ReplaceAll(b, with []byte) []byte { return r.get().ReplaceAll(b, with) }

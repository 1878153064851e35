// Package boundedregexp compiles and matches regular expressions that come from input. Package regexp takes a time for a text that grows with the
// text alone; what has no bound there is the expression: a class of a megabyte takes minutes and gigabytes to compile, and .{1000}.{1000} is
// a program of thousands of steps for each character.
//
// boundedregexp must not know whose input it is, nor what an expression is for.
package boundedregexp

import (
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"sync"
)

const (
	// MaxBytes is how long an expression may be.
	MaxBytes = 4096
	// maxSize is how many instructions its program may have.
	maxSize = 10_000
	// maxWork is what a Set does, in steps of matching: some 20 seconds. A match of less than smallWork is not counted.
	maxWork   = 1 << 30
	smallWork = 1 << 12
	// compiling an instruction takes as long as so many steps, and a byte as long as so many instructions (classes).
	perInstruction, perByte = 500, 16
)

// ErrSpent: the expressions of one input take more work altogether than they may.
var ErrSpent = errors.New("the regular expressions take too long")

// Compile is regexp.Compile for an expression of input: one that is too long, or repeats too much, is an error.
func Compile(text string) (*regexp.Regexp, error) {
	re, _, err := compile(text)
	return re, err
}

func compile(text string) (re *regexp.Regexp, instructions int64, err error) {
	if len(text) > MaxBytes {
		return nil, 0, fmt.Errorf("it has more than %d bytes", MaxBytes)
	}
	tree, err := syntax.Parse(text, syntax.Perl)
	if err != nil {
		return nil, 0, err
	}
	if instructions = size(tree); instructions > maxSize {
		return nil, 0, fmt.Errorf("it repeats to more than %d parts", maxSize)
	}
	re, err = regexp.Compile(text)
	return re, instructions, err
}

// size is about how many instructions the program of an expression has; what is repeated is there as often.
func size(tree *syntax.Regexp) int64 {
	n := int64(1)
	if tree.Op == syntax.OpLiteral {
		n = int64(len(tree.Rune))
	}
	for _, sub := range tree.Sub {
		n += size(sub)
	}
	if tree.Op == syntax.OpRepeat {
		n *= int64(max(tree.Min+1, tree.Max, 1)) // {3,} is three and a star
	}
	return n
}

// Set has the regular expressions of one input: each is compiled once, and all of them together, with what they match, take a bounded time and
// memory. The zero value is ready. It is safe for concurrent use.
type Set struct {
	mu    sync.Mutex
	work  int64
	known map[string]*expression
}

type expression struct {
	re   *regexp.Regexp
	size int64
	err  error
}

// Check reports what is wrong with an expression, ErrSpent when too much was done before.
func (s *Set) Check(text string) error {
	return s.get(text).err
}

// MatchString reports whether a text holds a match. The error is that of Check, and ErrSpent also when this match would take too long.
func (s *Set) MatchString(text, in string) (bool, error) {
	e := s.get(text)
	if e.err != nil {
		return false, e.err
	}
	if work := e.size * int64(len(in)); work > smallWork && !s.spend(work) {
		return false, ErrSpent
	}
	return e.re.MatchString(in), nil
}

func (s *Set) get(text string) *expression {
	s.mu.Lock()
	defer s.mu.Unlock()
	if e := s.known[text]; e != nil {
		return e
	}
	if s.known == nil {
		s.known = map[string]*expression{}
	}
	e := &expression{}
	if s.work > maxWork {
		return &expression{err: ErrSpent} // it may be a long one: nothing is kept of it
	}
	e.re, e.size, e.err = compile(text)
	s.work += (e.size + perByte*int64(min(len(text), MaxBytes))) * perInstruction
	s.known[text] = e
	return e
}

// spend takes work of what is left.
func (s *Set) spend(work int64) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.work+work > maxWork {
		return false
	}
	s.work += work
	return true
}

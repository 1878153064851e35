// Package report turns plans, outcomes, status, events and findings into text, markdown and JSON. Values in, text
// out: the same value and the same Style always give the same bytes. Marks carry the meaning; colour is decoration.
//
// report must not know flags, files it was not told to quote, clusters, or how anything it prints came about. It
// decides nothing: what is grouped, why something changes and whether it is safe was said by the rooms below.
package report

import (
	"bufio"
	"fmt"
	"io"
	"strings"
	"time"

	"hawser.dev/hawser/internal/columns"
	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/nextstep"
)

// Style says how text is laid out. The zero Style is 120 columns, plain ASCII marks, no colour.
type Style struct {
	// Width is the number of columns, 0 for 120. Below 90 the narrow layout is used.
	Width int
	// Color allows ANSI colours, Unicode the marks and ellipses outside ASCII.
	Color   bool
	Unicode bool
	// Full shows every cluster by itself and nothing shortened; Stat only headers and totals.
	Full bool
	Stat bool
	// Verbose shows more: 1 = notes of severity info, instances not placed, every object of a status.
	Verbose int
	// Apply is set when the plan shown is about to be carried out, so that it does not say "Reading only".
	Apply bool
	// Access are the flags with which commands that texts name reach the clusters they are about: "--fleet fleet.yaml".
	Access string
	// ReadFile reads a user's file to quote the line of a finding; nil quotes nothing.
	ReadFile func(name string) ([]byte, error)
}

const (
	defaultWidth = 120
	narrowBelow  = 90
)

func (s Style) width() int {
	if s.Width <= 0 {
		return defaultWidth
	}
	return s.Width
}

func (s Style) narrow() bool { return s.width() < narrowBelow }

// ink is an ANSI colour or weight.
type ink string

const (
	bold    ink = "1"
	dim     ink = "2"
	red     ink = "31"
	green   ink = "32"
	yellow  ink = "33"
	magenta ink = "35"
	cyan    ink = "36"
)

// paint colours text when the style allows it.
func (s Style) paint(c ink, text string) string {
	if !s.Color || text == "" || c == "" {
		return text
	}
	return "\x1b[" + string(c) + "m" + text + "\x1b[0m"
}

// pick chooses between a mark and its ASCII spelling.
func (s Style) pick(unicode, ascii string) string {
	if s.Unicode {
		return unicode
	}
	return ascii
}

func (s Style) ellipsis() string { return s.pick("…", "...") }
func (s Style) dot() string      { return s.pick("·", "-") }

// out is a buffered writer of lines; the first write error ends all output and is kept.
type out struct {
	*bufio.Writer
	to io.Writer
	st Style
	// quoted are the files of which lines were quoted, by name: many messages are about one file.
	quoted map[string]*diag.Quotable
}

func newOut(w io.Writer, st Style) *out {
	return &out{Writer: bufio.NewWriterSize(w, 64<<10), to: w, st: st, quoted: map[string]*diag.Quotable{}}
}

// laid is what is laid out of a document, and the document without its secrets.
func laid[T any](w io.Writer, doc T, st Style) (*out, T) {
	to, hidden := masked(w, doc)
	return newOut(to, st), hidden
}

// line writes one line.
func (o *out) line(parts ...string) {
	for _, p := range parts {
		if o.st.Color {
			p = columns.Painted(p)
		} else {
			p = clean(p)
		}
		_, _ = o.WriteString(p)
	}
	_ = o.WriteByte('\n')
	if o.Available() < 8<<10 { // so that a colour is not cut into two
		_ = o.Flush()
	}
}

// linef writes one formatted line.
func (o *out) linef(format string, args ...any) { o.line(fmt.Sprintf(format, args...)) }

// wrapped writes text at an indentation, broken at spaces to the width.
func (o *out) wrapped(indent int, text string, c ink) {
	pad := strings.Repeat(" ", indent)
	for _, l := range wrap(nextstep.Completed(text, o.st.Access), max(20, o.st.width()-indent)) {
		o.line(pad, o.st.paint(c, l))
	}
}

// noted is wrapped, and nothing where there is no text.
func (o *out) noted(indent int, text string, c ink) {
	if text != "" {
		o.wrapped(indent, text, c)
	}
}

// Masker is a writer that hides what is secret (mask.Writer): in a document before text is laid out of it, so that nothing which somebody keeps as a
// secret hides our own words or a part of the layout, and in a line of a file that is quoted beside it.
type Masker interface {
	// Masked gives the document with its secrets masked, and the writer of what is laid out of it.
	Masked(doc any) (io.Writer, any)
	Hide(text string) string
}

// masked is a document without its secrets, and the writer of what is laid out of it.
func masked[T any](w io.Writer, doc T) (io.Writer, T) {
	m, is := w.(Masker)
	if !is {
		return w, doc
	}
	to, hidden := m.Masked(doc)
	return to, hidden.(T)
}

// count is "1 cluster" or "12 clusters".
func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	if strings.HasSuffix(noun, "s") {
		return fmt.Sprintf("%d %ses", n, noun)
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// shortDigest is a digest's first characters: "sha256:4be1c0…".
func (s Style) shortDigest(d string) string {
	algo, hex, ok := strings.Cut(d, ":")
	if !ok || len(hex) <= 6 {
		return d
	}
	return algo + ":" + hex[:6] + s.ellipsis()
}

// seconds is a duration for people: "21 ms", "0.4 s", "38 s", "2m41s".
func seconds(d time.Duration) string {
	switch {
	case d < 100*time.Millisecond:
		return fmt.Sprintf("%d ms", max(d, 0).Milliseconds())
	case d < 10*time.Second:
		return fmt.Sprintf("%.1f s", d.Seconds())
	case d < 100*time.Second:
		return fmt.Sprintf("%.0f s", d.Seconds())
	}
	return clock(d)
}

// whole is seconds without fractions: "0 s", "38 s", "2m41s".
func whole(d time.Duration) string {
	if d = max(d, 0).Round(time.Second); d < 100*time.Second {
		return fmt.Sprintf("%d s", int(d.Seconds()))
	}
	return clock(d)
}

// clock is minutes and seconds, with hours when there are any: "2m00s", "1h02m00s".
func clock(d time.Duration) string {
	d = d.Round(time.Second)
	h, m, s := int(d.Hours()), int(d.Minutes())%60, int(d.Seconds())%60
	if h > 0 {
		return fmt.Sprintf("%dh%02dm%02ds", h, m, s)
	}
	return fmt.Sprintf("%dm%02ds", m, s)
}

// spell is a configured duration as one would write it: "2m", "90s" as "1m30s".
func spell(d time.Duration) string {
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}

// ago is the age of an RFC 3339 time, "3 days ago"; "" when it cannot be told.
func ago(since string, now time.Time) string {
	t, err := time.Parse(time.RFC3339, since)
	if err != nil || now.IsZero() {
		return ""
	}
	d := now.Sub(t)
	switch {
	case d < time.Minute:
		return "just now"
	case d < time.Hour:
		return count(int(d.Minutes()), "minute") + " ago"
	case d < 48*time.Hour:
		return count(int(d.Hours()), "hour") + " ago"
	}
	return count(int(d.Hours()/24), "day") + " ago"
}

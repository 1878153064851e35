package report

import (
	"bytes"
	"fmt"
	"html"
	"io"
	"strings"

	"hawser.dev/hawser/internal/columns"
	"hawser.dev/hawser/internal/fleetplan"
)

// MarkdownLimit is the size a pull request comment may have (65,536 characters at GitHub), less what a bot adds.
const MarkdownLimit = 65000

// Markdown prints a plan for a pull request: the totals, one collapsed block per group (with full per cluster, and the
// content of new objects), the rollout. It never takes more than MarkdownLimit bytes; what does not fit is named with its
// numbers.
func Markdown(w io.Writer, p *fleetplan.FleetPlan, full bool) error {
	w, p = masked(w, p)
	st := Style{Width: 100, Unicode: true, Full: full}
	head := markdownHead(p, st)
	foot := markdownFoot(p, st)
	const noteRoom = 2000
	room := MarkdownLimit - len(head) - len(foot) - noteRoom
	var body strings.Builder
	var left []section
	sections := sectionsOf(st, p)
	for _, s := range sections {
		block := markdownGroup(p, s, st, sections)
		if room -= len(block); room < 0 || len(left) > 0 {
			left = append(left, s)
			continue
		}
		body.WriteString(block)
	}
	if len(left) > 0 {
		body.WriteString(markdownLeft(left, len(sections), full))
	}
	out := head + body.String() + foot
	if len(out) > MarkdownLimit {
		out = cut(out, MarkdownLimit-60) + "\n\n_Cut here: the plan is longer than a comment may be._\n"
	}
	_, err := io.WriteString(w, columns.Screen(out))
	return err
}

func markdownHead(p *fleetplan.FleetPlan, st Style) string {
	var b bytes.Buffer
	what := "Plan"
	switch p.Verb {
	case "delete":
		what = "Plan to delete"
	case "eject":
		what = "Plan to eject"
	case "rollback":
		what = "Plan to go back to release " + p.RollbackTo.String()
	}
	fmt.Fprintf(&b, "### %s: bundle `%s` on %s\n\n", what, p.Bundle, count(len(p.Clusters), "cluster"))
	if guard, _ := p.Unconfirmed(); len(guard) > 0 {
		fmt.Fprintf(&b, "**%s**\n\n", totals(p))
	}
	switch n := problems(p); {
	case n > 0:
		fmt.Fprintf(&b, "**Refused, %s.** Nothing was written.\n\n", count(n, "problem"))
	case !p.Writes() && len(unreachable(p)) == 0:
		_, notAsked := asked(p)
		fmt.Fprintf(&b, "No changes: %s are as declared (`%s`).%s\n\n", count(p.Counts().Unchanged, "object"), st.shortDigest(p.SourceDigest), notAsked)
	default:
		fmt.Fprintf(&b, "**%s**\n\n", totals(p))
	}
	for _, text := range awaited(p, st) {
		b.WriteString(text + ".\n\n")
	}
	if fs := shown(p.Findings, st); len(fs) > 0 {
		var text bytes.Buffer
		_ = Findings(&text, fs, st)
		b.WriteString(fenced("", cut(text.String(), MarkdownLimit/4)))
	}
	return b.String()
}

func markdownGroup(p *fleetplan.FleetPlan, s section, st Style, all []section) string {
	var text bytes.Buffer
	o := newOut(&text, st)
	l := layoutOf(st, p.Created, all)
	head := s.head
	s.head = ""
	l.section(o, s)
	_ = o.Flush()
	letter, rest, _ := strings.Cut(head, "  ")
	title := fmt.Sprintf("<b>%s</b> %s (%s)", html.EscapeString(letter), html.EscapeString(rest), statOf(s.changes))
	if s.as != "" {
		title = strings.TrimSuffix(title, ")") + " besides " + s.as + ")"
	}
	return "<details><summary>" + title + "</summary>\n\n" + fenced("diff", outdent(text.String())) + "</details>\n\n"
}

// outdent moves the marks to the first column, where a diff block colours + and -; headings become comments.
func outdent(text string) string {
	var b strings.Builder
	for _, l := range strings.Split(strings.Trim(text, "\n"), "\n") {
		switch {
		case strings.HasPrefix(l, strings.Repeat(" ", colMark)):
			l = l[colMark:]
		case strings.HasPrefix(l, strings.Repeat(" ", colInstance)):
			l = "# " + l[colInstance:]
		}
		b.WriteString(strings.TrimRight(l, " ") + "\n")
	}
	return b.String()
}

func markdownLeft(left []section, all int, full bool) string {
	var b strings.Builder
	what := "group"
	if full {
		what = "cluster"
	}
	fmt.Fprintf(&b, "> Cut: %d of %s would not fit into a comment. `hawser plan` shows them all; in numbers:\n>\n", len(left), count(all, what))
	for i, s := range left {
		line := fmt.Sprintf("> - %s: %s\n", strings.Replace(cut(s.head, 150), "  ", " ", 1), statOf(s.changes))
		if b.Len()+len(line) > 1800 {
			fmt.Fprintf(&b, "> - and %d more\n", len(left)-i)
			break
		}
		b.WriteString(line)
	}
	return b.String() + "\n"
}

func markdownFoot(p *fleetplan.FleetPlan, st Style) string {
	var text bytes.Buffer
	o := newOut(&text, st)
	unreached(o, p)
	if guard, _ := p.Unconfirmed(); (problems(p) == 0 || len(guard) > 0) && p.Writes() {
		rolloutBlock(o, p)
	}
	_ = o.Flush()
	if strings.TrimSpace(text.String()) == "" {
		return ""
	}
	return fenced("", strings.Trim(cut(text.String(), MarkdownLimit/4), "\n")+"\n")
}

// fenced is a code block whose fence is longer than any run of backticks inside.
func fenced(language, text string) string {
	longest, run := 2, 0
	for _, r := range text {
		if run++; r != '`' {
			run = 0
		}
		longest = max(longest, run)
	}
	fence := strings.Repeat("`", longest+1)
	return fence + language + "\n" + text + fence + "\n\n"
}

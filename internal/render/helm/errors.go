package helm

import (
	"strconv"
	"strings"

	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/lazyregexp"
)

// place is a position in a text of the engine: CHART/templates/x.yaml:12 or :12:5.
var place = lazyregexp.New(`([^\s():"<>]+/[^\s():"<>]+):(\d+)(?::(\d+))?`)

// templateError is the engine's error as a finding at the template and line where it arose; templates that include
// that one are named as the way there.
func (j *job) templateError(err error) error {
	said := unmangle(err.Error())
	text := j.opts.Redact(said) // before anything is cut from it
	f := diag.Errorf("template", "the template fails")
	f.Why = reason(text)
	places := place.FindAllStringSubmatch(text, -1)
	for i, p := range places {
		if !strings.HasPrefix(p[1], j.chart.chart.Name()+"/") {
			continue
		}
		pos := diag.Pos{File: j.file(p[1])}
		pos.Line, _ = strconv.Atoi(p[2])
		pos.Column, _ = strconv.Atoi(p[3])
		if i == 0 {
			f.Pos = pos
			continue
		}
		if at := pos.String(); at != f.Pos.String() && !strings.Contains(f.What, at) {
			f.What += " in what it includes at " + at
			break
		}
	}
	if strings.HasPrefix(text, "parse error") {
		f.What = "the template cannot be parsed"
	} else if wanted, ok := j.wanted(text, f); ok {
		f = wanted
	}
	if handed := handedToTpl.FindString(said); handed != "" && j.opts.Redact(handed) != handed {
		f.Why = "the text that is handed to tpl is no valid template, or fails" // a part of it would not be known again
	} else if function, why := innermost(said); !ownWords[function] && j.opts.Redact(why) != why {
		f.Why = function + " fails for a value that is secret" // parsers quote a value, and then again what they could not read of it
	}
	return diag.Findings{f}.Err()
}

// ownWords are functions whose errors are what the author of a template wrote.
var ownWords = map[string]bool{"": true, "fail": true, "required": true}

// innermost is the function that failed and what it said, nothing where none did.
func innermost(said string) (function, why string) {
	if i := strings.LastIndex(said, calling); i >= 0 {
		function, why, _ = strings.Cut(said[i+len(calling):], ": ")
	}
	return function, why
}

// calling stands before the name of a function that failed.
const calling = ": error calling "

// handedToTpl is the text of a template that was a value, as the engine repeats it.
var handedToTpl = lazyregexp.New(`(?:cannot parse template|error during tpl function execution for) "(?s:(?:[^"\\]|\\.)*)"`)

// maxReason bounds how much of an engine's text is shown.
const maxReason = 600

// reason is the last and innermost of what the engine says, without the places before it.
func reason(text string) string {
	for _, head := range []string{"execution error at (", "parse error at ("} {
		if rest, ok := strings.CutPrefix(text, head); ok {
			if _, why, ok := strings.Cut(rest, "): "); ok {
				return shorten(strings.TrimSpace(why))
			}
		}
	}
	lines := strings.Split(strings.TrimSpace(text), "\n")
	last := strings.TrimSpace(lines[len(lines)-1])
	if i := strings.LastIndex(last, calling); i >= 0 {
		last = last[i+len(calling):]
	}
	return shorten(last)
}

func shorten(s string) string {
	if len(s) <= maxReason {
		return s
	}
	return strings.ToValidUTF8(s[:maxReason/2], "") + " ... " + strings.ToValidUTF8(s[len(s)-maxReason/2:], "")
}

// Package diag holds Findings: what is wrong (or worth knowing), where, why, and what to do about it.
//
// Every room returns findings beside a best-effort value instead of printing. A finding never carries a
// secret value: whoever makes one from foreign error text passes the text through the redactor first.
//
// diag must not know Kubernetes, CUE or how a finding is printed.
package diag

import (
	"errors"
	"fmt"
	"slices"
	"sort"
	"strings"
)

// Severity says whether a finding stops the work.
type Severity string

const (
	// Error stops the work before anything is written.
	Error Severity = "error"
	// Warning is shown and does not stop anything.
	Warning Severity = "warning"
	// Info explains a decision; shown with -v.
	Info Severity = "info"
)

// Pos is a place in a user's file. Line and Column count from 1; zero means unknown.
type Pos struct {
	File   string `json:"file,omitempty"`
	Line   int    `json:"line,omitempty"`
	Column int    `json:"column,omitempty"`
}

// IsValid reports whether the position names a file.
func (p Pos) IsValid() bool { return p.File != "" }

// String is file:line:column with unknown parts left out, "" for the zero position.
func (p Pos) String() string {
	switch {
	case p.File == "":
		return ""
	case p.Line == 0:
		return p.File
	case p.Column == 0:
		return fmt.Sprintf("%s:%d", p.File, p.Line)
	}
	return fmt.Sprintf("%s:%d:%d", p.File, p.Line, p.Column)
}

// CodeNoReference is the code of the warning that a text is meant as a reference to a secret, and is none: its line is not quoted.
const CodeNoReference = "no-reference"

// FixEncrypted is what to do with a manifest that SOPS encrypted.
const FixEncrypted = "SOPS encrypted this manifest, and manifests are not decrypted: keep the values in a store of secrets (sops), and give them by ref:// to a chart or module"

// Finding is one message for the user: what, where (position, data path, cluster, object), why, what to do.
type Finding struct {
	Severity Severity `json:"severity"`
	// Code is a stable kebab-case name of the rule, for example "unknown-field".
	Code string `json:"code"`
	// What is one sentence without a trailing full stop.
	What string `json:"what"`
	// Why gives the cause, often a server's or a library's redacted text.
	Why string `json:"why,omitempty"`
	// Fix says what the user can do next.
	Fix string `json:"fix,omitempty"`
	// Pos is the place in the user's own file.
	Pos Pos `json:"pos,omitzero"`
	// Path is the data path, for example bundle.instances.api.values.replicas.
	Path string `json:"path,omitempty"`
	// Cluster is the cluster's name, Object an object as "Kind namespace/name", Instance the instance's name.
	Cluster  string `json:"cluster,omitempty"`
	Object   string `json:"object,omitempty"`
	Instance string `json:"instance,omitempty"`
	// sentence is what What was made of, "" where that is not known; told is the Why that is a sentence of our own.
	sentence, told string
}

// String is the finding on one line, without its severity: where, what, why.
func (f Finding) String() string {
	var b strings.Builder
	if s := f.Pos.String(); s != "" {
		b.WriteString(s + ": ")
	}
	if f.Cluster != "" {
		b.WriteString("cluster " + f.Cluster + ": ")
	}
	if f.Object != "" {
		b.WriteString(f.Object + ": ")
	}
	if f.Path != "" {
		b.WriteString(f.Path + ": ")
	}
	b.WriteString(f.What)
	if f.Why != "" {
		b.WriteString(": " + f.Why)
	}
	if f.Fix != "" {
		b.WriteString(" (" + f.Fix + ")")
	}
	return b.String()
}

// Findings is a list of findings; nil is "nothing found".
type Findings []Finding

// HasErrors reports whether any finding is an Error.
func (fs Findings) HasErrors() bool {
	for _, f := range fs {
		if f.Severity == Error {
			return true
		}
	}
	return false
}

// Errors returns the findings of severity Error.
func (fs Findings) Errors() Findings { return fs.of(Error) }

// Warnings returns the findings of severity Warning.
func (fs Findings) Warnings() Findings { return fs.of(Warning) }

func (fs Findings) of(s Severity) Findings {
	var out Findings
	for _, f := range fs {
		if f.Severity == s {
			out = append(out, f)
		}
	}
	return out
}

// Err returns nil when there is no Error among the findings, else an error that carries all of them.
func (fs Findings) Err() error {
	if !fs.HasErrors() {
		return nil
	}
	return &FindingsError{Findings: fs}
}

// As are the findings, each as severe as is said.
func (fs Findings) As(s Severity) Findings {
	out := slices.Clone(fs)
	for i := range out {
		out[i].Severity = s
	}
	return out
}

// OnCluster returns a copy whose findings without a cluster name this one.
func (fs Findings) OnCluster(name string) Findings {
	out := make(Findings, len(fs))
	for i, f := range fs {
		if f.Cluster == "" {
			f.Cluster = name
		}
		out[i] = f
	}
	return out
}

// OfNoCluster are the findings that are about no one cluster.
func (fs Findings) OfNoCluster() Findings {
	return slices.DeleteFunc(slices.Clone(fs), func(f Finding) bool { return f.Cluster != "" })
}

// OfInstance gives those of the findings that say no instance or no position the ones given, and returns them.
func (fs Findings) OfInstance(name string, pos Pos) Findings {
	for i := range fs {
		if fs[i].Instance == "" {
			fs[i].Instance = name
		}
		if !fs[i].Pos.IsValid() {
			fs[i].Pos = pos
		}
	}
	return fs
}

// Sorted returns a copy ordered by severity, position, cluster, path and text, without exact repetitions.
func (fs Findings) Sorted() Findings {
	rank := map[Severity]int{Error: 0, Warning: 1, Info: 2}
	key := func(f Finding) string {
		return fmt.Sprintf("%d\x00%s\x00%08d\x00%08d\x00%s\x00%s\x00%s\x00%s\x00%s", rank[f.Severity],
			f.Pos.File, f.Pos.Line, f.Pos.Column, f.Cluster, f.Path, f.Object, f.What, f.Why)
	}
	keys, order := make([]string, len(fs)), make([]int, len(fs))
	for i, f := range fs {
		keys[i], order[i] = key(f), i
	}
	sort.SliceStable(order, func(i, j int) bool { return keys[order[i]] < keys[order[j]] })
	var uniq Findings
	for _, i := range order {
		if f := fs[i]; len(uniq) == 0 || f != uniq[len(uniq)-1] {
			uniq = append(uniq, f)
		}
	}
	return uniq
}

// Errorf makes a Findings of one Error with the given code.
func Errorf(code, format string, args ...any) Finding {
	return Finding{Severity: Error, Code: code, What: fmt.Sprintf(format, args...), sentence: format}
}

// Warnf makes one Warning with the given code.
func Warnf(code, format string, args ...any) Finding {
	return Finding{Severity: Warning, Code: code, What: fmt.Sprintf(format, args...), sentence: format}
}

// FindingsError is an error made of findings; at least one of them is an Error.
type FindingsError struct{ Findings Findings }

// Error lists the errors among the findings, one a line.
func (e *FindingsError) Error() string {
	lines := make([]string, 0, len(e.Findings))
	for _, f := range e.Findings.Errors() {
		lines = append(lines, f.String())
	}
	return strings.Join(lines, "\n")
}

// teller is an error that knows what to do about it.
type teller interface {
	error
	Told() Finding
}

// From turns any error into findings: a copy of the ones it carries (the error may be shared), what one tells of itself, or one
// Error with the given code.
func From(err error, code string) Findings {
	if err == nil {
		return nil
	}
	if fe, ok := errors.AsType[*FindingsError](err); ok {
		return slices.Clone(fe.Findings)
	}
	if t, ok := errors.AsType[teller](err); ok {
		return Findings{t.Told()}
	}
	return Findings{Errorf(code, "%s", Text(err))}
}

// FromAll are the findings of several errors, each once; see From.
func FromAll(errs []error, code string) Findings {
	var out Findings
	seen := map[string]bool{}
	for _, err := range errs {
		for _, f := range From(err, code) {
			if err != nil && !seen[f.String()] {
				seen[f.String()] = true
				out = append(out, f)
			}
		}
	}
	return out
}

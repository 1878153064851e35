package report

import (
	"bytes"
	"encoding/json"
	"io"

	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/fleetplan"
)

// DocumentVersion is diag.DocumentVersion, for the faces.
const DocumentVersion = diag.DocumentVersion

// FindingsDocument is the JSON form of findings that come without another document. It is public and versioned.
type FindingsDocument struct {
	V        int           `json:"v"` // diag.DocumentVersion
	Findings diag.Findings `json:"findings"`
}

// JSON writes a document (a FleetPlan, an Outcome, a StatusReport, findings, ...) indented, characters as they are.
func JSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(document(v))
}

// YAML writes the same document as YAML, in which no line is an order to a CI system.
func YAML(w io.Writer, v any) error {
	var b bytes.Buffer
	if err := JSON(&b, v); err != nil {
		return err
	}
	data, err := diag.YAML(b.Bytes())
	if err != nil {
		return err
	}
	if d, ok := w.(interface{ AsDocument() io.Writer }); ok { // who masks must not have to guess
		w = d.AsDocument()
	}
	_, err = w.Write(data)
	return err
}

// maxJSON is how many findings a document has before the rest is a number.
const maxJSON = 1000

// document gives bare findings their versioned frame, and bounds findings: what is given stays as it is.
func document(v any) any {
	if fs, ok := v.(diag.Findings); ok {
		if fs == nil {
			fs = diag.Findings{}
		}
		return FindingsDocument{V: diag.DocumentVersion, Findings: fs.First(maxJSON)}
	}
	return fleetplan.Bounded(v, maxJSON)
}

// NewNDJSON returns a reader of events that writes each as one line of JSON. It is safe for one event at a time.
func NewNDJSON(w io.Writer) func(fleetplan.Event) {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return func(e fleetplan.Event) {
		if e.V = diag.DocumentVersion; e.Summary != nil {
			e.Summary, _ = fleetplan.Bounded(e.Summary, maxJSON).(*fleetplan.Outcome)
		}
		_ = enc.Encode(e) // a reader that went away ends the run by its own means, not the rollout
	}
}

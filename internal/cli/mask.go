package cli

import (
	"bytes"
	"encoding/json"
	"io"

	"sigs.k8s.io/yaml"

	"hawser.dev/hawser/internal/diag"
)

// maskedWriter is the last one to see what is printed. What it writes is what it was given, save for secret values: in
// text they are masked, in JSON and YAML documents inside of strings alone, so that the documents stay what they are.
type maskedWriter struct {
	to   io.Writer
	mask func(string) string
}

// masked is the App with streams that hide what Mask hides.
func (a *App) masked() *App {
	if a.Mask == nil {
		return a
	}
	out := *a
	out.Out, out.Err = &maskedWriter{a.Out, a.Mask}, &maskedWriter{a.Err, a.Mask}
	is := a.IsTerminal
	if is == nil {
		is = isTerminal
	}
	out.IsTerminal = func(stream any) bool {
		if w, ok := stream.(*maskedWriter); ok {
			stream = w.to
		}
		return is(stream)
	}
	return &out
}

// unmasked is the stream below, for what must be printed as it is.
func unmasked(w io.Writer) io.Writer {
	if m, ok := w.(*maskedWriter); ok {
		return m.to
	}
	return w
}

// Write writes all of p or fails; the count is that of p's bytes.
func (m *maskedWriter) Write(p []byte) (int, error) {
	text := string(p)
	out := p
	if hidden := m.mask(text); hidden != text {
		out = maskDocument(p, hidden, m.mask)
	}
	if quiet := diag.Inert(string(out)); quiet != string(out) && !isDocument(out) {
		out = []byte(quiet) // what a finding, a log or a name of others brought along
	}
	if _, err := m.to.Write(out); err != nil {
		return 0, err
	}
	return len(p), nil
}

// isDocument reports whether what is printed is JSON or YAML of ours, for machines.
func isDocument(data []byte) bool {
	return json.Valid(data) || !bytes.HasPrefix(data, []byte("{")) && bytes.Contains(data, []byte("\nv: 1\n"))
}

// maskDocument masks inside the strings of a JSON or YAML document; anything else becomes the masked text.
func maskDocument(data []byte, text string, mask func(string) string) []byte {
	if json.Valid(data) {
		return maskStrings(data, mask)
	}
	// Only what we printed as a document starts with a version; other text may be YAML by accident.
	if !bytes.HasPrefix(data, []byte("{")) && bytes.Contains(data, []byte("\nv: 1\n")) {
		if asJSON, err := yaml.YAMLToJSONStrict(data); err == nil {
			if out, err := yaml.JSONToYAML(maskStrings(asJSON, mask)); err == nil {
				return out
			}
		}
	}
	return []byte(text)
}

// maskStrings masks every string of valid JSON, keys included.
func maskStrings(data []byte, mask func(string) string) []byte {
	var out bytes.Buffer
	for i := 0; i < len(data); {
		if data[i] != '"' {
			out.WriteByte(data[i])
			i++
			continue
		}
		end := i + 1
		for data[end] != '"' {
			if data[end] == '\\' {
				end++
			}
			end++
		}
		literal := data[i : end+1]
		i = end + 1
		var s string
		if err := json.Unmarshal(literal, &s); err == nil {
			if hidden := mask(s); hidden != s {
				enc := json.NewEncoder(&out)
				enc.SetEscapeHTML(false)
				if enc.Encode(hidden) == nil {
					out.Truncate(out.Len() - 1) // the encoder's newline
				}
				continue
			}
		}
		out.Write(literal)
	}
	return out.Bytes()
}

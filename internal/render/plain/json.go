package plain

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"

	"hawser.dev/hawser/internal/diag"
)

// jsonReader reads JSON token by token, so that keys used twice are found.
type jsonReader struct {
	dec   *json.Decoder
	text  []byte
	file  string
	depth int
}

// jsonError is an error at a place in the file.
type jsonError struct {
	offset int64
	text   string
}

func (e *jsonError) Error() string { return e.text }

// parseJSON reads one or more JSON values after one another; arrays of objects are not manifests.
func parseJSON(f file, opts Options) ([]document, diag.Findings) {
	text := bytes.TrimPrefix(f.text, []byte("\xef\xbb\xbf"))
	r := &jsonReader{dec: json.NewDecoder(bytes.NewReader(text)), text: text, file: f.name, depth: opts.Limits.Nesting}
	r.dec.UseNumber()
	var docs []document
	for {
		pos := r.pos(r.next())
		x, err := r.value()
		if errors.Is(err, io.EOF) {
			return docs, nil
		}
		if err != nil {
			return docs, diag.Findings{r.finding(err, opts)}
		}
		body, ok := x.(map[string]any)
		if !ok && x != nil {
			fd := diag.Errorf("not-an-object", "an object is expected")
			fd.Pos = pos
			return docs, diag.Findings{fd}
		}
		if body != nil {
			docs = append(docs, document{body: body, pos: pos})
		}
	}
}

// next is the offset of the next token.
func (r *jsonReader) next() int64 {
	at := r.dec.InputOffset()
	rest := r.text[at:]
	return at + int64(len(rest)-len(bytes.TrimLeft(rest, " \t\r\n,:")))
}

func (r *jsonReader) pos(offset int64) diag.Pos {
	offset = min(max(offset, 0), int64(len(r.text)))
	return diag.Pos{File: r.file, Line: 1 + bytes.Count(r.text[:offset], []byte("\n"))}
}

func (r *jsonReader) finding(err error, opts Options) diag.Finding {
	offset := r.dec.InputOffset()
	var syntax *json.SyntaxError
	var ours *jsonError
	code := "json"
	switch {
	case errors.As(err, &ours):
		offset, code = ours.offset, "duplicate-key"
	case errors.As(err, &syntax):
		offset = syntax.Offset
	case errors.Is(err, io.ErrUnexpectedEOF):
		offset = int64(len(r.text))
	}
	f := diag.Errorf(code, "not valid JSON: %s", opts.Redact(err.Error()))
	if ours != nil {
		f.What = ours.text
	}
	f.Pos = r.pos(offset)
	return f
}

func (r *jsonReader) value() (any, error) {
	tok, err := r.dec.Token()
	if err != nil {
		return nil, err
	}
	switch t := tok.(type) {
	case json.Delim:
		if r.depth--; r.depth < 0 {
			return nil, errors.New("nested too deeply")
		}
		defer func() { r.depth++ }()
		if t == '{' {
			return r.object()
		}
		return r.array()
	case json.Number:
		if i, err := strconv.ParseInt(t.String(), 10, 64); err == nil {
			return i, nil
		}
		return t.Float64()
	}
	return tok, nil
}

// inside turns the end of the file inside a value into an error.
func inside(x any, err error) (any, error) {
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	return x, err
}

func (r *jsonReader) object() (any, error) {
	m := map[string]any{}
	for r.dec.More() {
		at := r.next()
		tok, err := r.dec.Token()
		if err != nil {
			return inside(nil, err)
		}
		key, ok := tok.(string)
		if !ok {
			return nil, errors.New("a key must be a string")
		}
		if _, dup := m[key]; dup {
			return nil, &jsonError{offset: at, text: fmt.Sprintf("key %q is given twice", key)}
		}
		x, err := inside(r.value())
		if err != nil {
			return nil, err
		}
		m[key] = x
	}
	_, err := r.dec.Token()
	return inside(m, err)
}

func (r *jsonReader) array() (any, error) {
	list := []any{}
	for r.dec.More() {
		x, err := inside(r.value())
		if err != nil {
			return nil, err
		}
		list = append(list, x)
	}
	_, err := r.dec.Token()
	return inside(list, err)
}

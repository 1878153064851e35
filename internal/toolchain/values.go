package toolchain

import (
	"io"
	"path/filepath"

	"cuelang.org/go/cue"
	"cuelang.org/go/cue/ast"
	"cuelang.org/go/cue/cuecontext"

	"hawser.dev/hawser/api/v1alpha1"
	"hawser.dev/hawser/internal/cuelang"
	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/rootfs"
)

// readValues reads values files, each over those before it: CUE, YAML or JSON with the field values, as Timoni's -f
// takes them. "-" is stdin as CUE. No files give nil.
func (t *Tools) readValues(files []string, stdin io.Reader) (v1alpha1.Values, error) {
	var none v1alpha1.Values
	var out *v1alpha1.Value
	for _, name := range files {
		x, err := t.valuesOf(name, stdin)
		if err != nil {
			return none, cuelang.FindingsFor(err, cuelang.Show{Code: "values"}).Err()
		}
		if out == nil {
			out = x
			continue
		}
		if out, err = cuelang.Overlay(out, x); err != nil {
			return none, cuelang.FindingsFor(err, cuelang.Show{Code: "values"}).Err()
		}
	}
	if out == nil || out.Kind != v1alpha1.KindStruct {
		return none, nil
	}
	return v1alpha1.Values{Struct: out}, nil
}

func (t *Tools) valuesOf(name string, stdin io.Reader) (*v1alpha1.Value, error) {
	data, err := readInput(name, stdin)
	if err != nil {
		return nil, err
	}
	defer t.Watchdog.Enter("the values of " + name)()
	return parseValues(name, data)
}

// parseValues reads one values file as data; the name says the syntax.
func parseValues(name string, data []byte) (*v1alpha1.Value, error) {
	var f *ast.File
	var err error
	switch ext := filepath.Ext(name); ext {
	case ".yaml", ".yml":
		f, err = cuelang.FromYAML(name, data)
	case ".json":
		var x ast.Expr
		if x, err = cuelang.FromJSON(name, data); err == nil {
			f = &ast.File{Filename: name, Decls: []ast.Decl{&ast.EmbedDecl{Expr: x}}}
		}
	case ".cue", "":
		if fs := cuelang.CheckSource(name, data, cuelang.Limits{}); fs.HasErrors() {
			return nil, fs.Err()
		}
		return valuesIn(name, cuecontext.New().CompileBytes(data, cue.Filename(name)))
	default:
		return nil, failure("values", name+": values are read from .cue, .yaml, .yml and .json files", "")
	}
	if err != nil {
		return nil, err
	}
	return valuesIn(name, cuecontext.New().BuildFile(f))
}

func valuesIn(name string, v cue.Value) (*v1alpha1.Value, error) {
	if err := v.Err(); err != nil {
		return nil, err
	}
	values := v.LookupPath(cue.ParsePath("values"))
	if !values.Exists() {
		f := diag.Errorf("values", "there is no field values")
		f.Pos, f.Fix = diag.Pos{File: name}, "put what you want to set below it, for example values: replicas: 3"
		return nil, diag.Findings{f}.Err()
	}
	if err := values.Validate(cue.Concrete(true)); err != nil {
		return nil, err
	}
	return cuelang.Data(values)
}

func readInput(name string, stdin io.Reader) ([]byte, error) {
	const most = 16 << 20
	var in = stdin
	if name != "-" {
		if err := given(name); err != nil {
			return nil, err
		}
		f, err := rootfs.OpenFile(name)
		if err != nil {
			return nil, failure("values", err.Error(), "")
		}
		defer func() { _ = f.Close() }()
		in = f
	}
	if in == nil {
		return nil, failure("values", "there is no stdin to read", "")
	}
	data, err := io.ReadAll(io.LimitReader(in, most+1))
	if err == nil && len(data) > most {
		err = failure("values", name+" has more than 16 MiB", "")
	}
	return data, err
}

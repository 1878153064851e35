package wire

import "hawser.dev/hawser/api/v1alpha1"

// Bits of a value: it is there; it is replaced as a whole; it is a text of another program's file.
const (
	isThere byte = 1 << iota
	isWhole
	isForeign
)

// data writes a node of plain data with its places.
func (w *writer) data(v *v1alpha1.Value, depth int) error {
	switch {
	case depth > maxDepth:
		return errDeep
	case v == nil:
		w.byte(0)
		return nil
	}
	bits := isThere
	if v.Whole {
		bits |= isWhole
	}
	if v.Foreign {
		bits |= isForeign
	}
	w.byte(bits)
	w.byte(byte(v.Kind))
	w.pos(v.Pos)
	w.text(v.Text)
	w.uint(uint64(len(v.Fields)))
	for _, f := range v.Fields {
		w.text(f.Name)
		w.pos(f.Pos)
		if err := w.data(f.Value, depth+1); err != nil {
			return err
		}
	}
	w.uint(uint64(len(v.Items)))
	for _, e := range v.Items {
		if err := w.data(e, depth+1); err != nil {
			return err
		}
	}
	return nil
}

func (r *reader) data(depth int) (*v1alpha1.Value, error) {
	bits := r.byte()
	switch {
	case depth > maxDepth:
		return nil, errNot
	case bits == 0:
		return nil, r.err
	}
	v := &v1alpha1.Value{Whole: bits&isWhole != 0, Foreign: bits&isForeign != 0, Kind: v1alpha1.Kind(r.byte()), Pos: r.pos(), Text: r.text()}
	var err error
	for range r.count(1) {
		f := v1alpha1.Field{Name: r.text(), Pos: r.pos()}
		if f.Value, err = r.data(depth + 1); err != nil {
			return nil, err
		}
		v.Fields = append(v.Fields, f)
	}
	for range r.count(1) {
		e, err := r.data(depth + 1)
		if err != nil {
			return nil, err
		}
		v.Items = append(v.Items, e)
	}
	if v.Kind > v1alpha1.KindStruct {
		return nil, errNot
	}
	return v, r.err
}

// pos writes a position; the name of a file is written once.
func (w *writer) pos(p v1alpha1.Position) {
	i, ok := w.files[p.File]
	if !ok {
		i = len(w.names)
		w.files[p.File], w.names = i, append(w.names, p.File)
	}
	w.uint(uint64(i))
	w.int(int64(p.Line))
	w.int(int64(p.Column))
}

func (r *reader) pos() v1alpha1.Position {
	i := r.uint()
	if r.err != nil || i >= uint64(len(r.files)) {
		r.fail()
		return v1alpha1.Position{}
	}
	return v1alpha1.Position{File: r.files[i], Line: int(r.int()), Column: int(r.int())}
}

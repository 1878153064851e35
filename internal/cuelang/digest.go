package cuelang

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"strings"

	"hawser.dev/hawser/api/v1alpha1"
)

// Digest is "sha256:<hex>" over a canonical text of data in field order: kinds are kept apart (4 is not 4.0, bytes are
// not a string, {a, b} is not {b, a}), while positions and marks do not count. nil is the digest of no value at all.
func Digest(v *v1alpha1.Value) string {
	var b strings.Builder
	canonical(&b, v)
	sum := sha256.Sum256([]byte(b.String()))
	return "sha256:" + hex.EncodeToString(sum[:])
}

// kindMarks tell the kinds of scalars apart in what is digested.
var kindMarks = map[v1alpha1.Kind]scalarKind{v1alpha1.KindBool: boolScalar, v1alpha1.KindInt: intScalar, v1alpha1.KindFloat: floatScalar,
	v1alpha1.KindString: strScalar, v1alpha1.KindBytes: bytesScalar}

func canonical(b *strings.Builder, v *v1alpha1.Value) {
	switch {
	case v == nil:
		b.WriteByte('-')
	case v.Kind == v1alpha1.KindStruct:
		b.WriteByte('{')
		for _, f := range v.Fields {
			b.WriteString(strconv.Quote(f.Name))
			b.WriteByte(':')
			canonical(b, f.Value)
			b.WriteByte(',')
		}
		b.WriteByte('}')
	case v.Kind == v1alpha1.KindList:
		b.WriteByte('[')
		for _, e := range v.Items {
			canonical(b, e)
			b.WriteByte(',')
		}
		b.WriteByte(']')
	case v.Kind == v1alpha1.KindNull:
		b.WriteString(`n"null"`)
	default:
		b.WriteByte(byte(kindMarks[v.Kind]))
		b.WriteString(strconv.Quote(v.Text))
	}
}

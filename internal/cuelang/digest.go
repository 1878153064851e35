package cuelang

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"strings"

	"cuelang.org/go/cue/ast"
)

// Digest is "sha256:<hex>" over a canonical text of data in field order: kinds are kept apart (4 is not 4.0, bytes are
// not a string, {a, b} is not {b, a}), while positions, comments and spelling (0x10, quotes) do not count.
// What is not data is hashed by its node type, so that it never equals data. nil is the digest of no value at all.
func Digest(x ast.Expr) string {
	var b strings.Builder
	canonical(&b, x)
	sum := sha256.Sum256([]byte(b.String()))
	return "sha256:" + hex.EncodeToString(sum[:])
}

func canonical(b *strings.Builder, x ast.Expr) {
	switch x := x.(type) {
	case nil:
		b.WriteByte('-')
	case *ast.StructLit:
		fields, err := Fields(x)
		if err != nil {
			b.WriteString("!" + strconv.Quote(err.Error()))
			return
		}
		b.WriteByte('{')
		for _, f := range fields {
			b.WriteString(strconv.Quote(f.Name))
			b.WriteByte(':')
			canonical(b, f.Value)
			b.WriteByte(',')
		}
		b.WriteByte('}')
	case *ast.ListLit:
		b.WriteByte('[')
		for _, e := range x.Elts {
			canonical(b, e)
			b.WriteByte(',')
		}
		b.WriteByte(']')
	default:
		kind, text, err := scalar(x)
		if err != nil {
			b.WriteString("!" + strconv.Quote(err.Error()))
			return
		}
		b.WriteByte(byte(kind))
		b.WriteString(strconv.Quote(text))
	}
}

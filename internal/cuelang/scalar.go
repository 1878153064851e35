package cuelang

import (
	"math/big"
	"strings"

	"cuelang.org/go/cue/ast"
	"cuelang.org/go/cue/errors"
	"cuelang.org/go/cue/literal"
	"cuelang.org/go/cue/token"
)

// scalarKind tells the basic literals of data apart.
type scalarKind byte

const (
	notScalar   scalarKind = 0
	nullScalar  scalarKind = 'n'
	boolScalar  scalarKind = 't'
	intScalar   scalarKind = 'i'
	floatScalar scalarKind = 'f'
	strScalar   scalarKind = 's'
	bytesScalar scalarKind = 'b'
)

// scalar returns kind and canonical text of a basic literal: decimal numbers, unquoted strings.
func scalar(x ast.Expr) (scalarKind, string, error) {
	switch x := x.(type) {
	case *ast.BasicLit:
		return basic(x)
	case *ast.UnaryExpr:
		kind, text, err := scalar(x.X)
		if err != nil {
			return notScalar, "", err
		}
		if kind != intScalar && kind != floatScalar || strings.HasPrefix(text, "-") {
			return notScalar, "", errors.Newf(x.Pos(), "not data: operator %s", x.Op)
		}
		switch x.Op {
		case token.SUB:
			if kind == intScalar && text == "0" {
				return kind, text, nil
			}
			return kind, "-" + text, nil
		case token.ADD:
			return kind, text, nil
		}
		return notScalar, "", errors.Newf(x.Pos(), "not data: operator %s", x.Op)
	case *ast.Ident:
		// The YAML and JSON readers write null and booleans as identifiers in places.
		switch x.Name {
		case "null":
			return nullScalar, "null", nil
		case "true", "false":
			return boolScalar, x.Name, nil
		}
		return notScalar, "", errors.Newf(x.Pos(), "not data: reference %s", x.Name)
	}
	if x == nil {
		return notScalar, "", errors.Newf(token.NoPos, "not data: no value")
	}
	return notScalar, "", errors.Newf(x.Pos(), "not data: %T", x)
}

func basic(x *ast.BasicLit) (scalarKind, string, error) {
	switch x.Kind {
	case token.NULL:
		return nullScalar, "null", nil
	case token.TRUE:
		return boolScalar, "true", nil
	case token.FALSE:
		return boolScalar, "false", nil
	case token.INT, token.FLOAT:
		return numeric(x)
	case token.STRING:
		s, err := literal.Unquote(x.Value)
		if err != nil {
			return notScalar, "", errors.Newf(x.Pos(), "invalid string: %v", err)
		}
		if strings.HasPrefix(strings.TrimLeft(x.Value, "#"), "'") {
			return bytesScalar, s, nil
		}
		return strScalar, s, nil
	}
	return notScalar, "", errors.Newf(x.Pos(), "not data: %s", x.Kind)
}

func numeric(x *ast.BasicLit) (scalarKind, string, error) {
	var info literal.NumInfo
	if err := literal.ParseNum(x.Value, &info); err != nil {
		return notScalar, "", errors.Newf(x.Pos(), "invalid number: %v", err)
	}
	if info.IsInt() {
		// Multipliers (2Mi) and bases are resolved by ParseNum; the decimal form is canonical.
		if r, ok := new(big.Rat).SetString(info.String()); ok && r.IsInt() {
			return intScalar, r.Num().String(), nil
		}
	}
	return floatScalar, info.String(), nil
}

package cuelang

import "cuelang.org/go/cue"

// KindWord is a kind of value in words.
func KindWord(k cue.Kind) string {
	switch k {
	case cue.NullKind:
		return "null"
	case cue.BoolKind:
		return "a boolean"
	case cue.IntKind, cue.FloatKind, cue.NumberKind:
		return "a number"
	case cue.StringKind:
		return "a string"
	case cue.BytesKind:
		return "bytes"
	case cue.StructKind:
		return "a struct"
	case cue.ListKind:
		return "a list"
	}
	return k.String()
}

// structs are what a text that stands in place of a struct was perhaps meant as, by the field's name.
var structs = map[string]string{"module": "module: {url: ...}", "helm": "helm: {chart: ...}", "kustomize": "kustomize: {path: ...}", "manifests": "manifests: {paths: [...]}",
	"values": "values: {KEY: VALUE, ...}, or values: {from: {file: ./values.yaml}}"}

// ShapeHint says how a value at a path is written that is of another kind than it should be; "" where that is plain.
func ShapeHint(path []string, want, have cue.Kind) string {
	if len(path) == 0 {
		return ""
	}
	if n := len(path); n > 1 && path[n-2] == "requires" && want == cue.StructKind && have == cue.StringKind {
		return "write requires: [{bundle: NAME}]"
	} else if n > 1 && path[n-2] == "instances" && want == cue.StructKind {
		return "an instance is NAME: {namespace: ..., module, helm, kustomize or manifests: {...}}; fields of the bundle stand beside instances"
	}
	name, scalar := path[len(path)-1], have&(cue.StringKind|cue.NumberKind|cue.BoolKind) != 0
	switch {
	case want == cue.ListKind && scalar:
		return "write a list, also of one: " + name + ": [...]"
	case want == cue.StructKind && (have == cue.ListKind || scalar) && structs[name] != "":
		return "write " + structs[name]
	case want == cue.StructKind && have == cue.ListKind:
		return "write each entry under its name: " + name + ": {NAME: {...}}"
	case name == "onFailure" && have == cue.BoolKind:
		return "write onFailure: rollback, or leave it out"
	case name == "approval" && have == cue.BoolKind:
		return "write approval: manual, or leave it out"
	case want == cue.StringKind && scalar:
		return "put it in quotes"
	}
	return ""
}

// Package secret is what secret values have in common: references to them, the Store socket, and the documents they stand
// in.
//
// secret must not know which stores there are, what a value is for, nor how it is hidden.
package secret

import (
	"context"
	"fmt"
	"net/url"
	"strings"
	"unicode"
)

// Scheme starts every reference to a secret.
const Scheme = "ref://"

// Sealed starts every value that SOPS encrypted: ENC[AES256_GCM,data:..,iv:..,tag:..,type:..].
const Sealed = "ENC[AES256_GCM,"

// DefaultStore serves references that name no store.
const DefaultStore = "default"

// Ref names one secret value: ref://[STORE:]NAME[/...]/PROPERTY[?version=V].
type Ref struct {
	// Store is the store's name in the fleet, DefaultStore when the reference names none.
	Store string
	// Path is everything between store and property, slash separated; for a reference of one segment it is that segment and
	// Property is "". Both are percent-decoded.
	Path, Property string
	// Version is "" for the newest.
	Version string
}

// IsRef reports whether a text is meant as a reference.
func IsRef(s string) bool { return strings.HasPrefix(s, Scheme) }

// ParseRef reads a reference. Errors never hold more of the text than the reference itself.
func ParseRef(s string) (Ref, error) {
	rest, ok := strings.CutPrefix(s, Scheme)
	if !ok {
		return Ref{}, fmt.Errorf("a reference starts with %s", Scheme)
	}
	if written := strings.TrimRightFunc(s, unicode.IsSpace); written != s {
		return Ref{}, fmt.Errorf("%s has a blank or a line end behind it: write it without, or as %%20 where it belongs to the name", strings.SplitN(written, "?", 2)[0])
	}
	r := Ref{Store: DefaultStore}
	rest, query, _ := strings.Cut(rest, "?")
	whole := Scheme + rest // as errors name it, with the store
	if query != "" {
		values, err := url.ParseQuery(query)
		if err != nil {
			return Ref{}, fmt.Errorf("%s: the part after ? cannot be read", whole)
		}
		for key, v := range values {
			if key != "version" || len(v) != 1 {
				return Ref{}, fmt.Errorf("%s: after ? only version=V is known", whole)
			}
			r.Version = v[0]
		}
	}
	first, _, _ := strings.Cut(rest, "/")
	if store, _, ok := strings.Cut(first, ":"); ok {
		if store == "" {
			return Ref{}, fmt.Errorf("%s: the name of the store is empty", whole)
		}
		r.Store, rest = store, rest[len(store)+1:]
	}
	parts := strings.Split(rest, "/")
	for _, p := range append(parts, r.Store) {
		if strings.TrimFunc(p, unicode.IsSpace) != p {
			return Ref{}, fmt.Errorf("%s has a blank or a line end before or behind %q: write it without, or as %%20 where it belongs to the name", whole, strings.TrimSpace(p))
		}
	}
	for i, p := range parts {
		decoded, err := url.PathUnescape(p)
		if err != nil || decoded == "" || decoded == "." || decoded == ".." || strings.ContainsAny(decoded, "/\\\x00") {
			return Ref{}, fmt.Errorf("%s: %q cannot be a part of a reference", whole, p)
		}
		parts[i] = decoded
	}
	if len(parts) == 1 {
		r.Path = parts[0]
		return r, nil
	}
	r.Path, r.Property = strings.Join(parts[:len(parts)-1], "/"), parts[len(parts)-1]
	return r, nil
}

// String is the reference in its shortest spelling; ParseRef reads it back to the same Ref.
func (r Ref) String() string {
	var b strings.Builder
	b.WriteString(Scheme)
	if r.Store != DefaultStore && r.Store != "" {
		b.WriteString(r.Store + ":")
	}
	escape := func(s string) string { return strings.ReplaceAll(url.PathEscape(s), ":", "%3A") }
	for i, p := range strings.Split(r.Path, "/") {
		if i > 0 {
			b.WriteByte('/')
		}
		b.WriteString(escape(p))
	}
	if r.Property != "" {
		b.WriteString("/" + escape(r.Property))
	}
	if r.Version != "" {
		b.WriteString("?version=" + url.QueryEscape(r.Version))
	}
	return b.String()
}

// Store is the socket for where secrets are kept. Get returns the value; its errors say what is missing and never hold
// any value. A property of "" asks for the whole entry.
type Store interface {
	Get(ctx context.Context, ref Ref) (string, error)
}

// UnreadableError is the error of an entry of a store that is there and cannot be opened. What there is to do is about the entry, or the store's key, not
// about the reference.
type UnreadableError struct {
	Err error
	// Fix is what there is to do.
	Fix string
}

func (e *UnreadableError) Error() string { return e.Err.Error() }

// Unwrap is the error that tells why.
func (e *UnreadableError) Unwrap() error { return e.Err }

// NoKeyError is the error of a store that has no key to open what it keeps. What there is to do is about the store, not
// about the reference.
type NoKeyError struct{ Err error }

func (e *NoKeyError) Error() string { return e.Err.Error() }

// Unwrap is the error that tells which key is missing where.
func (e *NoKeyError) Unwrap() error { return e.Err }

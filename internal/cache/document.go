package cache

import (
	"context"
	"crypto/sha512"
	"encoding/hex"
	"path/filepath"
	"strings"

	"hawser.dev/hawser/internal/lazyregexp"
	"hawser.dev/hawser/internal/rootfs"
)

var hash512 = lazyregexp.New(`^[0-9a-f]{128}$`)

// Document is a text by the SHA-512 of its content in hexadecimal digits, as API servers tell it of their OpenAPI documents.
// It is read with fetch when it is not there or damaged; what fetch gives is kept only if it has the hash, and returned in
// either case. The error is fetch's: a cache that cannot be written is no failure.
func (c *Cache) Document(ctx context.Context, hash string, fetch func(context.Context) ([]byte, error)) ([]byte, error) {
	hash = strings.ToLower(hash)
	if c.dir == "" || !hash512.MatchString(hash) {
		return fetch(ctx)
	}
	at := filepath.Join(c.dir, "documents", "sha512", hash)
	if data, err := rootfs.ReadFile(at, rootfs.MaxLarge); err == nil {
		if has512(data, hash) {
			c.touch(at)
			return data, nil
		}
		_ = c.removeAll(at)
	}
	data, err := fetch(ctx)
	if err != nil || !has512(data, hash) {
		return data, err
	}
	c.keep(at, data)
	return data, nil
}

func has512(data []byte, hash string) bool {
	sum := sha512.Sum512(data)
	return hex.EncodeToString(sum[:]) == hash
}

// keep writes a file aside and moves it to where it belongs; where that cannot be, nothing is kept.
func (c *Cache) keep(at string, data []byte) {
	if !c.keeps() {
		return
	}
	out, err := c.create()
	if err != nil {
		return
	}
	_, err = out.Write(data)
	if closed := out.Close(); err == nil {
		err = closed
	}
	if err == nil {
		err = c.place(out.Name(), at)
	}
	if err != nil {
		_ = c.removeAll(out.Name())
	}
}

package planfile

import (
	"crypto/pbkdf2"
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

const (
	// keyRounds of PBKDF2-HMAC-SHA256 for one digest.
	keyRounds   = 100_000
	keyedPrefix = "keyed:"
)

// Digests keys digests of objects that hold secrets with a file's salt, so that the file cannot be used to guess short
// secrets cheaply. The zero value is of no use; it is not safe for concurrent use.
type Digests struct {
	salt []byte
	done map[string]string
}

// NewDigests keys with the salt of one file.
func NewDigests(salt []byte) *Digests { return &Digests{salt: salt, done: map[string]string{}} }

// Key is the digest as the file has it. One that is keyed already stays.
func (k *Digests) Key(digest string) string {
	if digest == "" || strings.HasPrefix(digest, keyedPrefix) {
		return digest
	}
	if v, ok := k.done[digest]; ok {
		return v
	}
	sum, err := pbkdf2.Key(sha256.New, digest, k.salt, keyRounds, 32)
	if err != nil {
		return keyedPrefix + "unavailable"
	}
	k.done[digest] = keyedPrefix + hex.EncodeToString(sum)
	return k.done[digest]
}

// Same reports whether a digest of a file, keyed or not, is that of what is there now.
func (k *Digests) Same(saved, now string) bool {
	if strings.HasPrefix(saved, keyedPrefix) {
		return saved != keyedPrefix+"unavailable" && now != "" && k.Key(now) == saved
	}
	return saved == now
}

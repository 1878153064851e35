package blob

import (
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/sha256"
	"errors"
	"fmt"
)

// MinKey is the fewest bytes of a store's key.
const MinKey = 16

// sealVersion begins every blob: AES-256-GCM with a random nonce (NIST SP 800-38D), the key made of the store's by HKDF with
// SHA-256 (RFC 5869). The blob's key is authenticated along, so that none stands for another.
const sealVersion = 1

// errSealed is what is said of a blob that does not open.
var errSealed = errors.New("it does not open with the store's key: it was sealed with another one, or is damaged")

func sealer(key []byte) (cipher.AEAD, error) {
	if len(key) < MinKey {
		return nil, fmt.Errorf("the key of a release store has %d bytes, it takes %d at least", len(key), MinKey)
	}
	derived, err := hkdf.Key(sha256.New, key, nil, "hawser release store", 32)
	if err != nil {
		return nil, err
	}
	block, err := aes.NewCipher(derived)
	if err != nil {
		return nil, err
	}
	return cipher.NewGCMWithRandomNonce(block)
}

// create seals a blob and makes it.
func (s *store) create(ctx context.Context, key string, data []byte) error {
	return s.bucket.Create(ctx, key, s.aead.Seal([]byte{sealVersion}, nil, data, []byte(key)))
}

// get reads a blob and opens it.
func (s *store) get(ctx context.Context, key string, limit int) ([]byte, error) {
	data, err := s.bucket.Get(ctx, key, limit+s.aead.Overhead()+1)
	if err != nil {
		return nil, err
	}
	if len(data) == 0 || data[0] != sealVersion {
		return nil, errSealed
	}
	out, err := s.aead.Open(nil, nil, data[1:], []byte(key))
	if err != nil {
		return nil, errSealed
	}
	return out, nil
}

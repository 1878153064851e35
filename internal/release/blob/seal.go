package blob

import (
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/sha256"
	"errors"
	"fmt"
	"sync"
)

// MinKey is the fewest bytes of a store's key.
const MinKey = 16

// sealVersion begins every blob: AES-256-GCM with a random nonce (NIST SP 800-38D), the key made of the store's by HKDF with
// SHA-256 (RFC 5869). The blob's key is authenticated along, so that none stands for another.
const sealVersion = 1

// errSealed is what is said of a blob that does not open.
var errSealed = errors.New("it does not open with the key of the store (releases.encryption.key of the fleet's file, else the one in the cluster): it was sealed with another one, or is damaged")

// seal is the cipher of a store, once it has a key.
type seal struct {
	mu   sync.Mutex
	aead cipher.AEAD
}

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

// cipher is what the store seals with: nil where it has no key and nothing is about to be written.
func (s *store) cipher(ctx context.Context, write bool) (cipher.AEAD, error) {
	s.seal.mu.Lock()
	defer s.seal.mu.Unlock()
	if s.seal.aead != nil {
		return s.seal.aead, nil
	}
	key, err := s.key(ctx, write)
	if err != nil || key == nil {
		return nil, err
	}
	s.seal.aead, err = sealer(key)
	return s.seal.aead, err
}

// create seals a blob and makes it.
func (s *store) create(ctx context.Context, key string, data []byte) error {
	aead, err := s.cipher(ctx, true)
	if err != nil {
		return err
	}
	return s.bucket.Create(ctx, key, aead.Seal([]byte{sealVersion}, nil, data, []byte(key)))
}

// overhead is how much longer a sealed blob is.
const overhead = 1 + 12 + 16

// get reads a blob and opens it.
func (s *store) get(ctx context.Context, key string, limit int) ([]byte, error) {
	data, err := s.bucket.Get(ctx, key, limit+overhead)
	if err != nil {
		return nil, err
	}
	aead, err := s.cipher(ctx, false)
	if err != nil {
		return nil, err
	}
	if aead == nil || len(data) == 0 || data[0] != sealVersion {
		return nil, errSealed
	}
	out, err := aead.Open(nil, nil, data[1:], []byte(key))
	if err != nil {
		return nil, errSealed
	}
	return out, nil
}

package release

import (
	"crypto/rand"
	"encoding/base32"
)

// NewRolloutID is short and sayable: 8 characters of base32 over 40 random bits.
func NewRolloutID() string {
	b := make([]byte, 5)
	_, _ = rand.Read(b) // never fails
	return base32.StdEncoding.EncodeToString(b)
}

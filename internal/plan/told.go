package plan

import (
	"encoding/json"
	"slices"
	"strings"

	"hawser.dev/hawser/internal/redact"
)

// KeyedPrefix begins a digest that is keyed: whoever guesses what was digested pays for each guess.
const KeyedPrefix = "keyed:"

// Keyed keys the digests by which a file of plans would tell a guessed secret from the true one. secret: the object holds a secret, or may; hides: so
// do the fields of others in it; keys: a key of a map or of a list's item, or an item of a list, is secret, or may be.
func (c *Change) Keyed(secret, hides, keys bool, key func(digest string) string) {
	if c.Open = !secret; secret {
		c.Digest = key(c.Digest)
	}
	if secret || hides {
		c.ForeignDigest = key(c.ForeignDigest)
	}
	keys = keys || slices.ContainsFunc(c.Fields, func(f FieldChange) bool { return strings.Contains(f.Path, redact.Mask) }) // one that goes
	if c.InFile = !keys; keys {
		c.ApplyHash, c.FormerEntries = key(c.ApplyHash), key(c.FormerEntries)
	}
}

// MarshalJSON is the change without the digests that would tell a guessed secret from the true one.
func (c Change) MarshalJSON() ([]byte, error) {
	type fields Change
	if !c.Open && !strings.HasPrefix(c.Digest, KeyedPrefix) {
		c.Digest = ""
	}
	for _, hash := range []*string{&c.ApplyHash, &c.FormerEntries} {
		if !c.InFile && !strings.HasPrefix(*hash, KeyedPrefix) {
			*hash = ""
		}
	}
	return json.Marshal(fields(c))
}

// UnmarshalJSON reads such a change: a digest that was told may be told again.
func (c *Change) UnmarshalJSON(data []byte) error {
	type fields Change
	if err := json.Unmarshal(data, (*fields)(c)); err != nil {
		return err
	}
	c.Open = c.Digest != "" && !strings.HasPrefix(c.Digest, KeyedPrefix)
	c.InFile = c.ApplyHash+c.FormerEntries != "" && !strings.HasPrefix(c.ApplyHash+c.FormerEntries, KeyedPrefix)
	return nil
}

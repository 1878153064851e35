package plan

import (
	"encoding/json"
	"strings"
)

// KeyedPrefix begins a digest that is keyed: whoever guesses what was digested pays for each guess.
const KeyedPrefix = "keyed:"

// MarshalJSON is the change without a digest that would tell a guessed secret from the true one.
func (c Change) MarshalJSON() ([]byte, error) {
	type fields Change
	if !c.Open && !strings.HasPrefix(c.Digest, KeyedPrefix) {
		c.Digest = ""
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
	return nil
}

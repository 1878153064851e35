package sops

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"hawser.dev/hawser/internal/boundedregexp"
	"hawser.dev/hawser/internal/secret"
)

// metadata is SOPS's own part of a file.
type metadata struct {
	stanzas      []stanza
	lastModified string
	mac          string
	macOnly      bool
	rule         rule
}

// stanza is the data key, encrypted for one age recipient.
type stanza struct{ recipient, encrypted string }

// otherKeys are the kinds of keys that are not ours, as a file names them.
var otherKeys = []string{"pgp", "kms", "gcp_kms", "azure_kv", "hc_vault", "hckms"}

// rule says which values are encrypted. SOPS allows one of them in a file.
type rule struct {
	// unencrypted and encrypted are asked about every key on the way to a value; exactly one of them is set, or neither when
	// comments decide.
	unencrypted, encrypted func(key string) bool
	// fault is why a key could not be asked about, nil when there is none.
	fault *error
}

// covers reports whether the value at a path, with this text, is encrypted. Where comments decide (which are no part of what
// the checksum covers, but the values are) its look does: what was changed by somebody without the key fails the checksum.
func (r rule) covers(path []string, text string) (bool, error) {
	covered := false
	switch {
	case r.unencrypted != nil:
		covered = !slices.ContainsFunc(path, r.unencrypted)
	case r.encrypted != nil:
		covered = slices.ContainsFunc(path, r.encrypted)
	default:
		covered = strings.HasPrefix(text, secret.Sealed)
	}
	if r.fault != nil {
		return covered, *r.fault
	}
	return covered, nil
}

func readMetadata(n *secret.Node) (metadata, error) {
	var m metadata
	var err error
	text := func(key string) string {
		f, e := n.Field(key)
		err = errors.Join(err, e)
		if f == nil || f.Kind != secret.Scalar {
			return ""
		}
		return f.Text
	}
	m.mac = text("mac")
	modified := text("lastmodified")
	m.macOnly = strings.EqualFold(text("mac_only_encrypted"), "true")
	shamir, _ := strconv.Atoi(text("shamir_threshold"))
	var ruleErr error
	m.rule, ruleErr = readRule(text)
	if err = errors.Join(err, ruleErr); err != nil {
		return m, err
	}
	if count(n, "key_groups") > 0 || shamir > 1 {
		return m, unsupported("its key is divided among key groups (Shamir), which is not read: encrypt it for one group of keys")
	}
	if err := m.readStanzas(n); err != nil {
		return m, err
	}
	at, err := time.Parse(time.RFC3339, modified)
	if err != nil {
		return m, errors.New("sops.lastmodified is no time")
	}
	m.lastModified = at.Format(time.RFC3339)
	if m.mac == "" {
		return m, errors.New("sops.mac is missing: the file cannot be checked")
	}
	return m, nil
}

// count is the number of items of a list, 0 when there is none.
func count(n *secret.Node, key string) int {
	f, err := n.Field(key)
	if err != nil || f == nil {
		return 0
	}
	return len(f.Items)
}

func (m *metadata) readStanzas(n *secret.Node) error {
	list, err := n.Field("age")
	if err != nil {
		return err
	}
	if list != nil {
		for i, item := range list.Items {
			recipient, err := item.Lookup("recipient")
			if err != nil {
				return fmt.Errorf("sops.age.%d: %w", i, err)
			}
			encrypted, err := item.Lookup("enc")
			if err != nil {
				return fmt.Errorf("sops.age.%d: %w", i, err)
			}
			m.stanzas = append(m.stanzas, stanza{recipient: recipient, encrypted: encrypted})
		}
	}
	if len(m.stanzas) > 0 {
		return nil
	}
	var have []string
	for _, kind := range otherKeys {
		if count(n, kind) > 0 {
			have = append(have, kind)
		}
	}
	if len(have) == 0 {
		return errors.New("sops metadata names no keys")
	}
	return unsupported(fmt.Sprintf("it is encrypted for %s alone, which is not read: add an age recipient (sops rotate --add-age)",
		strings.Join(have, ", ")))
}

// defaultSuffix marks unencrypted keys in a file without a rule of its own.
const defaultSuffix = "_unencrypted"

// matcher asks the expression of a field about keys, about each once; the first fault is noted.
func matcher(pattern, field string, fault *error) (func(key string) bool, error) {
	var set boundedregexp.Set
	if err := set.Check(pattern); len(pattern) > boundedregexp.MaxBytes {
		return nil, fmt.Errorf("sops.%s has more than %d bytes", field, boundedregexp.MaxBytes)
	} else if err != nil {
		return nil, fmt.Errorf("sops.%s is no regular expression that can be used", field)
	}
	known := map[string]bool{}
	return func(key string) bool {
		found, ok := known[key]
		if !ok {
			var err error
			if found, err = set.MatchString(pattern, key); err != nil && *fault == nil {
				*fault = fmt.Errorf("sops.%s takes too long for these keys", field)
			}
			known[key] = found
		}
		return found
	}, nil
}

func readRule(text func(key string) string) (rule, error) {
	out := rule{fault: new(error)}
	var named []string
	for _, r := range []struct {
		key       string
		regex     bool
		encrypted bool
	}{
		{"unencrypted_suffix", false, false}, {"encrypted_suffix", false, true},
		{"unencrypted_regex", true, false}, {"encrypted_regex", true, true},
	} {
		pattern := text(r.key)
		if pattern == "" {
			continue
		}
		named = append(named, r.key)
		match := func(key string) bool { return strings.HasSuffix(key, pattern) }
		if r.regex {
			var err error
			if match, err = matcher(pattern, r.key, out.fault); err != nil {
				return out, err
			}
		}
		if r.encrypted {
			out.encrypted = match
		} else {
			out.unencrypted = match
		}
	}
	for _, key := range []string{"unencrypted_comment_regex", "encrypted_comment_regex"} {
		if text(key) != "" {
			named = append(named, key)
		}
	}
	switch len(named) {
	case 0:
		out.unencrypted = func(key string) bool { return strings.HasSuffix(key, defaultSuffix) }
	case 1:
	default:
		return out, fmt.Errorf("sops metadata has several rules on what is encrypted: %s", strings.Join(named, ", "))
	}
	return out, nil
}

// unflatten makes SOPS's part of a dotenv file a map again: age__list_0__map_enc is age[0].enc. Of what is not needed only
// the presence is kept.
func unflatten(flat map[string]string) *secret.Node {
	out := &secret.Node{Kind: secret.Map}
	lists := map[string]*secret.Node{}
	for _, key := range slices.Sorted(maps.Keys(flat)) {
		value := &secret.Node{Kind: secret.Scalar, Text: flat[key], Value: flat[key]}
		name, rest, nested := strings.Cut(key, "__list_")
		if !nested {
			out.Fields = append(out.Fields, secret.Field{Key: key, Value: value})
			continue
		}
		list := lists[name]
		if list == nil {
			list = &secret.Node{Kind: secret.List}
			lists[name] = list
			out.Fields = append(out.Fields, secret.Field{Key: name, Value: list})
		}
		index, field, _ := strings.Cut(rest, "__map_")
		item := lists[name+"\x00"+index]
		if item == nil {
			item = &secret.Node{Kind: secret.Map}
			lists[name+"\x00"+index] = item
			list.Items = append(list.Items, item)
		}
		item.Fields = append(item.Fields, secret.Field{Key: field, Value: value})
	}
	return out
}

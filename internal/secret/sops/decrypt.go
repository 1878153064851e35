package sops

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/sha512"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"fmt"
	"hash"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"filippo.io/age"
	"filippo.io/age/armor"

	"hawser.dev/hawser/internal/secret"
)

// macOnlyStart is what the checksum starts with when it covers encrypted values alone: the SHA-256 of "sops".
var macOnlyStart = []byte{0x8a, 0x3f, 0xd2, 0xad, 0x54, 0xce, 0x66, 0x52, 0x7b, 0x10, 0x34, 0xf3, 0xd1, 0x47, 0xbe, 0x0b,
	0x0b, 0x97, 0x5b, 0x3b, 0xf4, 0x4f, 0x72, 0xc6, 0xfd, 0xad, 0xec, 0x81, 0x76, 0xf2, 0x7d, 0x69}

// decrypt replaces the encrypted values of the document by what they mean and checks the whole of it against its
// checksum.
func decrypt(doc *document, id identity) error {
	key, err := dataKey(doc.meta.stanzas, id)
	if err != nil {
		return err
	}
	w := walker{meta: doc.meta, key: key, sum: sha512.New()}
	if doc.meta.macOnly {
		w.sum.Write(macOnlyStart)
	}
	if err := w.walk(doc.tree, nil); err != nil {
		return err
	}
	stated, err := open(doc.meta.mac, key, doc.meta.lastModified)
	if err != nil {
		return fmt.Errorf("sops.mac: %w", err)
	}
	if subtle.ConstantTimeCompare(stated.plain, fmt.Appendf(nil, "%X", w.sum.Sum(nil))) != 1 {
		return errors.New("its checksum (sops.mac) does not fit its content: it was changed without SOPS")
	}
	return nil
}

// dataKey unlocks the key of the values by the first stanza that one of the identities opens.
func dataKey(stanzas []stanza, id identity) ([]byte, error) {
	var recipients []string
	for _, s := range stanzas {
		recipients = append(recipients, shortened(s.recipient))
		r, err := age.Decrypt(armor.NewReader(strings.NewReader(s.encrypted)), id.keys...)
		if err != nil {
			if _, ok := errors.AsType[*age.NoIdentityMatchError](err); ok {
				continue
			}
			return nil, fmt.Errorf("the key for recipient %s is damaged", shortened(s.recipient))
		}
		key, err := io.ReadAll(io.LimitReader(r, 64))
		if err != nil || len(key) != 32 {
			return nil, fmt.Errorf("the key for recipient %s is damaged", shortened(s.recipient))
		}
		return key, nil
	}
	return nil, fmt.Errorf("%w%s; looked in %s", errNoKey, secret.Names(": it is for", recipients), strings.Join(id.from, ", "))
}

var errNoKey = errors.New("none of the age keys opens it")

// shortened is a text of the file's own part of SOPS as it is told: an age recipient has 62 characters.
func shortened(s string) string {
	if len(s) <= 200 {
		return s
	}
	return strings.ToValidUTF8(s[:200], "") + "..."
}

type walker struct {
	meta metadata
	key  []byte
	sum  hash.Hash
}

// walk decrypts in place, in the order of the file. Lists add nothing to the path.
func (w *walker) walk(n *secret.Node, path []string) error {
	switch n.Kind {
	case secret.Map:
		for _, f := range n.Fields {
			if err := w.walk(f.Value, append(path, f.Key)); err != nil {
				return err
			}
		}
	case secret.List:
		for _, item := range n.Items {
			if err := w.walk(item, path); err != nil {
				return err
			}
		}
		n.Items = slices.DeleteFunc(n.Items, func(item *secret.Node) bool { return item.Value == comment{} })
	case secret.Scalar:
		if err := w.scalar(n, path); err != nil {
			return fmt.Errorf("%s: %w", shortened(strings.Join(path, ".")), err)
		}
	}
	return nil
}

// comment is the value of what was a comment in the list.
type comment struct{}

func (w *walker) scalar(n *secret.Node, path []string) error {
	covered, err := w.meta.rule.covers(path, n.Text)
	if err != nil {
		return err
	}
	if covered {
		text, ok := n.Value.(string)
		if !ok {
			return errors.New("the value is not encrypted, and should be")
		}
		if text != "" {
			v, err := open(text, w.key, strings.Join(path, ":")+":")
			if err != nil {
				return err
			}
			n.Text, n.Value, err = v.meaning()
			if err != nil {
				return err
			}
		}
	}
	if n.Value == (comment{}) || w.meta.macOnly && !covered {
		return nil
	}
	part, err := summand(n.Value)
	w.sum.Write(part)
	return err
}

// summand is what a value adds to the checksum.
func summand(v any) ([]byte, error) {
	switch v := v.(type) {
	case string:
		return []byte(v), nil
	case int:
		return []byte(strconv.Itoa(v)), nil
	case float64:
		return []byte(strconv.FormatFloat(v, 'f', -1, 64)), nil
	case bool:
		if v {
			return []byte("True"), nil
		}
		return []byte("False"), nil
	case time.Time:
		return v.MarshalText()
	}
	return nil, errors.New("SOPS has no such values")
}

// opened is a decrypted value and its type: str, int, float, bool, bytes, time or comment.
type opened struct {
	plain []byte
	typ   string
}

// open decrypts one value; additional is what is authenticated with it.
func open(text string, key []byte, additional string) (opened, error) {
	rest, ok := strings.CutPrefix(text, secret.Sealed)
	rest, closed := strings.CutSuffix(rest, "]")
	parts := strings.Split(rest, ",")
	if !ok || !closed || len(parts) != 4 {
		return opened{}, errors.New("the value is not encrypted, and should be")
	}
	var raw [3][]byte
	for i, name := range []string{"data:", "iv:", "tag:"} {
		encoded, ok := strings.CutPrefix(parts[i], name)
		data, err := base64.StdEncoding.DecodeString(encoded)
		if !ok || err != nil {
			return opened{}, errDamaged
		}
		raw[i] = data
	}
	typ, ok := strings.CutPrefix(parts[3], "type:")
	if !ok || len(raw[1]) == 0 || len(raw[2]) != 16 {
		return opened{}, errDamaged
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return opened{}, err
	}
	gcm, err := cipher.NewGCMWithNonceSize(block, len(raw[1]))
	if err != nil {
		return opened{}, errDamaged
	}
	plain, err := gcm.Open(nil, raw[1], append(raw[0], raw[2]...), []byte(additional))
	if err != nil {
		return opened{}, errDamaged
	}
	return opened{plain: plain, typ: typ}, nil
}

var errDamaged = errors.New("the encrypted value is damaged, or was moved here from elsewhere")

// meaning is a value as text, as YAML would write it, and as what it is.
func (o opened) meaning() (string, any, error) {
	text := string(o.plain)
	var value any
	var err error
	switch o.typ {
	case "str", "bytes":
		return text, text, nil
	case "comment":
		return "", comment{}, nil
	case "int":
		value, err = strconv.Atoi(text)
	case "float":
		value, err = strconv.ParseFloat(text, 64)
	case "bool":
		var b bool
		b, err = strconv.ParseBool(text)
		value, text = b, strconv.FormatBool(b)
	case "time":
		var t time.Time
		err = t.UnmarshalText(o.plain)
		value = t
	default:
		return "", nil, fmt.Errorf("the type %.20q of the encrypted value is not known", o.typ)
	}
	if err != nil {
		return "", nil, fmt.Errorf("the encrypted value is no %s", o.typ)
	}
	return text, value, nil
}

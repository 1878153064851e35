// Package sopstest writes files encrypted by SOPS with an age key, for tests: YAML, of texts, whole numbers, booleans
// and lists and maps of them, as sops itself would write them.
//
// sopstest must not be imported by anything but tests.
package sopstest

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"crypto/sha512"
	"encoding/base64"
	"fmt"
	"hash"
	"strings"
	"testing"
	"time"

	"filippo.io/age"
	"filippo.io/age/armor"
	"go.yaml.in/yaml/v3"
)

// Key makes an age key: recipient is public, identity the line of a key file.
func Key(tb testing.TB) (recipient, identity string) {
	tb.Helper()
	key, err := age.GenerateX25519Identity()
	if err != nil {
		tb.Fatal(err)
	}
	return key.Recipient().String(), key.String()
}

// Encrypt returns a YAML document encrypted for the recipients, comments left out.
func Encrypt(tb testing.TB, document string, recipients ...string) string {
	tb.Helper()
	var doc yaml.Node
	if err := yaml.Unmarshal([]byte(document), &doc); err != nil {
		tb.Fatal(err)
	}
	key := make([]byte, 32)
	if _, err := rand.Read(key); err != nil {
		tb.Fatal(err)
	}
	e := encrypter{tb: tb, key: key, sum: sha512.New()}
	root := doc.Content[0]
	e.walk(root, "")
	var stanzas []map[string]string
	for _, r := range recipients {
		stanzas = append(stanzas, map[string]string{"recipient": r, "enc": lock(tb, key, r)})
	}
	modified := time.Now().UTC().Format(time.RFC3339)
	var own yaml.Node
	if err := own.Encode(map[string]any{"sops": map[string]any{
		"age": stanzas, "lastmodified": modified, "unencrypted_suffix": "_unencrypted", "version": "3.9.0",
		"mac": e.seal("str", fmt.Sprintf("%X", e.sum.Sum(nil)), modified),
	}}); err != nil {
		tb.Fatal(err)
	}
	root.Content = append(root.Content, own.Content...)
	out, err := yaml.Marshal(&doc)
	if err != nil {
		tb.Fatal(err)
	}
	return string(out)
}

// lock encrypts the data key for one recipient, in armor.
func lock(tb testing.TB, key []byte, recipient string) string {
	tb.Helper()
	r, err := age.ParseX25519Recipient(recipient)
	if err != nil {
		tb.Fatal(err)
	}
	var out bytes.Buffer
	shell := armor.NewWriter(&out)
	w, err := age.Encrypt(shell, r)
	if err != nil {
		tb.Fatal(err)
	}
	for _, step := range []func() error{func() error { _, err := w.Write(key); return err }, w.Close, shell.Close} {
		if err := step(); err != nil {
			tb.Fatal(err)
		}
	}
	return out.String()
}

type encrypter struct {
	tb  testing.TB
	key []byte
	sum hash.Hash
}

// walk encrypts scalars in place; path is the keys that lead there, each with a colon behind it.
func (e *encrypter) walk(n *yaml.Node, path string) {
	switch n.Kind {
	case yaml.MappingNode:
		for i := 0; i < len(n.Content); i += 2 {
			e.walk(n.Content[i+1], path+n.Content[i].Value+":")
		}
	case yaml.SequenceNode:
		for _, item := range n.Content {
			e.walk(item, path)
		}
	case yaml.ScalarNode:
		typ, text := "str", n.Value
		switch n.ShortTag() {
		case "!!null":
			return
		case "!!int":
			typ = "int"
		case "!!bool":
			typ, text = "bool", strings.ToUpper(text[:1])+strings.ToLower(text[1:])
		case "!!str":
		default:
			e.tb.Fatalf("line %d: %s is not written", n.Line, n.ShortTag())
		}
		e.sum.Write([]byte(text))
		if text == "" {
			return
		}
		*n = yaml.Node{Kind: yaml.ScalarNode, Value: e.seal(typ, text, path)}
	}
}

func (e *encrypter) seal(typ, text, additional string) string {
	block, err := aes.NewCipher(e.key)
	if err != nil {
		e.tb.Fatal(err)
	}
	gcm, err := cipher.NewGCMWithNonceSize(block, 32)
	if err != nil {
		e.tb.Fatal(err)
	}
	iv := make([]byte, 32)
	if _, err := rand.Read(iv); err != nil {
		e.tb.Fatal(err)
	}
	sealed := gcm.Seal(nil, iv, []byte(text), []byte(additional))
	at := len(sealed) - gcm.Overhead()
	b64 := base64.StdEncoding.EncodeToString
	return fmt.Sprintf("ENC[AES256_GCM,data:%s,iv:%s,tag:%s,type:%s]", b64(sealed[:at]), b64(iv), b64(sealed[at:]), typ)
}

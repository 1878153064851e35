package helm

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/ed25519"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"math/big"
	"sync"

	"hawser.dev/hawser/internal/chance"
)

// samples keeps the certificates that were made.
var samples sync.Map

// sample is a certificate with its key that stands in for a made-up one: templates may parse it, everybody knows its key.
// It is the same in every process, so that digests of what holds it are.
func sample(variant, call int) chance.Pair {
	name := fmt.Sprintf("placeholder-%d-%d", variant, call)
	if p, ok := samples.Load(name); ok {
		return p.(chance.Pair)
	}
	key := ed25519.NewKeyFromSeed(fmt.Appendf(make([]byte, 0, ed25519.SeedSize), "%-32s", name)[:ed25519.SeedSize])
	cert := &x509.Certificate{SerialNumber: big.NewInt(int64(call)*2 + int64(variant) + 1), Subject: pkix.Name{CommonName: name},
		NotBefore: moments[0], NotAfter: moments[1], IsCA: true, BasicConstraintsValid: true}
	out := chance.Pair{}
	// ed25519 needs no randomness, and the template is a valid one
	if der, err := x509.CreateCertificate(bytes.NewReader(nil), cert, cert, key.Public(), key); err == nil {
		out.Cert = string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))
	}
	if der, err := x509.MarshalPKCS8PrivateKey(key); err == nil {
		out.Key = string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}))
	}
	now, _ := samples.LoadOrStore(name, out)
	return now.(chance.Pair)
}

// sealed is what encryptAES gives, with a first block that is the same every time.
func sealed(password, plain, first string) string {
	key, iv := make([]byte, 32), make([]byte, aes.BlockSize)
	copy(key, password)
	copy(iv, first)
	block, err := aes.NewCipher(key)
	if err != nil || plain == "" {
		return ""
	}
	pad := aes.BlockSize - len(plain)%aes.BlockSize
	content := append([]byte(plain), bytes.Repeat([]byte{byte(pad)}, pad)...)
	cipher.NewCBCEncrypter(block, iv).CryptBlocks(content, content)
	return base64.StdEncoding.EncodeToString(append(iv, content...))
}

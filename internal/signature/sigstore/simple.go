package sigstore

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"

	protobundle "github.com/sigstore/protobuf-specs/gen/pb-go/bundle/v1"
	protocommon "github.com/sigstore/protobuf-specs/gen/pb-go/common/v1"
	protorekor "github.com/sigstore/protobuf-specs/gen/pb-go/rekor/v1"
	"github.com/sigstore/sigstore-go/pkg/bundle"

	"hawser.dev/hawser/internal/module"
)

// The type of a bundle as old as cosign's older form: it has a promise of the log, and no proof.
const oldBundle = "application/vnd.dev.sigstore.bundle+json;version=0.1"

// readSimple makes a bundle of a signature in cosign's older form.
func readSimple(s module.Signature, keyOnly bool) (signed, error) {
	raw, err := base64.StdEncoding.DecodeString(s.Annotations[module.SimpleSignatureAnnotation])
	if err != nil || len(raw) == 0 {
		return signed{}, errors.New("it has no signature in its annotations")
	}
	sum := sha256.Sum256(s.Payload)
	material := &protobundle.VerificationMaterial{Content: &protobundle.VerificationMaterial_PublicKey{PublicKey: &protocommon.PublicKeyIdentifier{}}}
	if text := s.Annotations[module.SimpleCertAnnotation]; text != "" {
		der, err := certificateOf(text)
		if err != nil {
			return signed{}, err
		}
		material.Content = &protobundle.VerificationMaterial_X509CertificateChain{X509CertificateChain: &protocommon.X509CertificateChain{
			Certificates: []*protocommon.X509Certificate{{RawBytes: der}}}}
	}
	if text := s.Annotations[module.SimpleLogAnnotation]; text != "" && !keyOnly {
		entry, err := logEntry(text)
		if err != nil {
			return signed{}, fmt.Errorf("its entry of the transparency log cannot be read: %w", err)
		}
		material.TlogEntries = append(material.TlogEntries, entry)
	}
	if text := s.Annotations[module.SimpleTimeAnnotation]; text != "" && !keyOnly {
		var t struct{ SignedRFC3161Timestamp []byte }
		if err := json.Unmarshal([]byte(text), &t); err != nil {
			return signed{}, fmt.Errorf("its timestamp cannot be read: %w", err)
		}
		material.TimestampVerificationData = &protobundle.TimestampVerificationData{
			Rfc3161Timestamps: []*protocommon.RFC3161SignedTimestamp{{SignedTimestamp: t.SignedRFC3161Timestamp}}}
	}
	b, err := bundle.NewBundle(&protobundle.Bundle{MediaType: oldBundle, VerificationMaterial: material,
		Content: &protobundle.Bundle_MessageSignature{MessageSignature: &protocommon.MessageSignature{Signature: raw,
			MessageDigest: &protocommon.HashOutput{Algorithm: protocommon.HashAlgorithm_SHA2_256, Digest: sum[:]}}}})
	if err != nil {
		return signed{}, fmt.Errorf("it cannot be read: %w", err)
	}
	payload := s.Payload
	if payload == nil {
		payload = []byte{}
	}
	return signed{entity: b, payload: payload}, nil
}

// logEntry reads the log's answer as cosign keeps it in an annotation.
func logEntry(text string) (*protorekor.TransparencyLogEntry, error) {
	var kept struct {
		SignedEntryTimestamp []byte
		Payload              struct {
			Body           []byte `json:"body"`
			IntegratedTime int64  `json:"integratedTime"`
			LogIndex       int64  `json:"logIndex"`
			LogID          string `json:"logID"`
		}
	}
	if err := json.Unmarshal([]byte(text), &kept); err != nil {
		return nil, err
	}
	id, err := hex.DecodeString(kept.Payload.LogID)
	if err != nil {
		return nil, err
	}
	var body struct {
		Kind       string `json:"kind"`
		APIVersion string `json:"apiVersion"`
	}
	if err := json.Unmarshal(kept.Payload.Body, &body); err != nil {
		return nil, err
	}
	return &protorekor.TransparencyLogEntry{LogIndex: kept.Payload.LogIndex, LogId: &protocommon.LogId{KeyId: id},
		KindVersion: &protorekor.KindVersion{Kind: body.Kind, Version: body.APIVersion}, IntegratedTime: kept.Payload.IntegratedTime,
		InclusionPromise:  &protorekor.InclusionPromise{SignedEntryTimestamp: kept.SignedEntryTimestamp},
		CanonicalizedBody: kept.Payload.Body}, nil
}

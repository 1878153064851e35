package module

import "context"

// Media types and annotations of signatures, byte for byte those of cosign.
const (
	// BundleType is a Sigstore bundle: the type of the manifest that refers to what is signed, and of its one layer.
	BundleType = "application/vnd.dev.sigstore.bundle.v0.3+json"
	// BundleTypePrefix is what the types of bundles of every version begin with.
	BundleTypePrefix = "application/vnd.dev.sigstore.bundle"
	// SignPredicate is the predicate of the statement in a bundle that is a signature, and no attestation of something else.
	SignPredicate = "https://sigstore.dev/cosign/sign/v1"
	// BundlePredicateAnnotation says the predicate, BundleContentAnnotation the form of the bundle's content.
	BundlePredicateAnnotation = "dev.sigstore.bundle.predicateType"
	BundleContentAnnotation   = "dev.sigstore.bundle.content"
	// SimpleSigningType is a layer of cosign's older form, below the tag sha256-DIGEST.sig.
	SimpleSigningType = "application/vnd.dev.cosign.simplesigning.v1+json"
	// The annotations of such a layer.
	SimpleSignatureAnnotation = "dev.cosignproject.cosign/signature"
	SimpleCertAnnotation      = "dev.sigstore.cosign/certificate"
	SimpleLogAnnotation       = "dev.sigstore.cosign/bundle"
	SimpleTimeAnnotation      = "dev.sigstore.cosign/rfc3161timestamp"
)

// Signature is a signature as a registry keeps it, not verified: a Sigstore bundle, or the payload that was signed in cosign's
// older form with its annotations.
type Signature struct {
	// Bundle is the JSON of a Sigstore bundle, nil in the older form.
	Bundle []byte `json:"bundle,omitempty"`
	// Payload and Annotations are those of a layer in the older form.
	Payload     []byte            `json:"payload,omitempty"`
	Annotations map[string]string `json:"annotations,omitempty"`
	// Broken says of one that cannot be read why; it has nothing else then.
	Broken string `json:"-"`
}

// Signatures is the socket for the signatures of artifacts in registries. Errors are *diag.FindingsError.
type Signatures interface {
	// Signatures has those of the artifact with the digest in the repository of the URL looked at, one after the other, until
	// there are enough: it is nil then. One that cannot be read is one of them. The error says why there may be more than were
	// looked at; none is no error.
	Signatures(ctx context.Context, url, digest string, look func(Signature) (enough bool)) error
	// Attach stores a bundle as a signature of the artifact with the digest, which is in the repository.
	Attach(ctx context.Context, url, digest string, bundle []byte) error
}

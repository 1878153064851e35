package kube

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"

	"hawser.dev/hawser/internal/object"
	"hawser.dev/hawser/internal/release"
)

// The data of a head Secret; the other Secrets have keyRecord alone.
const (
	keyRecord = "record"
	keyIndex  = "index"
)

// indexV is the version of the layout, pointerV that of a head whose records are elsewhere, which no older Hawser reads.
const (
	indexV   = 1
	pointerV = 2
)

// head is a head Secret as it was read or written.
type head struct {
	rv, uid string
	index   index
}

// index names everything that belongs to the head.
type index struct {
	V int `json:"v"`
	// Write is a random id of this version of the head: a writer whose answer got lost finds its own write by it.
	Write string `json:"write"`
	// Digest is that of the encoded record, of which Overflow are the Secrets with the rest.
	Digest   string   `json:"digest"`
	Overflow []string `json:"overflow,omitempty"`
	// Kept are the revisions with a Set, newest first: the closed ones, and an open one that has hooks of a removal.
	Kept []kept `json:"kept,omitempty"`
	// Sweep are Secrets that nothing names any more; the next write deletes them.
	Sweep []string `json:"sweep,omitempty"`
	// Open: the record's run has not ended.
	Open bool `json:"open,omitempty"`
	// Elsewhere is where the bundle's records are. With a Digest they are still here, and being moved there.
	Elsewhere *release.Place `json:"elsewhere,omitempty"`
}

// kept is one revision with a Set.
type kept struct {
	Revision int           `json:"revision"`
	Phase    release.Phase `json:"phase"`
	// Set is the digest of its objects, Digest that of the encoded data.
	Set     string   `json:"set"`
	Digest  string   `json:"digest"`
	Secrets []string `json:"secrets"`
}

// name is that of its first Secret, for errors.
func (k kept) name() string {
	if len(k.Secrets) == 0 {
		return ""
	}
	return k.Secrets[0]
}

// sound refuses an index that no Hawser wrote: what it names are Secrets, each for one thing, and its revisions have numbers
// and phases.
func (x index) sound() error {
	if len(x.Kept) > release.MaxKept {
		return fmt.Errorf("%w: its index has %d revisions, nobody keeps more than %d", release.ErrDamaged, len(x.Kept), release.MaxKept)
	}
	for _, k := range x.Kept {
		if k.Revision < 1 || k.Revision > release.MaxNumber || !k.Phase.Known() || len(k.Secrets) == 0 {
			return fmt.Errorf("%w: its index has a revision %d (%q) of %d Secrets", release.ErrDamaged, k.Revision, k.Phase, len(k.Secrets))
		}
	}
	seen := map[string]bool{}
	for _, name := range slices.Concat(x.names(), x.Sweep) {
		if len(validation.IsDNS1123Subdomain(name)) > 0 {
			return fmt.Errorf("%w: its index names a Secret %q", release.ErrDamaged, name)
		}
	}
	for _, name := range x.names() {
		if seen[name] {
			return fmt.Errorf("%w: its index names the Secret %s twice", release.ErrDamaged, name)
		}
		seen[name] = true
	}
	return nil
}

func (x index) find(revision int) *kept {
	for i := range x.Kept {
		if x.Kept[i].Revision == revision {
			return &x.Kept[i]
		}
	}
	return nil
}

// names are all Secrets that the index names and that are to stay.
func (x index) names() []string {
	out := slices.Clone(x.Overflow)
	for _, k := range x.Kept {
		out = append(out, k.Secrets...)
	}
	return out
}

// keep adds a revision and lets go of those that are not retained: of how many are is said, 0 for the ordinary number.
func (x *index) keep(k kept, number int) {
	var dropped []kept
	x.Kept, dropped = release.Retain(x.Kept, k, number, func(k kept) (int, release.Phase) { return k.Revision, k.Phase })
	for _, old := range dropped {
		x.Sweep = append(x.Sweep, old.Secrets...)
	}
}

func parseHead(secret *corev1.Secret) (*head, error) {
	h := &head{rv: secret.ResourceVersion, uid: string(secret.UID)}
	if err := json.Unmarshal(secret.Data[keyIndex], &h.index); err != nil {
		return nil, fmt.Errorf("%w: its index: %w", release.ErrDamaged, err)
	}
	if h.index.V > pointerV {
		return nil, &release.NewerError{V: h.index.V, Hawser: secret.Annotations[annotationVersion]}
	}
	return h, h.index.sound()
}

// own reports whether a name is one that chunks gives to a Secret of this owner: a head names no others, and no others are
// read or deleted for it.
func own(owner, name string) bool {
	rest, ok := strings.CutPrefix(name, headName(owner)+"-r")
	return ok && rest != "" && len(validation.IsDNS1123Label(rest)) == 0
}

// belongs refuses an index that names Secrets of others.
func (x index) belongs(owner string) error {
	for _, name := range slices.Concat(x.names(), x.Sweep) {
		if !own(owner, name) {
			return fmt.Errorf("%w: its index names %q, which is none of its Secrets", release.ErrDamaged, name)
		}
	}
	return nil
}

// annotationVersion is the Hawser that wrote a head; it and its neighbours are for people with kubectl.
const (
	annotationVersion  = "hawser.dev/version"
	annotationPhase    = "hawser.dev/phase"
	annotationRevision = "hawser.dev/revision"
	annotationBundle   = "hawser.dev/bundle"
)

func headName(owner string) string { return "hawser-" + owner }

// newSecret is a Secret of the store. Secrets other than heads are immutable.
func newSecret(r release.Record, name, part string, data []byte) *corev1.Secret {
	s := &corev1.Secret{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Secret"},
		ObjectMeta: metav1.ObjectMeta{
			Name: name, Namespace: object.SystemNamespace,
			Labels: map[string]string{labelRecord: part, object.LabelOwner: r.Owner, object.LabelManagedBy: "hawser"},
			Annotations: map[string]string{annotationBundle: r.Bundle, annotationRevision: fmt.Sprint(r.Revision),
				annotationPhase: string(r.Phase), annotationVersion: r.Version},
		},
		Type: secretType,
		Data: map[string][]byte{keyRecord: data},
	}
	if len(validation.IsValidLabelValue(r.Bundle)) == 0 {
		s.Labels[object.LabelBundle] = r.Bundle
	}
	if part != partCurrent {
		immutable := true
		s.Immutable = &immutable
	}
	return s
}

func digestOf(data []byte) string {
	sum := sha256.Sum256(data)
	return "sha256:" + hex.EncodeToString(sum[:])
}

// nonce is a random part of a name: 10 characters of base32 over 50 bits, lower case.
func nonce() string { return strings.ToLower(rand.Text()[:10]) }

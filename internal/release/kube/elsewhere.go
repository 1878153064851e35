package kube

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"hawser.dev/hawser/internal/release"
)

// partElsewhere marks a head that only says where the records are.
const partElsewhere = "elsewhere"

// pointerOf is what a head says, nil for no head.
func pointerOf(secret *corev1.Secret, h *head) *release.Pointer {
	p := &release.Pointer{Bundle: secret.Annotations[annotationBundle]}
	if h.index.Elsewhere != nil {
		p.At, p.Moving = *h.index.Elsewhere, h.index.Digest != ""
	}
	return p
}

// look reads the head of an owner, wherever its records are; nil for none.
func (s *Store) look(ctx context.Context, owner string) (*corev1.Secret, *head, error) {
	var secret corev1.Secret
	err := s.c.Get(ctx, secretsPath+"/"+headName(owner), nil, &secret)
	if apierrors.IsNotFound(err) {
		s.remember(owner, nil)
		return nil, nil, nil
	}
	var h *head
	if err == nil {
		h, err = parseHead(&secret)
	}
	if err == nil {
		err = h.index.belongs(owner)
	}
	if err != nil {
		return nil, nil, s.wrap("read", "secrets", headName(owner), err)
	}
	return &secret, h, nil
}

// Pointed returns where the cluster says that the records of a bundle are, nil where it says nothing.
func (s *Store) Pointed(ctx context.Context, owner string) (*release.Pointer, error) {
	secret, h, err := s.look(ctx, owner)
	if err != nil || h == nil {
		return nil, err
	}
	return pointerOf(secret, h), nil
}

// Point says where the records of a bundle are, in the Secret that is the head of its records otherwise: of two writers that begin in
// two stores the API server lets one make it.
func (s *Store) Point(ctx context.Context, owner, bundle string, at, from release.Place) error {
	for try := 1; ; try++ {
		secret, h, err := s.look(ctx, owner)
		if err != nil {
			return err
		}
		old := &head{}
		if h != nil {
			p := pointerOf(secret, h)
			switch {
			case !p.Moving && at.ID != "" && p.At.Is(at):
				return nil
			case p.Moving || from.ID == "" || !p.At.Is(from):
				return release.Elsewhere(*p, at)
			}
			old = h
		}
		_, err = s.pointTo(ctx, old, release.Record{Owner: owner, Bundle: bundle}, at, old.index.Sweep)
		if !apierrors.IsAlreadyExists(err) && !apierrors.IsConflict(err) || try == tries {
			return err
		}
	}
}

// pointTo replaces a head, the zero one for none, by one that only says where the records are.
func (s *Store) pointTo(ctx context.Context, old *head, r release.Record, at release.Place, sweep []string) (*head, error) {
	x := index{V: pointerV, Write: nonce(), Elsewhere: &at, Sweep: sweep}
	secret := newSecret(r, headName(r.Owner), partCurrent, nil)
	secret.Labels[labelRecord] = partElsewhere
	delete(secret.Annotations, annotationRevision)
	delete(secret.Annotations, annotationPhase)
	return s.swap(ctx, old, secret, x)
}

// swap writes a head by compare-and-swap. The error is the API server's where somebody else wrote it.
func (s *Store) swap(ctx context.Context, old *head, secret *corev1.Secret, x index) (_ *head, err error) {
	secret.ResourceVersion = old.rv
	if secret.Data[keyIndex], err = json.Marshal(x); err != nil {
		return nil, err
	}
	var answer corev1.Secret
	if old.rv == "" {
		err = s.create(ctx, secretsPath, secret, &answer)
	} else {
		err = s.c.Put(ctx, secretsPath+"/"+secret.Name, writeQuery(), secret, &answer)
	}
	if err == nil {
		return &head{rv: answer.ResourceVersion, uid: string(answer.UID), index: x}, nil
	}
	var there corev1.Secret
	if s.c.Get(ctx, secretsPath+"/"+secret.Name, nil, &there) == nil {
		if h, bad := parseHead(&there); bad == nil && h.index.Write == x.Write { // its answer got lost
			return h, nil
		}
	}
	return nil, s.wrap("write", "secrets", secret.Name, err)
}

// Unpoint takes back what Point said.
func (s *Store) Unpoint(ctx context.Context, owner string, at release.Place) error {
	secret, h, err := s.look(ctx, owner)
	if err != nil || h == nil {
		return err
	}
	if p := pointerOf(secret, h); p.Moving || at.ID == "" || !p.At.Is(at) {
		return nil
	}
	if _, err := s.sweep(ctx, owner, h.index.Sweep); err != nil {
		return err
	}
	uid := types.UID(h.uid)
	err = s.c.Delete(ctx, secretsPath+"/"+headName(owner), &metav1.DeleteOptions{TypeMeta: deleteOptions, Preconditions: &metav1.Preconditions{UID: &uid, ResourceVersion: &h.rv}})
	if err != nil && !apierrors.IsNotFound(err) && !apierrors.IsConflict(err) {
		return s.wrap("delete", "secrets", headName(owner), err)
	}
	return nil
}

// keyName is the Secret with what a store outside of the cluster is sealed with, where the fleet gives no key; it never leaves the cluster.
const (
	keyName = "hawser-release-key"
	keyPart = "key"
	keySize = 32
)

// Key is that key: nil where there is none, unless something is about to be written.
func (s *Store) Key(ctx context.Context, write bool) ([]byte, error) {
	for try := 1; ; try++ {
		key, at, err := s.apart(ctx, keyName)
		switch {
		case err != nil:
			return nil, err
		case at != "" && len(key) < keySize:
			return nil, s.wrap("read", "secrets", keyName, fmt.Errorf("%w: it holds no key", release.ErrDamaged))
		case at != "":
			return key, nil
		case !write:
			return nil, nil
		}
		key = make([]byte, keySize)
		_, _ = rand.Read(key) // never fails
		if _, err = s.putApart(ctx, keyName, keyPart, key, ""); err == nil {
			return key, nil
		}
		if try == tries {
			return nil, err
		}
	}
}

var _ release.Mover = (*Store)(nil)

// Place is the zero Place: the cluster itself.
func (s *Store) Place(context.Context, bool) (release.Place, error) { return release.Place{}, nil }

// Archive reads all that is kept of a bundle.
func (s *Store) Archive(ctx context.Context, owner string) (a release.Archive, err error) {
	secret, h, err := s.look(ctx, owner)
	if err != nil || h == nil || h.index.Digest == "" {
		return a, err
	}
	a.Leaving = h.index.Elsewhere
	data, err := s.join(ctx, secret.Data[keyRecord], h.index.Overflow, h.index.Digest)
	if err == nil {
		a.Record, err = release.DecodeRecord(data)
	}
	if err != nil {
		return a, s.wrap("read", "secrets", headName(owner), err)
	}
	for _, k := range h.index.Kept {
		r, objects, err := s.revision(ctx, k)
		if err != nil {
			return a, s.wrap("read", "secrets", k.name(), err)
		}
		a.Kept = append(a.Kept, release.KeptRevision{Record: *r, Phase: k.Phase, Objects: objects})
	}
	a.Hold, _, err = s.Held(ctx, owner)
	return a, err
}

// Leave closes what is kept of a bundle.
func (s *Store) Leave(ctx context.Context, owner string, to release.Place) error {
	secret, h, err := s.look(ctx, owner)
	if err != nil {
		return err
	}
	if h == nil || h.index.Elsewhere != nil {
		return s.conflict(owner)
	}
	x := h.index
	x.V, x.Write, x.Elsewhere = pointerV, nonce(), &to
	secret.TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "Secret"}
	secret.ManagedFields = nil
	_, err = s.swap(ctx, h, secret, x)
	return err
}

// Restore writes the Sets, and then the head with all of them.
func (s *Store) Restore(ctx context.Context, owner string, a release.Archive) error {
	_, h, err := s.look(ctx, owner)
	if err != nil {
		return err
	}
	if h == nil {
		h = &head{}
	}
	if h.index.Digest != "" {
		return s.conflict(owner)
	}
	if a.Hold != nil {
		if _, at, err := s.Held(ctx, owner); err != nil {
			return err
		} else if _, err := s.PutHold(ctx, owner, *a.Hold, at); err != nil {
			return err
		}
	}
	if a.Record == nil { // what keeps its first release back is all there is
		if h.index.Elsewhere == nil {
			return nil
		}
		return s.Unpoint(ctx, owner, *h.index.Elsewhere)
	}
	p := &put{Store: s, old: h, index: index{V: indexV, Write: nonce(), Open: a.Record.Standing().Open(), Sweep: h.index.Sweep}}
	for _, k := range a.Kept {
		data, err := release.EncodeRevision(k.Record, k.Objects)
		if err != nil {
			return err
		}
		names, err := p.chunks(ctx, k.Record, partSet, release.Split(data, p.chunk))
		if err != nil {
			p.undo(ctx, owner)
			return err
		}
		p.index.Kept = append(p.index.Kept, kept{Revision: k.Record.Revision, Phase: k.Phase, Set: release.SetDigest(k.Objects), Digest: digestOf(data), Secrets: names})
	}
	secret, err := p.parts(ctx, *a.Record, nil)
	if err != nil {
		p.undo(ctx, owner)
		return err
	}
	written, err := p.replace(ctx, secret)
	if err != nil {
		return err
	}
	s.remember(owner, written)
	s.collect(ctx, owner, written.index) // what a move that died has written
	return nil
}

// Drop removes what Leave closed, and leaves where it is now.
func (s *Store) Drop(ctx context.Context, owner string, to release.Place) error {
	secret, h, err := s.look(ctx, owner)
	if err == nil && h == nil {
		return s.dropHold(ctx, owner, to)
	}
	if err != nil {
		return err
	}
	if h.index.Elsewhere == nil || !h.index.Elsewhere.Is(to) {
		return s.conflict(owner)
	}
	garbage := append(h.index.names(), h.index.Sweep...)
	if _, err := s.pointTo(ctx, h, release.Record{Owner: owner, Bundle: secret.Annotations[annotationBundle]}, to, garbage); err != nil {
		return err
	}
	if _, err := s.sweep(ctx, owner, garbage); err != nil {
		return err
	}
	return s.dropApart(ctx, holdName(owner))
}

// dropHold removes what keeps back the first release of a bundle that has no record yet, and says where it is now.
func (s *Store) dropHold(ctx context.Context, owner string, to release.Place) error {
	h, _, err := s.Held(ctx, owner)
	if err == nil && h != nil && to.ID != "" {
		err = s.Point(ctx, owner, h.Bundle, to, release.Place{})
	}
	if err != nil || h == nil {
		return err
	}
	return s.dropApart(ctx, holdName(owner))
}

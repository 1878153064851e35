package kube

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"hawser.dev/hawser/internal/object"
	"hawser.dev/hawser/internal/release"
)

// Put writes a record. In this order, so that it may be interrupted after every request: delete what the stored head
// names as garbage; write the Set and the overflow under new names; replace the head by compare-and-swap. When a run
// begins after one that died, or with records so big that one may have died before it wrote a head, what such a run
// may have left is looked for and deleted.
func (s *Store) Put(ctx context.Context, r release.Record, objects []object.Object, h release.RecordVersion) (release.RecordVersion, error) {
	old, err := s.headAt(ctx, r.Owner, h)
	if err != nil {
		return "", err
	}
	next := index{V: indexV, Write: nonce(), Open: r.Standing().Open(), Kept: old.index.Kept}
	next.Sweep, _ = s.sweep(ctx, r.Owner, old.index.Sweep) // what stays is swept by the next
	next.Sweep = append(next.Sweep, old.index.Overflow...)
	p := &put{Store: s, old: old, index: next}
	secret, err := p.parts(ctx, r, objects)
	if err != nil {
		p.undo(ctx, r.Owner)
		return "", err
	}
	written, err := p.replace(ctx, secret)
	if err != nil {
		return "", err
	}
	s.remember(r.Owner, written)
	if x := written.index; x.Open && (old.index.Open || len(x.Overflow)+len(old.index.Overflow) > 0) {
		s.collect(ctx, r.Owner, x)
	}
	return release.RecordVersion(written.rv), nil
}

// headAt returns the stored head that a handle names, from memory or from the cluster; the zero head for "".
func (s *Store) headAt(ctx context.Context, owner string, h release.RecordVersion) (*head, error) {
	if h == "" {
		return &head{}, nil
	}
	if known := s.recall(owner); known != nil && known.rv == string(h) {
		return known, nil
	}
	known, _, err := s.current(ctx, owner)
	if err != nil {
		return nil, err
	}
	if known == nil || known.rv != string(h) {
		return nil, s.conflict(owner)
	}
	return known, nil
}

func (s *Store) conflict(owner string) error {
	return s.wrap("write", "secrets", headName(owner), release.ErrConflict)
}

// put is a Put under way.
type put struct {
	*Store
	old   *head
	index index
	wrote []string
}

// parts writes everything that is not the head, and returns the head to write.
func (p *put) parts(ctx context.Context, r release.Record, objects []object.Object) (*corev1.Secret, error) {
	if objects != nil {
		r.SetDigest = release.SetDigest(objects)
		data, err := release.EncodeRevision(r, objects)
		if err != nil {
			return nil, err
		}
		names, err := p.chunks(ctx, r, partSet, release.Split(data, p.chunk))
		if err != nil {
			return nil, err
		}
		p.index.keep(kept{Revision: r.Revision, Phase: r.Phase, Set: r.SetDigest, Digest: digestOf(data), Secrets: names}, r.Keep)
	}
	if k := p.index.find(r.Revision); k != nil && objects == nil {
		p.index.Kept = slices.Clone(p.index.Kept) // the former head has it too
		p.index.find(r.Revision).Phase = r.Phase
	}
	data, err := release.EncodeRecord(r)
	if err != nil {
		return nil, err
	}
	chunks := release.Split(data, p.chunk)
	if p.index.Overflow, err = p.chunks(ctx, r, partMore, chunks[1:]); err != nil {
		return nil, err
	}
	p.index.Digest = digestOf(data)
	secret := newSecret(r, headName(r.Owner), partCurrent, chunks[0])
	secret.Data[keyIndex], err = json.Marshal(p.index)
	return secret, err
}

// chunks writes data into Secrets with names that nobody else has. One that is there already is this put's own, whose
// answer got lost.
func (p *put) chunks(ctx context.Context, r release.Record, part string, data [][]byte) ([]string, error) {
	var names []string
	for i, chunk := range data {
		name := fmt.Sprintf("hawser-%s-r%d-%s-%s-%d", r.Owner, r.Revision, part, p.index.Write, i)
		p.wrote = append(p.wrote, name)
		err := p.create(ctx, secretsPath, newSecret(r, name, part, chunk), &corev1.Secret{})
		if err != nil && !apierrors.IsAlreadyExists(err) {
			return nil, p.wrap("create", "secrets", name, err)
		}
		names = append(names, name)
	}
	return names, nil
}

// undo deletes what was written for a head that will not be; what it cannot delete is collected one day.
func (p *put) undo(ctx context.Context, owner string) { _, _ = p.sweep(ctx, owner, p.wrote) }

// replace writes the head by compare-and-swap. After an error that leaves open whether it was written, it looks.
func (p *put) replace(ctx context.Context, secret *corev1.Secret) (*head, error) {
	var answer corev1.Secret
	var err error
	verb := "write"
	if p.old.rv == "" {
		verb = "create"
		err = p.create(ctx, secretsPath, secret, &answer)
	} else {
		secret.ResourceVersion = p.old.rv
		err = p.c.Put(ctx, secretsPath+"/"+secret.Name, writeQuery(), secret, &answer)
	}
	if err == nil {
		return &head{rv: answer.ResourceVersion, uid: string(answer.UID), index: p.index}, nil
	}
	if apierrors.IsForbidden(err) || apierrors.IsInvalid(err) || apierrors.IsRequestEntityTooLargeError(err) {
		p.undo(ctx, ownerOf(secret))
		return nil, p.wrap(verb, "secrets", secret.Name, err)
	}
	var there corev1.Secret
	look := p.c.Get(ctx, secretsPath+"/"+secret.Name, nil, &there)
	if look == nil {
		if h, bad := parseHead(&there); bad == nil && h.index.Write == p.index.Write {
			return h, nil
		}
	}
	lost := apierrors.IsConflict(err) || apierrors.IsAlreadyExists(err) || apierrors.IsNotFound(err)
	if !lost {
		return nil, p.wrap(verb, "secrets", secret.Name, err)
	}
	p.undo(ctx, ownerOf(secret))
	if apierrors.IsNotFound(err) && p.old.rv == "" {
		return nil, p.wrap(verb, "secrets", secret.Name, err) // the namespace is missing and cannot be made
	}
	return nil, p.conflict(ownerOf(secret))
}

func ownerOf(secret *corev1.Secret) string { return secret.Labels[object.LabelOwner] }

// sweep deletes Secrets of an owner's records; other names are passed over. It returns the names of those that could not be
// deleted, and why.
func (s *Store) sweep(ctx context.Context, owner string, names []string) (left []string, failed error) {
	for _, name := range names {
		if !own(owner, name) {
			continue
		}
		err := s.c.Delete(ctx, secretsPath+"/"+name, &metav1.DeleteOptions{TypeMeta: deleteOptions})
		if err != nil && !apierrors.IsNotFound(err) {
			left, failed = append(left, name), s.wrap("delete", "secrets", name, err)
		}
	}
	return left, failed
}

var deleteOptions = metav1.TypeMeta{APIVersion: "v1", Kind: "DeleteOptions"}

// collect deletes the bundle's Secrets that the head does not name: what a writer that died had written for a head it
// never wrote. It is called only right after this writer's own open head: any other writer's compare-and-swap fails
// from then on, so that nothing it deletes can come to be named. What fails is left for the next time.
func (s *Store) collect(ctx context.Context, owner string, x index) {
	secrets, err := s.list(ctx, object.LabelOwner+"="+owner)
	if err != nil {
		return
	}
	stay := append(x.names(), headName(owner))
	var orphans []string
	for i := range secrets {
		if name := secrets[i].Name; !slices.Contains(stay, name) {
			orphans = append(orphans, name)
		}
	}
	_, _ = s.sweep(ctx, owner, orphans)
}

// Delete removes everything of a bundle. First the head is replaced by one that names nothing but garbage, which is
// the compare-and-swap; then the garbage goes, and the head last.
func (s *Store) Delete(ctx context.Context, owner string, h release.RecordVersion) error {
	now, r, err := s.current(ctx, owner)
	if err != nil {
		return err
	}
	if now == nil {
		return s.dropApart(ctx, holdName(owner))
	}
	if now.rv != string(h) {
		return s.conflict(owner)
	}
	secrets, err := s.list(ctx, object.LabelOwner+"="+owner)
	if err != nil {
		return err
	}
	if len(secrets) > 1 {
		if now, err = s.tombstone(ctx, now, *r, secrets); err != nil {
			return err
		}
		if _, err := s.sweep(ctx, owner, now.index.Sweep); err != nil {
			return err
		}
	}
	if err := s.dropApart(ctx, holdName(owner)); err != nil {
		return err
	}
	uid := types.UID(now.uid)
	options := &metav1.DeleteOptions{TypeMeta: deleteOptions, Preconditions: &metav1.Preconditions{UID: &uid, ResourceVersion: &now.rv}}
	err = s.c.Delete(ctx, secretsPath+"/"+headName(owner), options)
	switch {
	case apierrors.IsConflict(err):
		return s.conflict(owner)
	case err != nil && !apierrors.IsNotFound(err):
		return s.wrap("delete", "secrets", headName(owner), err)
	}
	s.remember(owner, nil)
	return nil
}

// tombstone replaces the head by an open record of an empty inventory.
func (s *Store) tombstone(ctx context.Context, now *head, r release.Record, secrets []corev1.Secret) (*head, error) {
	r.Phase, r.Inventory, r.SetDigest = release.Deleting, nil, ""
	p := &put{Store: s, old: now, index: index{V: indexV, Write: nonce(), Open: true}}
	for i := range secrets {
		if own(r.Owner, secrets[i].Name) {
			p.index.Sweep = append(p.index.Sweep, secrets[i].Name)
		}
	}
	secret, err := p.parts(ctx, r, nil)
	if err != nil {
		return nil, err
	}
	return p.replace(ctx, secret)
}

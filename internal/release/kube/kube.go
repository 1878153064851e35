// Package kube keeps release records and locks in the cluster they are about: Secrets and Leases in the namespace
// hawser-system.
//
// The current record of a bundle is one Secret, its head `hawser-OWNER`: the record (zstd of JSON) and an index of
// everything else that belongs to the bundle. A record too big for one Secret overflows into more; every closed
// revision is kept with its Set in Secrets of its own. Those are immutable, have names nobody else ever uses, are
// written before the head that names them, and are deleted only after a head that does not name them: interrupted
// anywhere, the old head or the new one is there, and what it names too. Reading the current record is one request.
//
// The package must not know what is in a record, nor reach a cluster in any way but the client it is given.
package kube

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"hawser.dev/hawser/internal/answer"
	"hawser.dev/hawser/internal/broke"
	"hawser.dev/hawser/internal/object"
	"hawser.dev/hawser/internal/release"
)

// Client is what the store needs of a connection: plain requests with JSON bodies. Errors for answers of the API
// server are apimachinery's status errors.
type Client interface {
	// Get reads a path into a value.
	Get(ctx context.Context, path string, query url.Values, into any) error
	// Post creates an object in a collection and reads the answer.
	Post(ctx context.Context, path string, query url.Values, body, into any) error
	// Put replaces an object and reads the answer.
	Put(ctx context.Context, path string, query url.Values, body, into any) error
	// Delete deletes an object; body is a *metav1.DeleteOptions.
	Delete(ctx context.Context, path string, body any) error
}

const (
	secretsPath   = "/api/v1/namespaces/" + object.SystemNamespace + "/secrets"
	namespacePath = "/api/v1/namespaces"

	// secretType marks Hawser's Secrets; the API server never lets a Secret change its type.
	secretType = corev1.SecretType("hawser.dev/record")
	// labelRecord says what a Secret holds: one of the parts below.
	labelRecord = "hawser.dev/record"
	partCurrent = "current"
	partMore    = "overflow"
	partSet     = "set"

	// pageSize is the number of Secrets read by one LIST, each up to release.ChunkSize and its base64.
	pageSize = 20
	// maxListed are the bytes of the Secrets of one LIST.
	maxListed = 256 << 20
	// maxTries are made to read a record that somebody writes again and again.
	maxTries = 50
)

// Store is the release.Store of one cluster. It remembers the heads it saw, so that a Put after a Current needs no
// second look.
type Store struct {
	c       Client
	cluster string
	chunk   int // the most bytes in one Secret

	mu    sync.Mutex
	heads map[string]*head
	// bare tells that the namespace may be missing, as no record was found in it; seen that it was there already.
	bare, seen bool
}

var (
	_ release.Store   = (*Store)(nil)
	_ release.History = (*Store)(nil)
	_ release.Watched = (*Store)(nil)
)

// New returns the store of a cluster. The name is for error messages.
func New(c Client, cluster string) release.Store { return Own(c, cluster) }

// Own is New for a store that keeps the cluster's records elsewhere.
func Own(c Client, cluster string) *Store {
	return &Store{c: c, cluster: cluster, chunk: release.ChunkSize, heads: map[string]*head{}}
}

// Current reads the head of a bundle.
func (s *Store) Current(ctx context.Context, owner string) (*release.Record, release.RecordVersion, error) {
	h, r, err := s.current(ctx, owner)
	if err != nil || h == nil {
		return nil, "", err
	}
	return r, release.RecordVersion(h.rv), nil
}

// current reads head and record; nil, nil, nil when there is none. When an overflow Secret is missing a newer head
// has replaced the one just read, so it looks again, until the head is the same one twice.
func (s *Store) current(ctx context.Context, owner string) (*head, *release.Record, error) {
	for try, was := 1, ""; ; try++ {
		var secret corev1.Secret
		err := s.c.Get(ctx, secretsPath+"/"+headName(owner), nil, &secret)
		if apierrors.IsNotFound(err) {
			s.remember(owner, nil)
			return nil, nil, nil
		}
		if err != nil {
			return nil, nil, s.wrap("read", "secrets", headName(owner), err)
		}
		h, r, err := s.open(ctx, owner, &secret)
		if apierrors.IsNotFound(err) && try < maxTries && secret.ResourceVersion != was {
			was = secret.ResourceVersion
			continue
		}
		if apierrors.IsNotFound(err) {
			err = fmt.Errorf("%w: a part of it is missing: %w", release.ErrDamaged, err)
		}
		if errors.Is(err, release.ErrDamaged) {
			return nil, nil, s.damaged(owner, &secret, s.wrap("read", "secrets", headName(owner), err))
		}
		if err != nil {
			return nil, nil, s.wrap("read", "secrets", headName(owner), err)
		}
		if r.Owner != owner {
			err := fmt.Errorf("the record belongs to the owner %q", r.Owner)
			return nil, nil, s.wrap("read", "secrets", headName(owner), err)
		}
		s.remember(owner, h)
		return h, r, nil
	}
}

// damaged is the error of a head that cannot be read. It is remembered with what its index still tells, so that a Put may
// replace it and the kept revisions stay.
func (s *Store) damaged(owner string, secret *corev1.Secret, err error) error {
	h, bad := parseHead(secret)
	if bad != nil || h.index.belongs(owner) != nil {
		h = &head{rv: secret.ResourceVersion, uid: string(secret.UID)}
	}
	s.remember(owner, h)
	revision, _ := strconv.Atoi(secret.Annotations[annotationRevision])
	return &release.DamagedError{Handle: release.RecordVersion(h.rv), Bundle: secret.Annotations[annotationBundle], Revision: revision, Err: err}
}

// open decodes the head Secret of an owner.
func (s *Store) open(ctx context.Context, owner string, secret *corev1.Secret) (*head, *release.Record, error) {
	h, err := parseHead(secret)
	if err == nil {
		err = h.index.belongs(owner)
	}
	if err == nil && h.index.Elsewhere != nil {
		err = release.Elsewhere(*pointerOf(secret, h), release.Place{})
	}
	if err != nil {
		return nil, nil, err
	}
	data, err := s.join(ctx, secret.Data[keyRecord], h.index.Overflow, h.index.Digest)
	if err != nil {
		return nil, nil, err
	}
	r, err := release.DecodeRecord(data)
	return h, r, err
}

// join reads the Secrets named, puts their data behind the first part, and checks the digest of the whole.
func (s *Store) join(ctx context.Context, first []byte, names []string, digest string) ([]byte, error) {
	data := slices.Clone(first)
	for _, name := range names {
		var secret corev1.Secret
		err := s.c.Get(ctx, secretsPath+"/"+name, nil, &secret)
		if apierrors.IsNotFound(err) {
			err = &release.MissingError{Secret: object.SystemNamespace + "/" + name, Err: err}
		}
		if err != nil {
			return nil, err
		}
		if data = append(data, secret.Data[keyRecord]...); len(data) > release.MaxStored {
			return nil, fmt.Errorf("%w: its parts have more than %d MiB", release.ErrDamaged, release.MaxStored>>20)
		}
	}
	if digestOf(data) != digest {
		return nil, fmt.Errorf("%w: its digest differs", release.ErrDamaged)
	}
	return data, nil
}

// Bundles reads every head of the cluster, one after the other. Records that cannot be read are in the error. A head that
// was replaced or deleted after the LIST, so that a part of it is missing, is read again by itself.
func (s *Store) Bundles(ctx context.Context, each func(release.Record) error) error {
	secrets, err := s.list(ctx, labelRecord+"="+partCurrent)
	if err != nil {
		return err
	}
	var failed []error
	for i := range secrets {
		_, r, err := s.open(ctx, strings.TrimPrefix(secrets[i].Name, headName("")), &secrets[i])
		if apierrors.IsNotFound(err) {
			_, r, err = s.current(ctx, ownerOf(&secrets[i]))
		}
		if err == nil && r != nil {
			err = each(*r)
		}
		if err != nil {
			failed = append(failed, s.wrap("read", "secrets", secrets[i].Name, err))
		}
	}
	return errors.Join(failed...)
}

// Sample reads heads page by page, no further than each wants.
func (s *Store) Sample(ctx context.Context, each func(release.Record) (more bool)) error {
	return s.pages(ctx, labelRecord+"="+partCurrent, func(secrets []corev1.Secret) (more bool) {
		return !slices.ContainsFunc(secrets, func(secret corev1.Secret) bool {
			_, r, err := s.open(ctx, strings.TrimPrefix(secret.Name, headName("")), &secret)
			return err == nil && !each(*r)
		})
	})
}

// list reads all Secrets with a label.
func (s *Store) list(ctx context.Context, selector string) (out []corev1.Secret, err error) {
	err = s.pages(ctx, selector, func(secrets []corev1.Secret) bool {
		out = append(out, secrets...)
		return true
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// pages reads the Secrets with a label, page by page, in the time that one list may take, until each wants no more.
func (s *Store) pages(ctx context.Context, selector string, each func([]corev1.Secret) (more bool)) error {
	query := url.Values{"labelSelector": {selector}, "limit": {fmt.Sprint(pageSize)}}
	ctx, cancel := context.WithTimeout(ctx, answer.ListTime)
	defer cancel()
	size := 0
	for pages := (answer.Pages{}); ; {
		var page corev1.SecretList
		if err := s.c.Get(ctx, secretsPath, query, &page); err != nil {
			return s.wrap("list", "secrets", "", err)
		}
		for i := range page.Items {
			size += page.Items[i].Size()
		}
		if size > maxListed {
			return s.wrap("list", "secrets", "", fmt.Errorf("they have more than %d MiB", maxListed>>20))
		}
		if !each(page.Items) || page.Continue == "" {
			return nil
		}
		if pages.Next(len(page.Items), page.Continue) {
			return s.wrap("list", "secrets", "", errors.New("the API server gives a list that does not end"))
		}
		query.Set("continue", page.Continue)
	}
}

// Objects reads the Set of a revision; nil when it is not kept, or not any more.
func (s *Store) Objects(ctx context.Context, r release.Record) ([]object.Object, error) {
	if r.SetDigest == "" {
		return nil, nil
	}
	for try := 1; ; try++ {
		h := s.recall(r.Owner)
		if h == nil || try > 1 {
			var err error
			if h, _, err = s.current(ctx, r.Owner); err != nil || h == nil {
				return nil, err
			}
		}
		k := h.index.find(r.Revision)
		if k == nil || k.Set != r.SetDigest {
			if try == 1 {
				continue
			}
			return nil, nil
		}
		_, objects, err := s.revision(ctx, *k)
		if apierrors.IsNotFound(err) && try < 3 {
			continue
		}
		if err != nil {
			return nil, s.wrap("read", "secrets", k.name(), err)
		}
		return objects, nil
	}
}

// Revisions reads the records of all kept revisions, newest first, and not their Sets. Where the current one is damaged those that its index
// still tells come first, and then the error.
func (s *Store) Revisions(ctx context.Context, owner string, each func(release.Record) error) error {
	h, _, damaged := s.current(ctx, owner)
	if errors.Is(damaged, release.ErrDamaged) {
		h = s.recall(owner)
	}
	if h == nil {
		return damaged
	}
	for _, k := range h.index.Kept {
		data, err := s.join(ctx, nil, k.Secrets, k.Digest)
		if apierrors.IsNotFound(err) { // a newer head has let go of it
			continue
		}
		var r *release.Record
		if err == nil { // what was learned of it later is in the index alone
			r, err = release.DecodeRevisionRecord(data, owner, k.Revision, k.Phase)
		}
		if err == nil && !r.Phase.Open() {
			err = each(*r)
		}
		if err != nil {
			return s.wrap("read", "secrets", k.name(), err)
		}
	}
	return damaged
}

func (s *Store) revision(ctx context.Context, k kept) (*release.Record, []object.Object, error) {
	data, err := s.join(ctx, nil, k.Secrets, k.Digest)
	if err != nil {
		return nil, nil, err
	}
	return release.DecodeRevision(data, k.Set)
}

// remember keeps a head, or that there is none.
func (s *Store) remember(owner string, h *head) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.bare, s.seen = h == nil && !s.seen, s.seen || h != nil
	if h == nil {
		delete(s.heads, owner)
		return
	}
	s.heads[owner] = h
}

func (s *Store) recall(owner string) *head {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.heads[owner]
}

// create posts into the namespace, which is made when it is missing: at the same time when no record was found, and else
// only when the API server says so.
func (s *Store) create(ctx context.Context, path string, body, into any) error {
	s.mu.Lock()
	bare := s.bare
	s.bare = false
	s.mu.Unlock()
	making := make(chan error, 1)
	if bare {
		broke.Go(func() { making <- s.makeNamespace(ctx) })
	}
	err := s.c.Post(ctx, path, writeQuery(), body, into)
	missing := apierrors.IsNotFound(err)
	var noNamespace error
	switch {
	case bare: // nothing is under way when this returns
		noNamespace = <-making
	case missing:
		noNamespace = s.makeNamespace(ctx)
	}
	if missing {
		if noNamespace != nil {
			return noNamespace
		}
		err = s.c.Post(ctx, path, writeQuery(), body, into)
	}
	if err == nil {
		s.mu.Lock()
		s.seen = true
		s.mu.Unlock()
	}
	return err
}

func (s *Store) makeNamespace(ctx context.Context) error {
	ns := &corev1.Namespace{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Namespace"},
		ObjectMeta: metav1.ObjectMeta{
			Name: object.SystemNamespace, Labels: map[string]string{object.LabelManagedBy: "hawser"},
		},
	}
	err := s.c.Post(ctx, namespacePath, writeQuery(), ns, &corev1.Namespace{})
	if err == nil || apierrors.IsAlreadyExists(err) {
		return nil
	}
	return s.wrap("create", "namespaces", "", err)
}

// writeQuery bounds a write on the server's side, so that it ends before the lock it is sent under can expire.
func writeQuery() url.Values {
	return url.Values{"fieldManager": {"hawser"}, "timeout": {"10s"}}
}

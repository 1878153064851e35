package blob

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"sync/atomic"

	"hawser.dev/hawser/internal/lazyregexp"
	"hawser.dev/hawser/internal/object"
	"hawser.dev/hawser/internal/release"
)

// Options say what a store is made of. All of it is needed but Fleet and Own.
type Options struct {
	Bucket Bucket
	// Scope is what tells the cluster from all others that share the bucket, its UID, or why nobody knows that. Cluster is its name, for
	// errors.
	Scope   func() (string, error)
	Cluster string
	// Fleet is that whose file names the bucket.
	Fleet string
	// Key gives what everything is sealed with, nil where there is none; write: something is about to be, so that one is made.
	Key func(ctx context.Context, write bool) ([]byte, error)
	// Own is the cluster's own store, which keeps what does not leave it, and says where the records are.
	Own Own
}

// store is a release.Store of one cluster in a Bucket.
type store struct {
	bucket  Bucket
	key     func(ctx context.Context, write bool) ([]byte, error)
	cluster string // its name, for errors
	fleet   string
	scoped  func() (string, error)
	seal    seal
	place   atomic.Pointer[release.Place] // once it has an id
}

var (
	_ release.Store   = (*store)(nil)
	_ release.History = (*store)(nil)
	_ release.Holder  = (*store)(nil)
	_ release.Watched = (*store)(nil)
)

// keyPart is what a part of a blob's key may be.
var keyPart = lazyregexp.New(`^[A-Za-z0-9][A-Za-z0-9.-]*$`)

// setName is what a Set of ours is called: no other blob is taken for one that nothing names any more.
var setName = lazyregexp.New(`^r[0-9]+-[a-z2-7]{26}$`)

// New returns the store of a cluster. Nothing is opened before it is used.
func New(o Options) release.Store {
	s := &store{bucket: o.Bucket, key: o.Key, cluster: o.Cluster, fleet: o.Fleet, scoped: o.Scope}
	if o.Own == nil {
		return s
	}
	return &inCluster{store: s, Keeper: o.Own, own: o.Own}
}

// wrap names cluster, bucket and blob.
func (s *store) wrap(verb, key string, err error) error {
	return fmt.Errorf("cluster %s: %s %s in %s: %w", s.cluster, verb, strings.TrimSuffix(key, "/"), s.bucket, err)
}

// journal is one of a bundle's, by its name.
func (s *store) journal(owner, name string) (journal, error) {
	scope, err := s.scope()
	if err != nil {
		return journal{}, err
	}
	if !keyPart.MatchString(owner) {
		return journal{}, fmt.Errorf("cluster %s: %q is no owner of records", s.cluster, owner)
	}
	return journal{s, path.Join(scope, owner, name) + "/"}, nil
}

// scope is what all keys of the cluster begin with.
func (s *store) scope() (string, error) {
	scope, err := s.scoped()
	if err == nil && !keyPart.MatchString(scope) {
		err = fmt.Errorf("%q cannot be a part of a blob's name", scope)
	}
	if err != nil {
		return "", fmt.Errorf("cluster %s: records are kept in %s by the cluster's UID: %w", s.cluster, s.bucket, err)
	}
	return scope, nil
}

// setsOf is what the keys of an owner's Sets begin with, in the scope of a journal of theirs.
func (j journal) setsOf() string {
	return path.Join(path.Dir(strings.TrimSuffix(j.prefix, "/")), sets) + "/"
}

const (
	heads = "heads"
	locks = "locks"
	holds = "holds"
	sets  = "sets"
)

// headV is the version of head.
const headV = 1

// head is the body of an entry of a bundle's records.
type head struct {
	V int `json:"v"`
	// Deleted: the bundle has no record. Its journal goes on, so that no writer of before takes up a number again.
	Deleted bool `json:"deleted,omitempty"`
	// Bundle is its name.
	Bundle string `json:"bundle,omitempty"`
	// Record is encoded; Open, that its run has not ended.
	Record []byte `json:"record,omitempty"`
	Open   bool   `json:"open,omitempty"`
	// Kept are the revisions with a Set, newest first.
	Kept []revision `json:"kept,omitempty"`
	// Sweep are blobs that nothing names any more; the next write deletes them.
	Sweep []string `json:"sweep,omitempty"`
	// Leaving is where the records are being moved to: nobody else reads or writes them any more.
	Leaving *release.Place `json:"leaving,omitempty"`
}

// revision is one that is kept: its blob, and the digest of its objects.
type revision struct {
	Revision int           `json:"revision"`
	Phase    release.Phase `json:"phase"`
	Set      string        `json:"set"`
	Blob     string        `json:"blob"`
}

func (h head) find(number int) *revision {
	for i := range h.Kept {
		if h.Kept[i].Revision == number {
			return &h.Kept[i]
		}
	}
	return nil
}

// now reads the head of a bundle's records; the zero tip when there never was one. One that is being moved away is an error.
func (s *store) now(ctx context.Context, owner string) (journal, tip, head, error) {
	j, t, h, err := s.read(ctx, owner)
	if err == nil && h.Leaving != nil {
		here, _ := s.Place(ctx, false)
		err = release.Elsewhere(release.Pointer{At: *h.Leaving, Bundle: h.Bundle, Moving: true}, here)
	}
	return j, t, h, err
}

// read is now, also of what is being moved away.
func (s *store) read(ctx context.Context, owner string) (journal, tip, head, error) {
	j, err := s.journal(owner, heads)
	if err != nil {
		return j, tip{}, head{}, err
	}
	t, err := j.last(ctx)
	if err != nil || t.number == 0 {
		return j, tip{}, head{Deleted: true}, err
	}
	var h head
	if err := json.Unmarshal(t.Body, &h); err != nil {
		return j, t, h, s.wrap("read", j.key(t.number), fmt.Errorf("%w: %w", release.ErrDamaged, err))
	}
	if h.V > headV {
		return j, t, h, s.wrap("read", j.key(t.number), &release.NewerError{V: h.V})
	}
	if err := j.belongs(h); err != nil {
		return j, t, h, s.wrap("read", j.key(t.number), err)
	}
	return j, t, h, nil
}

// belongs refuses a head that names blobs of others: what a head names is read and deleted for it.
func (j journal) belongs(h head) error {
	keys := slices.Clone(h.Sweep)
	for _, k := range h.Kept {
		keys = append(keys, k.Blob)
	}
	for _, key := range keys {
		if name, ok := strings.CutPrefix(key, j.setsOf()); !ok || !keyPart.MatchString(name) {
			return fmt.Errorf("%w: it names %q, which is none of its blobs", release.ErrDamaged, key)
		}
	}
	return nil
}

// Current returns the record and its handle.
func (s *store) Current(ctx context.Context, owner string) (*release.Record, release.RecordVersion, error) {
	j, t, h, err := s.now(ctx, owner)
	if err != nil || h.Deleted {
		return nil, "", err
	}
	r, err := release.DecodeRecord(h.Record)
	if err == nil && r.Owner != owner {
		err = fmt.Errorf("the record belongs to the owner %q", r.Owner)
	}
	if err != nil {
		return nil, "", s.wrap("read", j.key(t.number), err)
	}
	return r, t.handle(), nil
}

// Bundles gives all current records to each; those that cannot be read are in the error.
func (s *store) Bundles(ctx context.Context, each func(release.Record) error) error {
	owners, err := s.owners(ctx, heads)
	if err != nil {
		return err
	}
	var failed []error
	for _, owner := range owners {
		r, _, err := s.Current(ctx, owner)
		if err == nil && r != nil {
			err = each(*r)
		}
		failed = append(failed, err)
	}
	return errors.Join(failed...)
}

// owners are those that have, or had, something of a kind: a record (heads), a hold.
func (s *store) owners(ctx context.Context, kind string) (owners []string, err error) {
	scope, err := s.scope()
	if err != nil {
		return nil, err
	}
	list, err := s.bucket.List(ctx, scope+"/")
	if err != nil {
		return nil, s.wrap("list", scope, err)
	}
	for _, e := range list { // sorted: what is of one owner stands together
		if parts := strings.Split(e.Key, "/"); len(parts) == 4 && parts[2] == kind && (len(owners) == 0 || owners[len(owners)-1] != parts[1]) {
			owners = append(owners, parts[1])
		}
	}
	return owners, nil
}

// Sample reads records no further than each wants.
func (s *store) Sample(ctx context.Context, each func(release.Record) (more bool)) error {
	owners, err := s.owners(ctx, heads)
	for _, owner := range owners {
		if r, _, err := s.Current(ctx, owner); err == nil && r != nil && !each(*r) {
			break
		}
	}
	return err
}

// Put writes a record: the Set under a new name, then the next head, then what is garbage goes. A run that begins after
// one that died deletes what that one wrote for a head that never came.
func (s *store) Put(ctx context.Context, r release.Record, objects []object.Object, h release.RecordVersion) (release.RecordVersion, error) {
	j, t, old, err := s.now(ctx, r.Owner)
	if err != nil {
		return "", err
	}
	if old.Deleted && h != "" || !old.Deleted && h != t.handle() {
		return "", s.wrap("write", j.key(t.number+1), release.ErrConflict)
	}
	next := head{V: headV, Bundle: r.Bundle, Open: r.Standing().Open(), Kept: slices.Clone(old.Kept)}
	if objects != nil {
		r.SetDigest = release.SetDigest(objects)
		data, err := release.EncodeRevision(r, objects)
		if err != nil {
			return "", s.wrap("write", j.key(t.number+1), err)
		}
		added := revision{r.Revision, r.Phase, r.SetDigest, j.setKey(r.Revision)}
		if err := s.create(ctx, added.Blob, data); err != nil {
			_ = s.bucket.Delete(ctx, added.Blob)
			return "", s.wrap("write", added.Blob, err)
		}
		var dropped []revision
		next.Kept, dropped = release.Retain(next.Kept, added, r.Keep, func(k revision) (int, release.Phase) { return k.Revision, k.Phase })
		for _, k := range dropped {
			next.Sweep = append(next.Sweep, k.Blob)
		}
	} else if k := next.find(r.Revision); k != nil {
		k.Phase = r.Phase
	}
	next.Sweep = append(next.Sweep, s.swept(ctx, old.Sweep)...)
	if next.Record, err = release.EncodeRecord(r); err != nil {
		return "", s.wrap("write", j.key(t.number+1), err)
	}
	body, err := json.Marshal(next)
	if err != nil {
		return "", err
	}
	written, err := j.add(ctx, t, body)
	if err != nil {
		if k := next.find(r.Revision); objects != nil && errors.Is(err, release.ErrConflict) {
			_ = s.bucket.Delete(ctx, k.Blob)
		}
		return "", err
	}
	if next.Open && old.Open {
		j.collect(ctx, next)
	}
	return written.handle(), nil
}

// swept deletes blobs, and returns those that it could not.
func (s *store) swept(ctx context.Context, keys []string) (left []string) {
	for _, key := range keys {
		if s.bucket.Delete(ctx, key) != nil {
			left = append(left, key)
		}
	}
	return left
}

// collect deletes the Sets that a head does not name. It is called only right after this writer's own open head: the next
// one of any other writer fails from then on, so that nothing it deletes can come to be named.
func (j journal) collect(ctx context.Context, h head) {
	list, err := j.bucket.List(ctx, j.setsOf())
	if err != nil {
		return
	}
	var orphans []string
	for _, e := range list {
		ours := setName.MatchString(strings.TrimPrefix(e.Key, j.setsOf()))
		if ours && !slices.ContainsFunc(h.Kept, func(k revision) bool { return k.Blob == e.Key }) {
			orphans = append(orphans, e.Key)
		}
	}
	j.swept(ctx, orphans)
}

// Objects returns the Set of a revision.
func (s *store) Objects(ctx context.Context, r release.Record) ([]object.Object, error) {
	if r.SetDigest == "" {
		return nil, nil
	}
	_, _, h, err := s.now(ctx, r.Owner)
	if err != nil {
		return nil, err
	}
	k := h.find(r.Revision)
	if k == nil || k.Set != r.SetDigest {
		return nil, nil
	}
	_, objects, err := s.revision(ctx, *k)
	if errors.Is(err, ErrAbsent) { // a newer head has let go of it
		return nil, nil
	}
	return objects, err
}

func (s *store) revision(ctx context.Context, k revision) (*release.Record, []object.Object, error) {
	data, err := s.get(ctx, k.Blob, release.MaxStored)
	if err != nil {
		return nil, nil, s.wrap("read", k.Blob, err)
	}
	r, objects, err := release.DecodeRevision(data, k.Set)
	if err != nil {
		return nil, nil, s.wrap("read", k.Blob, err)
	}
	return r, objects, nil
}

// Revisions gives the records of the kept revisions to each.
func (s *store) Revisions(ctx context.Context, owner string, each func(release.Record) error) error {
	_, _, h, err := s.now(ctx, owner)
	if err != nil {
		return err
	}
	for _, k := range h.Kept {
		data, err := s.get(ctx, k.Blob, release.MaxStored)
		if errors.Is(err, ErrAbsent) {
			continue
		}
		var r *release.Record
		if err == nil {
			r, err = release.DecodeRevisionRecord(data, owner, k.Revision, k.Phase)
		}
		if err == nil && !r.Phase.Open() {
			err = each(*r)
		}
		if err != nil {
			return s.wrap("read", k.Blob, err)
		}
	}
	return nil
}

// Delete writes a head without a record, which is the compare-and-swap, and then deletes the Sets.
func (s *store) Delete(ctx context.Context, owner string, h release.RecordVersion) error {
	j, t, old, err := s.now(ctx, owner)
	if err != nil {
		return err
	}
	return s.remove(ctx, owner, j, t, old, h)
}

// remove is Delete of what was read.
func (s *store) remove(ctx context.Context, owner string, j journal, t tip, old head, h release.RecordVersion) error {
	garbage := old.Sweep
	if !old.Deleted {
		if h != t.handle() {
			return s.wrap("delete", j.key(t.number), release.ErrConflict)
		}
		for _, k := range old.Kept {
			garbage = append(garbage, k.Blob)
		}
		body, err := json.Marshal(head{V: headV, Deleted: true, Sweep: garbage})
		if err != nil {
			return err
		}
		if _, err := j.add(ctx, t, body); err != nil {
			return err
		}
	}
	for _, key := range garbage {
		if err := s.bucket.Delete(ctx, key); err != nil {
			return s.wrap("delete", key, err)
		}
	}
	return s.unhold(ctx, owner)
}

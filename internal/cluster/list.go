package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"net/url"
	"strconv"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"hawser.dev/hawser/internal/answer"
)

// How lists are read: page by page, and what all pages together may be.
const (
	metadataPage = 5000
	objectPage   = 500
	maxItems     = 500_000
	maxPages     = 5000
	maxListed    = 512 << 20 // bytes of items
	listTime     = 5 * time.Minute
)

// lister reads one collection.
type lister struct {
	s *Session
	c call
	// begin is called before the first item, again when the list is read anew; item for each one, whose bytes are only
	// valid meanwhile.
	begin func()
	item  func(raw []byte) error
	one   bool // page only

	items int
	bytes int64
	head  metav1.ListMeta
}

// list reads a collection page by page and returns its place in history. path, query and accept are those of c; with a
// limit in the query no more than that one page.
func (s *Session) list(ctx context.Context, c call, begin func(), item func(raw []byte) error) (resourceVersion string, err error) {
	ctx, cancel := context.WithTimeout(ctx, listTime)
	defer cancel()
	c.method, c.limits = http.MethodGet, answer.Page
	size := objectPage
	if c.accept == metadataList {
		size = metadataPage
	}
	if n, err := strconv.Atoi(c.query.Get("limit")); err == nil {
		size = n
	}
	l := &lister{s: s, c: c, begin: begin, item: item, one: c.query.Has("limit")}
	err = l.read(ctx, size)
	if apierrors.IsResourceExpired(err) || apierrors.IsGone(err) {
		err = l.read(ctx, size) // it took so long that its place in history is gone
	}
	return l.head.ResourceVersion, err
}

// read reads all pages. A page that is too large is asked for in smaller ones.
func (l *lister) read(ctx context.Context, size int) error {
	l.begin()
	l.items, l.bytes = 0, 0
	first, token := "", ""
	for range maxPages {
		c := l.c
		c.query = url.Values{}
		maps.Copy(c.query, l.c.query)
		c.query.Set("limit", strconv.Itoa(size))
		if token != "" {
			c.query.Set("continue", token)
		}
		before, beforeBytes := l.items, l.bytes
		c.into = l.page
		_, err := l.s.do(ctx, c)
		if wrong, ok := errors.AsType[*AnswerError](err); ok && wrong.tooLarge && size > 1 && before == l.items {
			l.bytes = beforeBytes
			size = max(1, size/10)
			continue
		}
		if err != nil {
			return err
		}
		if first == "" {
			first = l.head.ResourceVersion
		}
		if l.head.Continue == "" || l.one {
			l.head.ResourceVersion = first
			return nil
		}
		if l.head.Continue == token || l.items == before {
			return l.s.wrongAnswer("gave a list that does not end")
		}
		token = l.head.Continue
	}
	return l.s.wrongAnswer("gave a list that does not end")
}

// page hands on the items of one page.
func (l *lister) page(data []byte) (err error) {
	l.head, err = answer.Items(data, func(raw []byte) error {
		l.items++
		l.bytes += int64(len(raw))
		if l.items > maxItems || l.bytes > maxListed {
			return l.s.wrongAnswer("gave a list of more than %d objects or %d MiB", maxItems, maxListed>>20)
		}
		return l.item(raw)
	})
	if _, told := errors.AsType[*AnswerError](err); err == nil || told {
		return err
	}
	return l.s.notUnderstood(err)
}

// listMeta reads the metadata of a collection's objects, one at a time.
func (s *Session) listMeta(ctx context.Context, path string, query url.Values, begin func(), each func(meta)) error {
	_, err := s.list(ctx, call{path: path, query: query, accept: metadataList}, begin, func(raw []byte) error {
		var m meta
		if err := json.Unmarshal(raw, &m); err != nil {
			return s.notUnderstood(err)
		}
		if m.Name == "" {
			return s.wrongAnswer("gave a list with an object that has no name")
		}
		each(m)
		return nil
	})
	return err
}

// listObjects reads a collection's objects whole.
func (s *Session) listObjects(ctx context.Context, c call) (items []map[string]any, resourceVersion string, err error) {
	var weight int64
	resourceVersion, err = s.list(ctx, c, func() { items, weight = nil, 0 }, func(raw []byte) error {
		if weight += answer.Weight(raw); weight > answer.Page.Weight {
			return s.wrongAnswer("gave a list of more than %d MiB in memory", answer.Page.Weight>>20)
		}
		var m map[string]any
		if err := decode(raw, &m); err != nil || m == nil {
			return s.notUnderstood(err)
		}
		items = append(items, m)
		return nil
	})
	return items, resourceVersion, err
}

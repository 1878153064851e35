package kubeapi

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"net/url"
	"strconv"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"hawser.dev/hawser/internal/answer"
)

// How lists are read: page by page, and what all pages together may be.
const (
	metadataPage = 5000
	objectPage   = 500
	maxItems     = 500_000
	maxListed    = 512 << 20 // bytes of items
)

// lister reads one collection.
type lister struct {
	c *Client
	r Request
	// begin is called before the first item, again when the list is read anew; item for each one, whose bytes are only
	// valid meanwhile.
	begin func()
	item  func(raw []byte) error
	one   bool // page only

	items int
	bytes int64
	head  metav1.ListMeta
}

// List reads a collection page by page and returns its place in history. Path, Query and Accept are those of r; with a
// limit in the query no more than that one page. begin is called before the first item, and again when the list is read
// anew; item gets each item's JSON, which is valid meanwhile.
func (c *Client) List(ctx context.Context, r Request, begin func(), item func(raw []byte) error) (resourceVersion string, err error) {
	ctx, cancel := context.WithTimeout(ctx, answer.ListTime)
	defer cancel()
	r.Method, r.Limits = http.MethodGet, answer.Page
	size := objectPage
	if r.Accept == MetadataListType {
		size = metadataPage
	}
	if n, err := strconv.Atoi(r.Query.Get("limit")); err == nil {
		size = n
	}
	l := &lister{c: c, r: r, begin: begin, item: item, one: r.Query.Has("limit")}
	err = l.read(ctx, size)
	if apierrors.IsResourceExpired(err) || apierrors.IsGone(err) {
		err = l.read(ctx, size) // it took so long that its place in history is gone
	}
	return l.head.ResourceVersion, err
}

// read reads all pages. A page that is too large is asked for in smaller ones. With resourceVersion=0 in the query the API
// server's cache may answer, which gives everything at once; where that is too much, it is read as it is stored.
func (l *lister) read(ctx context.Context, size int) error {
	l.begin()
	l.items, l.bytes = 0, 0
	first, token, smaller := "", "", false
	var pages answer.Pages
	for {
		r := l.r
		r.Query = url.Values{}
		maps.Copy(r.Query, l.r.Query)
		r.Query.Set("limit", strconv.Itoa(size))
		if token != "" {
			r.Query.Set("continue", token)
		}
		if token != "" || smaller { // a cache gives no pages
			r.Query.Del("resourceVersion")
		}
		before, beforeBytes := l.items, l.bytes
		r.Into = l.page
		_, err := l.c.Do(ctx, r)
		if wrong, ok := errors.AsType[*AnswerError](err); ok && wrong.tooLarge && size > 1 && before == l.items {
			l.bytes = beforeBytes
			size, smaller = max(1, size/10), true
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
		if token = l.head.Continue; pages.Next(l.items-before, token) {
			return l.c.WrongAnswer("gave a list that does not end")
		}
	}
}

// page hands on the items of one page.
func (l *lister) page(data []byte) (err error) {
	l.head, err = answer.Items(data, func(raw []byte) error {
		l.items++
		l.bytes += int64(len(raw))
		if l.items > maxItems || l.bytes > maxListed {
			return l.c.WrongAnswer("gave a list of more than %d objects or %d MiB", maxItems, maxListed>>20)
		}
		return l.item(raw)
	})
	if _, told := errors.AsType[*AnswerError](err); err == nil || told {
		return err
	}
	return l.c.NotUnderstood(err)
}

// ListMeta reads the metadata of a collection's objects, one at a time.
func (c *Client) ListMeta(ctx context.Context, path string, query url.Values, begin func(), each func(Metadata)) error {
	_, err := c.List(ctx, Request{Path: path, Query: query, Accept: MetadataListType}, begin, func(raw []byte) error {
		var m Metadata
		if err := json.Unmarshal(raw, &m); err != nil {
			return c.NotUnderstood(err)
		}
		if m.Name == "" {
			return c.WrongAnswer("gave a list with an object that has no name")
		}
		if err := c.echoedBy(&m); err != nil {
			return err
		}
		each(m)
		return nil
	})
	return err
}

// ListObjects reads a collection's objects whole.
func (c *Client) ListObjects(ctx context.Context, r Request) (items []map[string]any, resourceVersion string, err error) {
	var weight int64
	resourceVersion, err = c.List(ctx, r, func() { items, weight = nil, 0 }, func(raw []byte) error {
		if weight += answer.Weight(raw); weight > answer.Page.Weight {
			return c.WrongAnswer("gave a list of more than %d MiB in memory", answer.Page.Weight>>20)
		}
		var m map[string]any
		if err := Decode(raw, &m); err != nil || m == nil {
			return c.NotUnderstood(err)
		}
		if err := c.echoedBy(&m); err != nil {
			return err
		}
		items = append(items, m)
		return nil
	})
	return items, resourceVersion, err
}

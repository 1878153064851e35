package oci

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"oras.land/oras-go/v2/errdef"
	"oras.land/oras-go/v2/registry/remote/auth"

	"hawser.dev/hawser/internal/cache"
	"hawser.dev/hawser/internal/diag"
)

var acceptManifests = strings.Join([]string{manifestType, dockerManifestType, indexType, dockerIndexType}, ", ")

// get asks a registry for a manifest or blob. Answers other than 200 are *statusError.
func (c *Client) get(ctx context.Context, p place, kind, reference, accept string) (*http.Response, error) {
	scheme := "https"
	if c.isPlain(ctx, p.remote.Host()) {
		scheme = "http"
	}
	ctx = auth.AppendRepositoryScope(ctx, p.remote, auth.ActionPull)
	url := fmt.Sprintf("%s://%s/v2/%s/%s/%s", scheme, p.remote.Host(), p.remote.Repository, kind, reference)
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	if accept != "" {
		req.Header.Set("Accept", accept)
	}
	resp, err := c.auth.Do(req)
	if err != nil {
		return nil, err
	}
	if resp.StatusCode == http.StatusOK {
		return resp, nil
	}
	text := messageOf(resp.Body)
	return nil, errors.Join(&statusError{code: resp.StatusCode, text: text}, resp.Body.Close())
}

// messageOf is what a registry says in the body of a refusal.
func messageOf(body io.Reader) string {
	var answer struct {
		Errors []struct{ Code, Message string } `json:"errors"`
	}
	if err := json.NewDecoder(io.LimitReader(body, 64<<10)).Decode(&answer); err != nil || len(answer.Errors) == 0 {
		return ""
	}
	e := answer.Errors[0]
	return strings.ToLower(e.Code) + " " + e.Message
}

// manifest is the manifest of a place, whose digest is checked when the place has one.
func (c *Client) manifest(ctx context.Context, p place) ([]byte, error) {
	if p.path != "" {
		return c.storedManifest(ctx, p)
	}
	resp, err := c.get(ctx, p, "manifests", p.reference(), acceptManifests)
	if err != nil {
		return nil, err
	}
	data, err := io.ReadAll(io.LimitReader(resp.Body, maxManifest+1))
	if err := errors.Join(err, resp.Body.Close()); err != nil {
		return nil, err
	}
	if len(data) > maxManifest {
		return nil, notArtifact(p, fmt.Sprintf("its manifest has more than %d MiB", maxManifest>>20))
	}
	if got := digestOf(data); p.digest != "" && got != p.digest {
		return nil, &cache.MismatchError{Want: p.digest, Got: got}
	}
	return data, nil
}

// blob writes a layer to w. Its size is checked here, its digest by whoever keeps it.
func (c *Client) blob(ctx context.Context, p place, d descriptor, w io.Writer) error {
	if p.path != "" {
		return c.storedBlob(ctx, p, d, w)
	}
	resp, err := c.get(ctx, p, "blobs", d.Digest, "")
	if err != nil {
		return err
	}
	err = limited(w, resp.Body, d.Size)
	if errors.Is(err, io.ErrUnexpectedEOF) {
		err = failure("registry-cut-off", p.String()+": the registry "+p.remote.Registry+" broke off in the middle of a layer", "", "try again")
	}
	return errors.Join(err, resp.Body.Close())
}

var (
	errTooManyTags = errors.New("too many tags")
	errSlow        = errors.New("the time for a list is over")
)

// slow is the error of a registry that takes longer for its tags, or what is told of them, than anybody waits.
func (c *Client) slow(p place, had string) error {
	return failure("registry-slow", fmt.Sprintf("%s: the registry %s was not done with its list after %s", p, p.remote.Registry, c.o.ListTime), had,
		"try again later; an exact version, or a digest, needs no list")
}

// tags are all tags of a place, in the order in which they are listed.
func (c *Client) tags(ctx context.Context, p place) ([]string, error) {
	var out []string
	read, pages := 0, 0
	add := func(page []string) error {
		pages++
		if read += len(page); read > maxTags {
			return errTooManyTags
		}
		for _, tag := range page {
			if tagForm.MatchString(tag) { // what else a registry calls a tag cannot be asked for
				out = append(out, tag)
			}
		}
		return nil
	}
	whole, cancel := context.WithTimeoutCause(ctx, c.o.ListTime, errSlow)
	defer cancel()
	var err error
	if p.path != "" {
		err = c.storedTags(whole, p, add)
	} else {
		err = c.repository(whole, p).Tags(whole, "", add)
	}
	if err != nil && context.Cause(whole) == errSlow {
		return nil, c.slow(p, fmt.Sprintf("%s on %s had come by then", diag.Counted(read, "tag"), diag.Counted(pages, "page")))
	}
	if errors.Is(err, errTooManyTags) || errors.Is(err, errdef.ErrTooManyPages) {
		err = failure("too-many-tags", p.String()+" has more tags than are read", fmt.Sprintf("at most %d, on %d pages", maxTags, maxTagPages),
			"name an exact version instead of a range")
	}
	if err == nil && c.sent.Holds(strings.Join(out, "\n")) { // a tag identifies something, and is masked nowhere
		err = failure("registry-credentials", p.String()+": the registry gives back credentials that were sent, as a tag", "", "ask who runs the registry, and renew the credentials")
	}
	return out, err
}

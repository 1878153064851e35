package toolchain

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/Masterminds/semver/v3"

	"hawser.dev/hawser/internal/boundedregexp"
	"hawser.dev/hawser/internal/lazyregexp"
	"hawser.dev/hawser/internal/module"
)

// ListRequest lists what is in a repository.
type ListRequest struct {
	URL string
	// Versions leaves out tags that are no semantic versions.
	Versions bool
	// Range and Regexp filter, "" for all.
	Range, Regexp string
	// Limit is how many are told at most, 0 for all. Details asks for digests and dates, one request a tag.
	Limit   int
	Details bool
}

// Listed is a tag.
type Listed struct {
	module.Tag
	// Latest is set on the versions that the tag latest means; it needs details.
	Latest bool `json:"latest,omitempty"`
}

const latest = "latest"

// signatureTag is the name that signatures and other notes on an artifact have where a registry keeps them as tags.
var signatureTag = lazyregexp.New(`^sha256-[0-9a-f]{64}(\.[a-z]+)?$`)

// List tells the tags of a repository, the newest version first. Broken ones are told without details, beside an error that names each.
func (t *Tools) List(ctx context.Context, req ListRequest) ([]Listed, error) {
	r, err := t.registry()
	if err != nil {
		return nil, err
	}
	if strings.HasPrefix(req.URL, module.SchemeOCI) {
		if err := repository(req.URL); err != nil {
			return nil, err
		}
	}
	keep, err := req.filter()
	if err != nil {
		return nil, err
	}
	tags, broken := r.List(ctx, req.URL, module.ListOptions{Details: req.Details, Limit: req.Limit, Filter: keep})
	if tags == nil && broken != nil {
		return nil, broken
	}
	newest := ""
	if req.Details {
		all, err := r.List(ctx, req.URL, module.ListOptions{Details: true, Filter: func(tag string) bool { return tag == latest }})
		if all == nil && err != nil {
			return nil, err
		}
		for _, tag := range all {
			newest = tag.Digest
		}
	}
	out := make([]Listed, 0, len(tags))
	for _, tag := range tags {
		out = append(out, Listed{Tag: tag, Latest: tag.Name != latest && newest != "" && tag.Digest == newest})
	}
	return out, broken
}

func (req ListRequest) filter() (func(string) bool, error) {
	tests := []func(string) bool{func(tag string) bool { return !signatureTag.MatchString(tag) }}
	if req.Versions {
		tests = append(tests, func(tag string) bool { _, err := semver.StrictNewVersion(tag); return err == nil })
	}
	if req.Range != "" {
		c, err := semver.NewConstraint(req.Range)
		if err != nil {
			return nil, failure("version", strconv.Quote(req.Range)+" is no range of versions", `write one like ">=1.2 <2" or 1.x`)
		}
		tests = append(tests, func(tag string) bool {
			v, err := semver.StrictNewVersion(tag)
			return err == nil && c.Check(v)
		})
	}
	if req.Regexp != "" {
		re, err := boundedregexp.Compile(req.Regexp)
		if err != nil {
			return nil, failure("regexp", "the filter is no regular expression: "+err.Error(), "")
		}
		tests = append(tests, re.MatchString)
	}
	return func(tag string) bool {
		return !slices.ContainsFunc(tests, func(ok func(string) bool) bool { return !ok(tag) })
	}, nil
}

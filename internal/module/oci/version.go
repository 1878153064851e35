package oci

import (
	"cmp"
	"slices"
	"strings"

	"github.com/Masterminds/semver/v3"

	"hawser.dev/hawser/internal/lazyregexp"
)

// wish is what a version in a bundle means.
type wish struct {
	// tags are the names to look for, in this order; nil for ranges.
	tags []string
	// within is the range; newest of it is meant.
	within *semver.Constraints
	// exact is set when the version is a full semantic version.
	exact bool
}

var (
	tagForm = lazyregexp.New(`^[A-Za-z0-9_][A-Za-z0-9._-]{0,127}$`)
	// versionForm is what an artifact may say of itself: a tag, or the version that it spells.
	versionForm = lazyregexp.New(`^[A-Za-z0-9_][A-Za-z0-9._+-]{0,127}$`)
	// partial versions are ranges: 1, 1.4, 1.x, v2.*
	partial = lazyregexp.New(`^v?(\d+|[xX*])(\.(\d+|[xX*])){0,2}$`)
)

// readVersion says what a version means: "" the newest stable one, 1.4.2 the tag of that name (with or without v), a
// range the newest in it, anything else a tag.
func readVersion(v string) (wish, error) {
	if v == "" {
		v = "*"
	}
	bare := strings.TrimPrefix(v, "v")
	if _, err := semver.StrictNewVersion(bare); err == nil {
		tag := strings.ReplaceAll(bare, "+", "_") // a tag has no +; Helm writes _ for it
		tags := []string{tag, "v" + tag}
		if v != bare {
			slices.Reverse(tags)
		}
		return wish{tags: tags, exact: true}, nil
	}
	if tagForm.MatchString(v) && !partial.MatchString(v) {
		return wish{tags: []string{v}}, nil
	}
	within, err := semver.NewConstraint(v)
	if err != nil {
		return wish{}, failure("version-syntax", "the version "+quote(v)+" is neither a version, a tag nor a range", err.Error(),
			"for example 1.4.2, 1.x, ^1.4, \">=1.4 <2\" or a tag")
	}
	return wish{within: within}, nil
}

// versionOf is the semantic version that a tag spells, nil when it spells none.
func versionOf(tag string) *semver.Version {
	v, err := semver.StrictNewVersion(strings.ReplaceAll(strings.TrimPrefix(tag, "v"), "_", "+"))
	if err != nil {
		return nil
	}
	return v
}

// newest is the tag with the highest version in a range, "" when there is none. Pre-releases are in a range only if
// it names one.
func newest(tags []string, within *semver.Constraints) string {
	var best string
	var version *semver.Version
	for _, tag := range tags {
		v := versionOf(tag)
		if v == nil || !within.Check(v) {
			continue
		}
		if version == nil || order(v, version, tag, best) < 0 {
			best, version = tag, v
		}
	}
	return best
}

// order puts higher versions first, and of equal ones the shorter name, then the smaller.
func order(a, b *semver.Version, x, y string) int {
	return cmp.Or(b.Compare(a), cmp.Compare(len(x), len(y)), cmp.Compare(x, y))
}

// sortTags puts semantic versions first, the newest of them first, then the other names.
func sortTags(tags []string) {
	slices.SortFunc(tags, func(x, y string) int {
		a, b := versionOf(x), versionOf(y)
		switch {
		case a != nil && b != nil:
			return order(a, b, x, y)
		case a != nil:
			return -1
		case b != nil:
			return 1
		}
		return cmp.Compare(x, y)
	})
}

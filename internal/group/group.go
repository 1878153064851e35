// Package group puts the clusters together whose plans are equal. Everything in it is a pure function of values.
//
// group must not know how a plan came about, or how it is printed.
package group

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"hawser.dev/hawser/internal/object"
	"hawser.dev/hawser/internal/plan"
)

// Group is a set of clusters whose plans are equal. Equal means: the same changes with the same fields and whys; cluster
// names, uids, resource versions and what is written besides the fields shown do not count. Where no fields are shown and
// what is written differs within a group, Variants says so and where; where it differs from that of the group As names, the
// change is among Extra. What is made is not told here: the plans of the clusters have it.
type Group struct {
	// Letter names the group: A, B, ... Z, AA.
	Letter   string   `json:"letter"`
	Clusters []string `json:"clusters"`
	// As is the letter of an earlier group whose changes this one contains entirely ("" if none): then only Extra
	// needs to be shown.
	As    string        `json:"as,omitempty"`
	Extra []plan.Change `json:"extra,omitempty"`
	// Changes are all changes of the group (without Unchanged ones), of its first cluster.
	Changes []plan.Change `json:"changes"`
	// Variants are the objects of which the clusters get different contents.
	Variants []Variants `json:"variants,omitempty"`
	// Digest identifies the group's changes.
	Digest    string `json:"digest"`
	Unchanged int    `json:"unchanged"`
}

// Variants says that one change of a group writes different contents, and which clusters get the same.
type Variants struct {
	Ref      object.Ref `json:"object"`
	Clusters [][]string `json:"clusters"`
}

// Member is one cluster's plan on its way into a group.
type Member struct {
	Cluster string
	Wave    int
	Plan    *plan.Plan
}

// Equal puts clusters with equal changes together, ordered by the first wave of a group, then by size (larger
// first), then by fleet order. Clusters without a change form no group; a nil Plan is passed over.
func Equal(members []Member) []Group {
	type bucket struct {
		group Group
		keys  []string
		wave  int
		first int
		// digests by change, for each member
		digests [][]string
	}
	var buckets []*bucket
	byDigest := map[string]*bucket{}
	for i, m := range members {
		if m.Plan == nil || len(m.Plan.Changes) == 0 {
			continue
		}
		keys := changeKeys(m.Plan.Changes)
		digest := digestOf(keys)
		b := byDigest[digest]
		if b == nil {
			b = &bucket{keys: keys, wave: m.Wave, first: i,
				group: Group{Digest: digest, Changes: m.Plan.Changes, Unchanged: m.Plan.Unchanged}}
			byDigest[digest] = b
			buckets = append(buckets, b)
		}
		b.group.Changes = undated(b.group.Changes, m.Plan.Changes)
		b.wave = min(b.wave, m.Wave)
		b.digests = append(b.digests, digestsOf(m.Plan.Changes))
		b.group.Clusters = append(b.group.Clusters, m.Cluster)
	}
	slices.SortStableFunc(buckets, func(a, b *bucket) int {
		if a.wave != b.wave {
			return a.wave - b.wave
		}
		if n := len(b.group.Clusters) - len(a.group.Clusters); n != 0 {
			return n
		}
		return a.first - b.first
	})
	groups := make([]Group, len(buckets))
	for i, b := range buckets {
		b.group.Letter = letter(i)
		b.group.Changes, b.group.Variants = withVariants(b.group.Changes, b.digests, b.group.Clusters)
		best := -1
		for j := range i {
			if contains(b.keys, buckets[j].keys) && (best < 0 || len(buckets[j].keys) > len(buckets[best].keys)) {
				best = j
			}
		}
		if best >= 0 {
			b.group.As = groups[best].Letter
			b.group.Extra = extra(b.group.Changes, b.keys, contentsOf(b.keys, b.digests), contentsOf(buckets[best].keys, buckets[best].digests), b.group.As)
		}
		groups[i] = b.group
	}
	return groups
}

// changeKeys are the changes' identities for comparison, in the changes' order.
func changeKeys(changes []plan.Change) []string {
	keys := make([]string, len(changes))
	for i, c := range changes {
		c.UID, c.ResourceVersion, c.ApplyHash, c.FormerEntries, c.ForeignDigest, c.Digest, c.Content = "", "", "", "", "", "", nil
		c.Checked, c.Fields = false, slices.Clone(c.Fields) // who was asked, and when somebody set a field, is no difference
		for k := range c.Fields {
			c.Fields[k].Since = ""
		}
		data, err := json.Marshal(c)
		if err != nil {
			panic(fmt.Sprintf("group: a change is not JSON: %v", err))
		}
		keys[i] = string(data)
	}
	return keys
}

// undated are changes without the times at which their fields were set, where these are others in the equal changes of
// another cluster.
func undated(changes, others []plan.Change) []plan.Change {
	out := slices.Clone(changes)
	for i, c := range out {
		for k, f := range c.Fields {
			if f.Since != others[i].Fields[k].Since {
				out[i].Fields = slices.Clone(out[i].Fields)
				out[i].Fields[k].Since = ""
			}
		}
	}
	return out
}

func digestsOf(changes []plan.Change) []string {
	out := make([]string, len(changes))
	for i, c := range changes {
		out[i] = c.Digest
	}
	return out
}

// withVariants is a copy of the changes without contents, which says where the members of a group write different ones.
func withVariants(changes []plan.Change, digests [][]string, clusters []string) ([]plan.Change, []Variants) {
	out := slices.Clone(changes)
	var variants []Variants
	for i := range out {
		out[i].Content = nil
		if len(out[i].Fields) > 0 {
			continue
		}
		at := map[string]int{}
		v := Variants{Ref: out[i].Ref}
		for j, d := range digests {
			k, known := at[d[i]]
			if !known {
				k, at[d[i]] = len(v.Clusters), len(v.Clusters)
				v.Clusters = append(v.Clusters, nil)
			}
			v.Clusters[k] = append(v.Clusters[k], clusters[j])
		}
		if len(v.Clusters) > 1 {
			out[i].Why = remark(out[i].Why, fmt.Sprintf("%d variants", len(v.Clusters)))
			variants = append(variants, v)
		}
	}
	return out, variants
}

func remark(why, more string) string { return strings.TrimPrefix(why+"; "+more, "; ") }

// contentsOf are the contents that the members of a group write with each change, by the change's key.
func contentsOf(keys []string, digests [][]string) map[string]map[string]bool {
	out := make(map[string]map[string]bool, len(keys))
	for i, k := range keys {
		if out[k] == nil {
			out[k] = map[string]bool{}
		}
		for _, d := range digests {
			out[k][d[i]] = true
		}
	}
	return out
}

func digestOf(keys []string) string {
	h := sha256.New()
	for _, k := range keys {
		fmt.Fprintf(h, "%d %s\n", len(k), k)
	}
	return "sha256:" + hex.EncodeToString(h.Sum(nil))
}

func contains(all, some []string) bool {
	if len(some) >= len(all) {
		return false
	}
	set := make(map[string]bool, len(all))
	for _, k := range all {
		set[k] = true
	}
	for _, k := range some {
		if !set[k] {
			return false
		}
	}
	return true
}

// extra are the changes that the base group does not have, and those of which it writes other contents that are not shown.
func extra(changes []plan.Change, keys []string, own, base map[string]map[string]bool, as string) []plan.Change {
	var out []plan.Change
	for i, c := range changes {
		there, both := base[keys[i]]
		switch {
		case !both:
			out = append(out, c)
		case len(c.Fields) == 0 && !maps.Equal(own[keys[i]], there):
			c.Why = remark(c.Why, "not the same as in "+as)
			out = append(out, c)
		}
	}
	return out
}

// letter is A..Z, AA..AZ, BA.. for 0, 1, 2, ...
func letter(i int) string {
	var b strings.Builder
	if i >= 26 {
		b.WriteString(letter(i/26 - 1))
	}
	b.WriteByte(byte('A' + i%26))
	return b.String()
}

package plan

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// Group is a set of clusters whose plans are equal. Equal means: the same changes with the same fields and whys; cluster
// names, uids, resource versions and what is written besides the fields shown do not count. Where no fields are shown and
// what is written differs within a group, Why counts the variants.
type Group struct {
	// Letter names the group: A, B, ... Z, AA.
	Letter   string   `json:"letter"`
	Clusters []string `json:"clusters"`
	// As is the letter of an earlier group whose changes this one contains entirely ("" if none): then only Extra
	// needs to be shown.
	As    string   `json:"as,omitempty"`
	Extra []Change `json:"extra,omitempty"`
	// Changes are all changes of the group (without Unchanged ones), of its first cluster.
	Changes []Change `json:"changes"`
	// Digest identifies the group's changes.
	Digest    string `json:"digest"`
	Unchanged int    `json:"unchanged"`
}

// Member is one cluster's plan on its way into a group.
type Member struct {
	Cluster string
	Wave    int
	Plan    *Plan
}

// GroupEqual puts clusters with equal changes together, ordered by the first wave of a group, then by size (larger
// first), then by fleet order. Clusters without a change form no group; a nil Plan is passed over.
func GroupEqual(members []Member) []Group {
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
		b.group.Changes = withVariants(b.group.Changes, b.digests)
		best := -1
		for j := range i {
			if contains(b.keys, buckets[j].keys) && (best < 0 || len(buckets[j].keys) > len(buckets[best].keys)) {
				best = j
			}
		}
		if best >= 0 {
			b.group.As = groups[best].Letter
			b.group.Extra = extra(b.group.Changes, b.keys, buckets[best].keys)
		}
		groups[i] = b.group
	}
	return groups
}

// changeKeys are the changes' identities for comparison, in the changes' order.
func changeKeys(changes []Change) []string {
	keys := make([]string, len(changes))
	for i, c := range changes {
		c.UID, c.ResourceVersion, c.Own, c.Digest = "", "", "", ""
		data, err := json.Marshal(c)
		if err != nil {
			panic(fmt.Sprintf("plan: a change is not JSON: %v", err))
		}
		keys[i] = string(data)
	}
	return keys
}

func digestsOf(changes []Change) []string {
	out := make([]string, len(changes))
	for i, c := range changes {
		out[i] = c.Digest
	}
	return out
}

// withVariants is a copy of the changes that says where the members of a group write different content.
func withVariants(changes []Change, digests [][]string) []Change {
	out := slices.Clone(changes)
	for i := range out {
		distinct := map[string]bool{}
		for _, d := range digests {
			distinct[d[i]] = true
		}
		if len(distinct) > 1 && len(out[i].Fields) == 0 {
			out[i].Why = strings.TrimPrefix(out[i].Why+fmt.Sprintf("; %d variants, by cluster", len(distinct)), "; ")
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

func extra(changes []Change, keys, base []string) []Change {
	in := make(map[string]bool, len(base))
	for _, k := range base {
		in[k] = true
	}
	var out []Change
	for i, c := range changes {
		if !in[keys[i]] {
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

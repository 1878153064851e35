package source

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"hawser.dev/hawser/api/v1alpha1"
)

// Head is the digest of a bundle's documents (program is theirs), of what its sources are, of the files that values were read
// from (their digests by path), of the environment's values that the documents read, and of the fleet's rollout; the fleet may be nil.
func Head(program string, used []Use, values, env map[string]string, fleet *v1alpha1.FleetSpec) string {
	h := sha256.New()
	fmt.Fprintln(h, "files", program)
	for _, u := range used {
		fmt.Fprintln(h, "source", u.Key(), u.Resolved.Digest)
	}
	for _, digest := range slices.Sorted(maps.Values(values)) { // without paths: they differ from machine to machine
		fmt.Fprintln(h, "values", digest)
	}
	for _, name := range slices.Sorted(maps.Keys(env)) {
		fmt.Fprintln(h, "runtime", strconv.Quote(name), strconv.Quote(env[name]))
	}
	if fleet != nil {
		data, _ := json.Marshal(fleet.Rollout)
		fmt.Fprintln(h, "rollout", string(data))
	}
	return "sha256:" + hex.EncodeToString(h.Sum(nil))
}

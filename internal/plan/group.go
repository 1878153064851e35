package plan

// Group is a set of clusters whose plans are equal. Equal means: the same changes with the same fields, whys and
// digests; cluster names, uids and resource versions do not count.
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

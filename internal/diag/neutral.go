package diag

import "regexp"

var (
	addresses = regexp.MustCompile(`https?://[^\s,;")]+|\b\d{1,3}(\.\d{1,3}){3}(:\d+)?\b|\[[0-9a-fA-F:]+\](:\d+)?`)
	ages      = regexp.MustCompile(`\b\d+ (second|minute|hour|day)s? ago\b|\bjust now\b`)
)

// Neutral is a text without what is another one on each cluster and says nothing of a mistake: the cluster's name, addresses
// and ages. Texts that are equal then are one message.
func Neutral(text, cluster string) string {
	if cluster != "" {
		name := regexp.QuoteMeta(cluster)
		text = regexp.MustCompile(`(^|[^\w-])cluster `+name+`($|[^\w-])`).ReplaceAllString(text, "${1}the cluster$2")
		text = regexp.MustCompile(`(^|[^\w.-])`+name+`($|[^\w-])`).ReplaceAllString(text, "${1}<cluster>$2")
	}
	return ages.ReplaceAllString(addresses.ReplaceAllString(text, "<address>"), "some time ago")
}

package diag

import (
	"fmt"
	"regexp"
	"strings"

	"hawser.dev/hawser/internal/lazyregexp"
)

var (
	addresses = lazyregexp.New(`https?://[^\s,;")]+|\b\d{1,3}(\.\d{1,3}){3}(:\d+)?\b|\[[0-9a-fA-F:]+\](:\d+)?`)
	uids      = lazyregexp.New(`\b[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b`)
	ages      = lazyregexp.New(`\b\d+ (second|minute|hour|day)s? ago\b|\bjust now\b`)
)

// Neutral is a text without what is another one on each cluster and says nothing of a mistake: the cluster's name, addresses,
// UIDs and ages. Texts that are equal then are one message.
func Neutral(text, cluster string) string {
	if cluster != "" {
		name := regexp.QuoteMeta(cluster)
		text = regexp.MustCompile(`(^|[^\w-])(?:the )?cluster `+name+`($|[^\w-])`).ReplaceAllString(text, "${1}the cluster$2")
		text = regexp.MustCompile(`(^|[^\w.-])`+name+`($|[^\w-])`).ReplaceAllString(text, "${1}<cluster>$2")
	}
	text = uids.ReplaceAllString(addresses.ReplaceAllString(text, "<address>"), "<uid>")
	return ages.ReplaceAllString(text, "some time ago")
}

// Likewise is a text for several clusters that is neutral: where something was taken out of it, it is the text of the first, and how many more say so.
func Likewise(neutral, first string, more int) string {
	for _, out := range []string{"<cluster>", "<address>", "<uid>"} {
		if more > 0 && strings.Contains(neutral, out) {
			return fmt.Sprintf("%s, and %d more likewise", first, more)
		}
	}
	return neutral
}

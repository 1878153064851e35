package diag

import (
	"strconv"
	"strings"
)

// mostNamed is how many names OneOf lists.
const mostNamed = 12

// OneOf is DidYouMean, and where nothing is close the names there are: "there is: a, b"; "" where there are none. A name
// that is two items of a list is said to be that.
func OneOf(name string, candidates []string) string {
	if strings.Contains(name, " - ") { // a plain text of YAML goes on in lines that are indented deeper
		return "the next line is indented as a part of this item: begin it below the dash of this one"
	}
	if near := DidYouMean(name, candidates); near != "" || len(candidates) == 0 {
		return near
	}
	if n := len(candidates) - mostNamed; n > 1 {
		return "there is: " + strings.Join(candidates[:mostNamed], ", ") + " and " + strconv.Itoa(n) + " more"
	}
	return "there is: " + strings.Join(candidates, ", ")
}

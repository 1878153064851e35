package answer

import "time"

// What all pages of one list may be, and may take together.
const (
	maxPages = 5000
	ListTime = 5 * time.Minute
)

// Pages follows a list that is read page by page. Its zero value stands before the first one.
type Pages struct {
	read int
	last string
}

// Next is asked with each page that was read: how many items it had, and its token for the next one. Endless: the list is
// given up, as a page brought nothing but the way to another one, gave the token that led to it, or was one too many.
func (p *Pages) Next(items int, token string) (endless bool) {
	p.read++
	endless = token != "" && (items == 0 || token == p.last || p.read >= maxPages)
	p.last = token
	return endless
}

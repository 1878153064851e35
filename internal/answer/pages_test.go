package answer

import (
	"strconv"
	"testing"
)

func TestPages(t *testing.T) {
	type page struct {
		items int
		token string
	}
	for _, c := range []struct {
		because string
		pages   []page
		at      int // the page at which it is given up, from 1; 0: it ends
	}{
		{"one page", []page{{3, ""}}, 0},
		{"an empty list", []page{{0, ""}}, 0},
		{"three pages", []page{{3, "a"}, {3, "b"}, {1, ""}}, 0},
		{"an empty last page", []page{{3, "a"}, {0, ""}}, 0},
		{"the same token", []page{{3, "a"}, {3, "a"}}, 2},
		{"nothing, and a token", []page{{0, "a"}}, 1},
		{"nothing any more", []page{{3, "a"}, {0, "b"}}, 2},
	} {
		var p Pages
		got := 0
		for i, page := range c.pages {
			if p.Next(page.items, page.token) {
				got = i + 1
				break
			}
		}
		if got != c.at {
			t.Errorf("%s: given up at page %d, want %d", c.because, got, c.at)
		}
	}
	var p Pages
	for n := 1; ; n++ {
		if p.Next(1, strconv.Itoa(n)) {
			if n != maxPages {
				t.Errorf("a list of new tokens is given up at page %d", n)
			}
			break
		}
	}
}

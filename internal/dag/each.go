package dag

import (
	"hawser.dev/hawser/internal/broke"
)

// Each runs fn for 0..n-1, at most limit at once (all for 0), and waits for all.
func Each(n, limit int, fn func(i int)) {
	if limit <= 0 || limit > n {
		limit = n
	}
	var wg broke.Group
	next := make(chan int)
	for range limit {
		wg.Go(func() {
			for i := range next {
				fn(i)
			}
		})
	}
	for i := range n {
		next <- i
	}
	close(next)
	wg.Wait()
}

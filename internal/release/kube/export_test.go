package kube

import "hawser.dev/hawser/internal/release"

// SmallChunks makes a store put no more than n bytes into a Secret, so that small records overflow as big ones do.
func SmallChunks(s release.Store, n int) release.Store {
	s.(*Store).chunk = n
	return s
}

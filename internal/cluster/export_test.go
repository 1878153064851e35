package cluster

import "time"

// ShortenSilence lets a watch be silent for d only, until restore.
func ShortenSilence(d time.Duration) (restore func()) {
	old := silentFor
	silentFor = d
	return func() { silentFor = old }
}

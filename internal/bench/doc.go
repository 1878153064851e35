//go:build bench

// Package bench measures Hawser against its budgets on real API servers, as a user sees it: the release binary is run
// as a process, its wall clock, memory and output are taken from outside, and its requests are counted in the audit
// logs of the API servers.
//
//	go test -tags bench -count=1 -timeout 60m -v ./internal/bench
//
// Times are compared only with times of the same run: the floor is a bare loop of parallel server-side-apply PATCHes
// of the same objects to the same servers, and product and floor take turns. A time over its budget is printed and
// never fails; a count (requests, renders) off its budget fails. HAWSER_BENCH_REPS (5) is how often everything is
// repeated, HAWSER_BENCH_CLUSTERS (30) the most clusters. Linux only.
//
// bench must not know how Hawser works: only the binary is run. The one exception are rows that compare a renderer with
// the library behind it, in one process.
package bench

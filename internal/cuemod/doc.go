// Package cuemod is a CUE module on disk as bundles see it: its root above a directory, CUE's loader over files that are
// in memory, and what may be imported and embedded from it. Nothing is fetched, and no link leads out of the module but
// those of vendored CUE.
//
// cuemod must not know bundles, fleets or clusters, nor what a file means.
package cuemod

// Package cuelang holds what the rooms that read or evaluate CUE share: errors turned into findings with the user's
// own positions, limits for sources, data as syntax trees (field order, int and float, bytes and strings kept apart),
// their overlay and digest, how the files of a CUE module
// are read, and a watchdog for evaluations that cannot be cancelled.
//
// "Data" means a tree of struct, list and basic literals only: no references, no operators (but a sign), unique labels.
//
// cuelang must not know bundles, modules or Kubernetes, nor what an expression is evaluated for.
package cuelang

// Version is the version of the CUE language library; a part of every digest of something CUE decided. It is pinned
// here and checked by a test against go.mod, because field order may change between versions.
const Version = "v0.17.1"

// SchemaSuffix marks the file names of Hawser's own schemas: their positions are never shown to a user.
const SchemaSuffix = ".schema.cue"

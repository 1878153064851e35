// Package packaging makes what is handed out of a version: an archive per platform, a bill of materials of each binary,
// and the checksums of all. Equal binaries and equal times give equal bytes.
//
// packaging must not know what the binaries do, nor run anything: its command builds, it packs.
package packaging

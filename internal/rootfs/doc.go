// Package rootfs reads the files of a directory so that neither a name nor a link leads out of it, and nothing of a
// repository's own .git is read: what a document names may come from a stranger's pull request.
//
// rootfs must not know what the files mean, and never writes.
package rootfs

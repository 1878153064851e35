// Package nofollow reads, writes and removes below a directory that somebody named, and follows no link there, at any level: who can put
// files into a directory, as a contributor into a repository, may have put a link in the place of what is written.
//
// nofollow must not know what the files are.
package nofollow

// Package isolate has documents evaluated, instances rendered and health checks judged in child processes of the same program,
// so that what never ends, or takes all memory, ends a child and leaves a finding: never the process that holds locks.
//
// A Pool starts children as they are needed and asks each of them one question at a time, so that it is certain which question
// ended one: it alone has a finding, and the next question gets another child. A child is asked over its standard input and
// answers over its standard output: what is secret passes there and nowhere else. It has no environment to speak of, is in a
// process group of its own and ends with its parent. While it works it may ask back: what a redactor knows, and whatever is made up,
// stays with the parent.
//
// isolate must not know how anything is evaluated, rendered or judged: it implements the sockets of the rooms that do, and
// hands on to what the wiring put into the same sockets on the other side. It is no sandbox: a child reads what its parent may.
package isolate

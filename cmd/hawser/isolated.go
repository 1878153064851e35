package main

import (
	"os"
	"runtime"
	"strconv"
	"sync"

	"hawser.dev/hawser/internal/engine"
	"hawser.dev/hawser/internal/health"
	"hawser.dev/hawser/internal/isolate"
	"hawser.dev/hawser/internal/redact"
)

// isolated is the command that a child is started with: this program starts it, and nobody else has a use for it.
const isolated = "isolated"

// isolation is whether children evaluate and render, and the pool of them: one for the process.
type isolation struct {
	on   bool // as the flag says, else the environment
	once sync.Once
	pool *isolate.Pool
	// beyond judges by health checks in children also where children are not wanted: by those of records, and when checks that never end go
	// on in this process.
	beyond health.Checker
}

// children are those of this process.
var children isolation

// switched takes what the flag says, or the environment.
func (i *isolation) switched(text string) (err error) {
	i.on, err = strconv.ParseBool(text)
	return err
}

// into puts children into the sockets of an engine, where that is wanted.
func (i *isolation) into(e *engine.Engine, redactor *redact.Redactor) {
	if !i.on {
		return
	}
	i.make(redactor)
	e.Elsewhere = i.pool.Documents()
	e.Renderers = i.pool.Renderers(e.Renderers, "module", "manifests")
	e.Checker = i.pool.Checker(e.Checker)
}

// make makes the pool; no child is started.
func (i *isolation) make(redactor *redact.Redactor) {
	i.once.Do(func() {
		i.pool = isolate.New(isolate.Options{Command: []string{self(), isolated}, Environment: childEnvironment, Build: version, Limits: evaluationLimit,
			Redact: redactor.Redact, Learn: redactor.AddFor})
		i.beyond = i.pool.Checker(health.Checkers{})
	})
}

// childEnvironment is added to the environment of children.
var childEnvironment []string

// self is this program: on Linux the one that runs, even when its file was replaced.
func self() string {
	if runtime.GOOS == "linux" {
		return "/proc/self/exe"
	}
	path, err := os.Executable()
	if err != nil {
		return os.Args[0]
	}
	return path
}

// serve is the whole life of a child. What libraries print goes where the parent does not take it for an answer.
func serve() int {
	out := os.Stdout
	os.Stdout = os.Stderr
	return isolate.Serve(isolate.Child{In: os.Stdin, Out: out, Build: version, Sockets: evaluating})
}

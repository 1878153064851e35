package kube

import (
	"os"
	"strconv"
	"strings"
)

func decimal(n int) string { return strconv.Itoa(n) }

// processAnnotations say which process holds a lock; nil where that cannot be told.
func processAnnotations() map[string]string {
	m := machine()
	if m == "" {
		return nil
	}
	pid := os.Getpid()
	ticks, _ := started(pid)
	return map[string]string{annotationMachine: m, annotationProcess: decimal(pid) + "/" + ticks}
}

// processGone reports that a lock's process ran on this machine and runs no more. When in doubt it does.
func processGone(annotations map[string]string) bool {
	m := machine()
	if m == "" || annotations[annotationMachine] != m {
		return false
	}
	id, ticks, _ := strings.Cut(annotations[annotationProcess], "/")
	pid, err := strconv.Atoi(id)
	if err != nil || pid <= 0 {
		return false
	}
	now, runs := started(pid)
	return !runs || now != "" && ticks != "" && now != ticks
}

package main

import "testing"

const plainJob = `
-- m/job.yaml --
apiVersion: batch/v1
kind: Job
metadata: {name: once}
spec:
  backoffLimit: 0
  template:
    spec:
      restartPolicy: Never
      containers: [{name: main, image: "example.com/crashing:1"}]
`

// TestJobsAreGates: a Job of an instance that fails fails the cluster with its own reason at once; one that completed
// is not run again; one whose template changed has to be made again, which says how.
func TestJobsAreGates(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.files(plainBundle + plainJob)
	const on = "production-us"
	s.worker(on, s.ns)
	run := func(code int, args ...string) result {
		return s.want(code, append(args, "-f", "bundle.yaml", "--kube-context", on)...)
	}
	r := run(4, "apply", "-y")
	s.has(r.Stdout+r.Stderr, "Job $NS/once", "the job failed: BackoffLimitExceeded")

	s.edit("m/job.yaml", "crashing:1", "works:1")
	r = run(5, "plan")
	s.has(r.Stdout+r.Stderr, "immutable", "--recreate", "the finished or running job; it runs again")
	run(0, "apply", "-y", "--recreate")
	first := s.uid(on, "apis/batch/v1/namespaces/$NS/jobs/once")
	s.mark()
	run(0, "apply", "-y")
	s.untouched(on)
	if now := s.uid(on, "apis/batch/v1/namespaces/$NS/jobs/once"); now != first {
		t.Error("a completed job was run again")
	}
}

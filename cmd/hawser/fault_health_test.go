package main

import (
	"fmt"
	"net/http"
	"testing"
	"time"
)

// faultDeployment is a workload; the package's clusters have no controllers, so it gets ready only when a test says so.
const faultDeployment = `
-- m/deployment.yaml --
apiVersion: apps/v1
kind: Deployment
metadata: {name: api}
spec:
  replicas: 1
  selector: {matchLabels: {app: api}}
  template:
    metadata: {labels: {app: api}}
    spec: {containers: [{name: api, image: "registry.example.com/api:1"}]}
`

// plays the Deployment controller: the status of a generation that is rolled out.
func (s *scene) rolledOut(cluster string, generation int64) {
	s.t.Helper()
	s.admin(cluster, http.MethodPatch, "apis/apps/v1/namespaces/$NS/deployments/api/status", fmt.Sprintf(`{"status": {
		"observedGeneration": %d, "replicas": 1, "updatedReplicas": 1, "readyReplicas": 1, "availableReplicas": 1,
		"conditions": [{"type": "Available", "status": "True"}, {"type": "Progressing", "status": "True", "reason": "NewReplicaSetAvailable"}]}}`, generation))
}

func (s *scene) generation(cluster string) int64 {
	s.t.Helper()
	if o := s.get(cluster, "apis/apps/v1/namespaces/$NS/deployments/api"); o != nil {
		return o.Metadata.Generation
	}
	return 0
}

// The status still shows the health of the generation before: the wave waits, and production sees no write, until the
// controller has seen what was written now.
func TestFault07HealthOfAnOlderGeneration(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.files(faultFleet + faultBundle + faultDeployment)
	s.want(0, onFleet("apply", "-y", "--wait=false")...)
	for _, c := range clusters {
		s.rolledOut(c, 1)
	}
	s.want(0, "status", s.bundle, "--fleet", "fleet.yaml")
	s.want(0, onFleet("apply", "-y")...) // closes the records

	s.edit("m/deployment.yaml", "api:1", "api:2")
	s.mark()
	p := s.start(onFleet("apply", "-y", "--timeout", "15m")...)
	eventually(t, "staging is written", func() bool { return s.generation("staging") == 2 })
	time.Sleep(2 * time.Second)
	p.running("although the status was of generation 1")
	s.untouched("production-eu", "production-us")
	s.rolledOut("staging", 1) // a late status of the old generation changes nothing
	time.Sleep(time.Second)
	p.running("although the status was of generation 1 again")
	s.untouched("production-eu", "production-us")
	s.rolledOut("staging", 2)
	for _, c := range clusters[1:] {
		eventually(t, c+" is written", func() bool { return s.generation(c) == 2 })
		s.rolledOut(c, 2)
	}
	s.exits(p.end(), 0)
	s.want(0, "status", s.bundle, "--fleet", "fleet.yaml")
}

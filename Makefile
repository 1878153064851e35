# Hawser's house work. Needs Go (go.mod says which), git, make and a C compiler; nothing else is installed.
#
# PARALLEL is how many packages are compiled and tested at a time: every package that needs clusters starts its own.

GO         ?= go
VERSION    ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
PARALLEL   ?= 2
TIMEOUT    ?= 60m
FUZZTIME   ?= 60s
STATICCHECK = honnef.co/go/tools/cmd/staticcheck@v0.8.0

# As releases are built, and tests too, so that they share what is compiled; the race detector alone needs a C compiler.
export CGO_ENABLED = 0

RESULTS = $(CURDIR)/dist/test-results.json
REPORT  = $(CURDIR)/dist/testreport -results $(RESULTS)
# The few tests that failed are tried once more, loudly: what then passes is called flaky, with its name.
AGAIN   = -again $(GO)
# Nobody debugs the test binaries: without DWARF they are linked in half the time; `make lint` vets them. A package's tests
# wait for API servers more than they compute, so more of them than there are processors go on at once.
TESTFLAGS = -json -count=1 -vet=off -parallel 4 -timeout $(TIMEOUT) -ldflags=-w
STARTED := $(shell date +%s)
# The sandbox is compiled as sandbox/build.sh does it, so that the cache serves both.
IN_SANDBOX = cd sandbox && GOFLAGS='-trimpath -buildvcs=false'
# Rooms whose tests are about things that happen at once; engine and cluster start an API server each for it.
RACE = ./internal/release/blob ./internal/kubeapi ./internal/history ./internal/dag ./internal/rollout ./internal/passes ./internal/lease ./internal/redact ./internal/secret ./internal/plan ./internal/document ./internal/render ./internal/render/cue \
	./internal/report ./internal/values ./internal/source ./internal/once ./internal/sessions ./internal/engine ./internal/cluster

.PHONY: help build hawser sandbox test lint vet race crash cross bench demo fuzz fuzz-list corpus compare-helm docs release clean

help: ## what there is to make
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## (.*)/\1|\2/' | awk -F'|' '{printf "  make %-10s %s\n", $$1, $$2}'

build: hawser sandbox ## bin/hawser and bin/hawser-sandbox

hawser:
	@mkdir -p bin
	$(GO) build -ldflags '-s -w -X main.version=$(VERSION)' -o bin/hawser ./cmd/hawser

sandbox:
	@sandbox/build.sh bin/hawser-sandbox >/dev/null

# Three streams of `go test -json` go into one file of results: this module, the sandbox's, and the acceptance check,
# which reads what the other two did. The sandbox's tests wait more than they compute: they run beside the others, and are
# told behind them. The last line is the total of all, the one before it says how long it took.
test: build ## every test, real API servers included; then docs/acceptance.md against what ran
	@mkdir -p dist && rm -f $(RESULTS)
	@$(GO) build -o dist/testreport ./internal/acceptance/cmd/testreport
	@trap 'kill 0' INT; { $(IN_SANDBOX) $(GO) test $(TESTFLAGS) -p 1 ./... || echo '{"Action":"exit","Output":"go test of the sandbox failed"}'; } >dist/sandbox-tests.json & \
	{ $(GO) test $(TESTFLAGS) -p $(PARALLEL) ./... || echo '{"Action":"exit","Output":"go test of hawser failed"}'; } | $(REPORT) $(AGAIN) -more; \
	told=$$?; wait; $(REPORT) -more <dist/sandbox-tests.json && exit $$told
	@{ HAWSER_TEST_RESULTS=$(RESULTS) $(GO) test -json -count=1 ./internal/acceptance || echo '{"Action":"exit","Output":"the acceptance check failed"}'; } | $(REPORT) -since $(STARTED)

lint: vet ## gofmt, go vet, the house rules (internal/arch), staticcheck
	@files=$$(gofmt -l api cmd internal sandbox docs); if [ -n "$$files" ]; then echo "gofmt -w $$files"; exit 1; fi
	$(GO) test -count=1 ./internal/arch
	$(GO) run $(STATICCHECK) -tags bench,corpus ./...

vet: ## go vet, the sandbox included
	$(GO) vet ./...
	$(GO) vet -tags bench,corpus ./internal/bench ./cmd/hawser ./internal/render/helm
	$(IN_SANDBOX) $(GO) vet ./...

race: ## the rooms where things happen at once, with the race detector; what it finds is never tried again
	@mkdir -p dist; { CGO_ENABLED=1 $(GO) test -race -short -vet=off -timeout $(TIMEOUT) -p $(PARALLEL) $(RACE); echo $$? > dist/race.code; } 2>&1 | tee dist/race.log; \
	if [ "$$(cat dist/race.code)" = 0 ]; then exit 0; fi; \
	if grep -q 'WARNING: DATA RACE' dist/race.log; then echo "the race detector found something"; exit 1; fi; \
	echo "flaky or broken: what failed, without a data race, is tried once more"; CGO_ENABLED=1 $(GO) test -race -short -vet=off -timeout $(TIMEOUT) -p 1 $(RACE)

# Those in which `make test` tries some points of death, spread over the run.
CRASHES = ^(TestKilledAtEveryRequest|TestKilledAtEveryRequestWithLateValues|TestHooksKilledAtEveryRequest|TestDeleteOfMadeValuesKilled|TestApprovalKilledAtEveryRequest|TestKilledRollbacks|TestKilledCorrections|TestKilledSavedPlans)$$
STORE_CRASHES = ^(TestMove|TestKilledAtEveryRequest|TestDeleteKilledAtEveryRequest)$$
DEATHS ?= all
crash: ## kills the process before and after every request of a run, and runs it again (DEATHS=3+1: every third, from the second)
	HAWSER_TEST_DEATHS=$(DEATHS) $(GO) test -count=1 -vet=off -parallel 4 -timeout $(TIMEOUT) -ldflags=-w -v -run '$(CRASHES)' ./cmd/hawser
	HAWSER_TEST_DEATHS=$(DEATHS) $(GO) test -count=1 -vet=off -parallel 4 -timeout $(TIMEOUT) -ldflags=-w -run '$(STORE_CRASHES)' ./internal/release/kube ./internal/release/blob

cross: ## go vet for the other platforms that a release is made for, tests included
	GOOS=darwin $(GO) vet ./cmd/hawser ./internal/cli ./internal/report ./internal/module/... ./internal/cache ./internal/format ./internal/built ./internal/rootfs ./internal/render/plain
	GOOS=windows $(GO) vet ./cmd/hawser ./internal/cli ./internal/report ./internal/module/... ./internal/cache ./internal/format ./internal/built ./internal/rootfs ./internal/render/plain

bench: ## measures against the budgets, on real API servers
	$(GO) test -tags bench -count=1 -timeout 60m -v ./internal/bench

demo: build ## the main job on three real clusters on this machine
	@sh examples/demo.sh

fuzz-list:
	@grep -rnoE '^func Fuzz[A-Za-z0-9_]*' --include='*_test.go' api cmd internal | sed -E 's|/[^/]*:[0-9]+:func | |' | sort

fuzz: ## every fuzz target for FUZZTIME (60s), two packages at a time; or those of ONLY='PACKAGE TARGET'
	@$(if $(ONLY),echo $(ONLY),$(MAKE) -s fuzz-list) | awk '{of[$$1] = of[$$1] " " $$2} END {for (p in of) print p of[p]}' | sort | \
	xargs -P $(PARALLEL) -L 1 .ci/fuzz $(FUZZTIME)

corpus: ## delivers a folder of manifests that nobody here wrote: DIR=...
	@test -n "$(DIR)" || { echo 'make corpus DIR=path/to/manifests'; exit 2; }
	HAWSER_CORPUS=$(abspath $(DIR)) $(GO) test -tags corpus -count=1 -timeout $(TIMEOUT) -v -run '^TestCorpus$$' ./cmd/hawser

compare-helm: ## renders a folder of charts with Helm too, and prints what differs: CHARTS=...
	@test -n "$(CHARTS)" || { echo 'make compare-helm CHARTS=path/to/charts'; exit 2; }
	HAWSER_CHARTS=$(abspath $(CHARTS)) $(GO) test -tags corpus -count=1 -timeout $(TIMEOUT) -v -run '^TestCompareHelm$$' ./internal/render/helm

docs: ## writes docs/cli and docs/schema anew, from the commands and the types
	$(GO) test -count=1 ./internal/cli -run 'Reference|Schema' -update
	$(GO) test -count=1 ./internal/report -run 'Schema' -update

release: ## archives for Linux, macOS and Windows with checksums and bills of materials, in dist/release
	@$(GO) run ./internal/packaging/cmd/package -version $(VERSION) -out dist/release $(if $(ONLY),-only $(ONLY))

clean: ## removes what was built here; the sandbox stays in its cache
	rm -rf bin dist

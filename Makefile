# pollbench: 'make help' lists what can be made.

GO ?= go
COMMIT := $(shell git rev-parse --short=12 HEAD 2>/dev/null)$(shell git diff --quiet HEAD 2>/dev/null || echo +changes)
RUN := $(GO) run -ldflags '-X main.commit=$(COMMIT)' ./cmd/pollbench

.DEFAULT_GOAL := help
FUZZTIME ?= 30s
# Go's own 10 minutes for a package are little more than the longest takes on a busy machine, with the race detector and real servers.
TESTTIME := -timeout 30m

.PHONY: bench bench-all bench-containers test check fuzz publish fidelity node node-image node-official node-test image up down help

bench: ## measure: sawtooth, sawtooth-fine and http1-vice into results/, tables on the terminal (about 2 minutes)
	$(RUN) run sawtooth sawtooth-fine http1-vice

bench-all: ## measure every scenario of RESULTS.md but those on a container (about 4 minutes)
	$(RUN) run sawtooth sawtooth-fine http1-vice last-hop crowded-browser network idle-proxy mixed-dashboard

bench-containers: node-image ## measure the sawtooth and a full search pool on a real Elasticsearch in a container (about 5 minutes; needs Docker, Java and Maven)
	$(RUN) run sawtooth saturated-node --backend container

test: ## run the tests
	$(GO) test $(TESTTIME) ./...

check: ## what every change must pass: format, vet, staticcheck, tests with the race detector
	@unformatted="$$(gofmt -l $$(git ls-files '*.go'))"; test -z "$$unformatted" || { echo "not formatted: $$unformatted"; exit 1; }
	$(GO) vet ./...
	$(GO) tool staticcheck ./...
	$(GO) mod tidy -diff
	$(GO) test -race $(TESTTIME) ./...

fuzz: ## run each fuzz target for FUZZTIME, 30s by default, two at a time
	@git grep -n '^func Fuzz' -- '*_test.go' | sed 's|\(.*\)/[^/]*_test.go:[0-9]*:func \(Fuzz[A-Za-z0-9]*\).*|\1 \2|' | \
		GO='$(GO)' xargs -n 2 -P 2 sh -c 'exec .ci/fuzz "$$0" "$$1" $(FUZZTIME)'

publish: ## RESULTS.md and its charts, from the newest results
	$(RUN) publish

fidelity: ## how far a measurement can be trusted on this machine, and whether the embedded Elasticsearch keeps to its limits: benchmarks of several minutes
	$(GO) test ./bench/run -run '^$$' -bench . -benchtime 1x -count 3 -timeout 30m
	$(GO) test ./fixtures/elastic -run '^$$' -bench WaitingGets -benchtime 3x -timeout 10m

node: ## build a real Elasticsearch, run as a plain process, into the user's cache folder or NODE_HOME (needs Java 17 and Maven)
	$(GO) run ./cmd/node $(if $(NODE_HOME),-home '$(NODE_HOME)')

node-image: ## build it, and an image of it, pollbench/node:latest (needs Docker and its engine too, and ldd)
	$(GO) run ./cmd/node -image $(if $(NODE_HOME),-home '$(NODE_HOME)')

node-official: ## add shard_delay to Elastic's own image of release VERSION, as pollbench/elasticsearch:VERSION (VERSION=8.19.0; pulls that image)
	docker build -f fixtures/node/official/Dockerfile --build-arg VERSION=$(or $(VERSION),$(error which release? VERSION=8.19.0 is one)) -t pollbench/elasticsearch:$(VERSION) fixtures/node

node-test: ## run the tests of its Java parts
	mvn -q -B -f fixtures/node/pom.xml test

image: ## build the embedded servers as an image, pollbench/embedded (needs Docker: .ci/docker start)
	@mkdir -p bin/image/certificates
	CGO_ENABLED=0 GOOS=linux $(GO) build -trimpath -ldflags '-s -w -X main.commit=$(COMMIT)' -o bin/image/pollbench ./cmd/pollbench
	docker build --quiet --file cmd/pollbench/Dockerfile --build-arg COMMIT=$(COMMIT) --build-arg VERSION=$$(sed -n 's/^const version = "\(.*\)"/\1/p' cmd/pollbench/version.go) \
		--tag pollbench/embedded:latest --tag pollbench/embedded:$(subst +,-,$(or $(filter-out +changes,$(COMMIT)),unknown)) bin/image

up: image ## start Elasticsearch, dashboard server and edge as containers, with what docker-compose.yml lets you set (needs Docker and Compose)
	@.ci/compose up

down: ## remove these containers, their network and their volume
	@.ci/compose down

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-16s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

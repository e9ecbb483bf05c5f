# Everything here works from a fresh clone with Go and bash: scripts/postgres finds, installs or starts the database.
# With DATABASE_URL set, all targets use that database instead.

SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

# As releases are built. With cgo, sqlc alone would compile Postgres' parser from C, for a minute.
export CGO_ENABLED := 0

TOOL := go tool -modfile=tools/go.mod
RELEASE := go tool -modfile=tools/release/go.mod goreleaser
# Measurements are their own module, so that the programs do not carry their dependencies.
BENCH := go build -C internal/bench -o $(CURDIR)/bin/ . && bin/bench
DATABASE := url=$$(scripts/postgres url); export DATABASE_URL=$$url
TEST_DATABASE := url=$$(scripts/postgres test-url); export TEST_DATABASE_URL=$$url
# make lint vets. Without debug tables, test binaries link in half the time.
TEST_BUILD := -vet=off -ldflags='-s -w'
# Go never caches a shuffled run.
TEST_FLAGS := -shuffle=on $(TEST_BUILD)
# Tests also wait for databases and models: a few more at once than there are cores keep the cores busy, many more only
# compete.
TEST_TOGETHER := -parallel 4
# So do packages whose long tests run: with as many at once as there are cores, two cores are idle for a third of the time.
PACKAGES_TOGETHER := -p $(shell echo $$(($$(getconf _NPROCESSORS_ONLN) + 1)))
# Packages without a short test. They take longest, so they start first, before others that wait a lot.
WHOLE := ./internal/chaos ./internal/e2e
WAITING := ./internal/eval ./internal/mover ./cmd/api ./jobs
GREMLINS := github.com/go-gremlins/gremlins/cmd/gremlins@v0.6.0
VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo devel)
# Without debug tables, programs link in half the time.
LDFLAGS := -s -w -X alfred/cmd/internal/program.version=$(VERSION)

.PHONY: bench
bench: bench/turns bench/growth bench/recall ## measure everything except peers and models, in up to an hour, on an idle machine

.PHONY: bench/cost
bench/cost: ## cost of models in a long conversation, compared with agent loops, at simulated providers; writes docs/cost.md; needs node and npm
	@$(DATABASE); $(BENCH) -o docs/cost.md cost

.PHONY: bench/growth
bench/growth: ## long sessions, large tables, memory, first words; writes docs/growth.md
	@$(DATABASE); $(BENCH) -o docs/growth.md growth

.PHONY: bench/peers
bench/peers: ## the same turn on other frameworks, bare and with the same work kept; writes docs/peers.md; needs node and npm
	@$(DATABASE); $(BENCH) -o docs/peers.md peers

.PHONY: bench/recall
bench/recall: ## quality and speed of search; writes docs/recall.md; USERS=50,1000000 for users with so many vectors, PEOPLE=directory for whole sets of conversations
	@$(DATABASE); $(BENCH) -o docs/recall.md $(if $(USERS),-users $(USERS)) $(if $(PEOPLE),-people $(PEOPLE)) recall

.PHONY: bench/turns
bench/turns: ## cost of a turn; writes docs/benchmarks.md
	@$(DATABASE); $(BENCH) -o docs/benchmarks.md

.PHONY: build
build: ## build bin/worker and bin/api
	@[ -d bin ] || echo "build: a few minutes the first time" >&2
	@go build -ldflags "$(LDFLAGS)" -o bin/ ./cmd/worker ./cmd/api

.PHONY: cassettes
cassettes: ## record real answers of the providers whose keys are set; costs a few cents
	@for name in openai anthropic gemini; do key=$$(tr a-z A-Z <<< $$name)_API_KEY; \
	if [ -n "$${!key-}" ]; then go test ./internal/llm/provider -run TestCassettes/$$name -count=1 -record; else echo "$$name: $$key is not set, its cassettes are kept"; fi; done

.PHONY: disturbed
disturbed: ## hold the demo's conversation 500 times, and each case of the suites, with errors in the models' answers; counts right, reported and wrong endings; nightly
	@$(TEST_DATABASE); DISTURBED=$(or $(TIMES),500) go test -count=1 -timeout 180m -v -run 'TestDisturbed|TestEachCaseFails' ./internal/e2e ./internal/eval

.PHONY: regret
regret: ## undo 1,000 random conversations while workers are killed, and compare the rows with the initial ones; nightly
	@$(TEST_DATABASE); ALFRED_UNDO_CONVERSATIONS=$(or $(TIMES),1000) go test -count=1 -timeout 180m -v -run 'TestUndoUnderKill|TestRandomUndos' ./internal/chaos ./internal/crud

.PHONY: chaos
chaos: ## kill everything while conversations run; writes docs/chaos.md; CHAOS=4 tries every statement
	@$(TEST_DATABASE); CHAOS=$(or $(CHAOS),1) CHAOS_REPORT=$(CURDIR)/docs/chaos.md go test -count=1 -timeout 90m -v ./internal/chaos

.PHONY: chaos/clocks
chaos/clocks: ## hold conversations with clocks that are an hour off or jump; builds the standard library once; writes its part of docs/chaos.md; nightly
	@$(TEST_DATABASE); CLOCKS=1 CHAOS_REPORT=$(CURDIR)/docs/chaos.md go test -count=1 -timeout 60m -v -run TestK06 ./internal/chaos

.PHONY: chaos/move
chaos/move: ## move users between databases while they talk and everything is killed; writes its part of docs/chaos.md
	@$(TEST_DATABASE); CHAOS=$(or $(CHAOS),1) CHAOS_REPORT=$(CURDIR)/docs/chaos.md go test -count=1 -timeout 90m -v -run TestMoves ./internal/chaos

.PHONY: db/reset
db/reset: build ## drop and rebuild Alfred's schema; with DATABASE_URL set needs CONFIRM=yes
	@if [ -n "$${DATABASE_URL-}" ] && [ "$(CONFIRM)" != yes ]; then echo "this drops all of Alfred's data in DATABASE_URL: make db/reset CONFIRM=yes" >&2; exit 1; fi
	@$(DATABASE); bin/worker migrate down --all; bin/worker migrate up

.PHONY: demo
demo: ## hold a scripted conversation and check every fact; exits non-zero if one is wrong
	@scripts/demo

.PHONY: fuzz
fuzz: ## run each fuzz test for ten seconds, or TIME=1m
	@$(TEST_DATABASE); grep -ro '^func Fuzz[A-Za-z]*' --include='*_test.go' . | while IFS=: read -r file name; do \
	go test "$$(dirname "$$file")" -run '^$$' -fuzz "^$${name#func }$$" -fuzztime $(or $(TIME),10s); done

.PHONY: generate
generate: ## write db/ from sql/, client/ from the API, the page from its sources, and the generated documents
	@$(TOOL) sqlc generate
	@$(TEST_DATABASE); go test -count=1 . ./cmd/internal/reference -run Documented -update
	@scripts/clients
	@scripts/page

.PHONY: help
help: ## list the targets
	@scripts/make-help $(MAKEFILE_LIST)

.PHONY: lint
lint: ## run the linters (the first run builds them)
	@$(TOOL) golangci-lint run
	@cd internal/bench && go tool -modfile=../../tools/go.mod golangci-lint run

.PHONY: logs
logs: ## follow the logs of make run
	@tail -n 50 -F .alfred/worker.log .alfred/api.log

.PHONY: migrate
migrate: build ## migrate the database
	@$(DATABASE); bin/worker migrate up

.PHONY: mutants
mutants: ## alter PACKAGE's code place by place and list the changes that its tests miss; takes minutes to hours
	@$(TEST_DATABASE); GOFLAGS=-short go run $(GREMLINS) unleash --workers 2 --timeout-coefficient 10 --output-statuses lt ./$(or $(PACKAGE),registry)

.PHONY: page
page: ## build the page of internal/httpapi/web/assets; needs node and npm
	@scripts/page

.PHONY: pictures
pictures: ## redraw the README's pictures in a headless browser
	@$(TEST_DATABASE); CI=1 go test -count=1 ./internal/e2e -run TestPage -pictures

.PHONY: psql
psql: ## open psql with Alfred's search path
	@$(DATABASE); PGOPTIONS="-c search_path=alfred,public,kitchen" psql "$$DATABASE_URL"

.PHONY: nightly
nightly: ## run every case of the tests that test/full samples: alterations of tables, suites of conversations, twenty tabs; nightly
	@$(TEST_DATABASE); NIGHTLY=1 go test -count=1 -timeout 60m $(TEST_TOGETHER) -run 'TestK01|TestY01|TestSuitesPass' ./internal/crud ./internal/e2e ./internal/eval

.PHONY: notices
notices: ## write the licenses of everything linked into the programs to bin/THIRD_PARTY_NOTICES
	@scripts/notices bin/THIRD_PARTY_NOTICES

.PHONY: release
release: ## publish the checked-out tag as .goreleaser.yaml says
	@$(RELEASE) release --clean

.PHONY: release/check
release/check: ## check .goreleaser.yaml (the first run builds goreleaser, which takes minutes)
	@$(RELEASE) check

.PHONY: release/schema
release/schema: ## keep this checkout's schema for the tests of migrating from VERSION
	@scripts/release-schema $(VERSION)

.PHONY: release/snapshot
release/snapshot: ## build a release into dist/ without publishing
	@$(RELEASE) release --snapshot --clean

.PHONY: run
run: build ## start everything and print the page's address
	@scripts/run start

.PHONY: soak
soak: ## everything at once for half an hour with a fixed seed; writes its part of docs/chaos.md; nightly
	@$(TEST_DATABASE); CHAOS=1 CHAOS_SEED=$(or $(SEED),1) SOAK=$(or $(SOAK),30m) CHAOS_REPORT=$(CURDIR)/docs/chaos.md go test -count=1 -timeout 90m -v -run 'TestSoak$$' ./internal/chaos

.PHONY: stop
stop: ## stop everything make run started, including its private database
	@scripts/run stop
	@ALFRED_RUN_DIR=.alfred/demo scripts/run stop
	@scripts/postgres stop main

.PHONY: test
test: ## run all but the long tests (whole programs, browsers, exhaustive ones) of packages changed since they last passed
	@$(TEST_DATABASE); go test -short $(TEST_TOGETHER) $(TEST_BUILD) $$(go list ./... | grep -vxF "$$(go list $(WHOLE))") && go test -C internal/bench -short $(TEST_BUILD) ./...

.PHONY: test/full
test/full: ## run all tests, including conversations, browsers, the documents' commands and crashes
	@$(TEST_DATABASE); go test -timeout 60m $(PACKAGES_TOGETHER) $(TEST_TOGETHER) $(TEST_FLAGS) $(WHOLE) $(WAITING) ./... && go test -C internal/bench $(TEST_FLAGS) ./...

.PHONY: test/race
test/race: ## run the tests of make test with the race detector
	@$(TEST_DATABASE); CGO_ENABLED=1 go test -short -race $(TEST_FLAGS) ./...

.PHONY: verify
verify: ## check generated code, queries, go.mod and formatting
	@scripts/verify

.PHONY: vuln
vuln: ## look for known vulnerabilities in dependencies
	@$(TOOL) govulncheck ./...

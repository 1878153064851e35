#!/bin/sh
# Builds hawser-sandbox, unless a binary made of exactly these sources is in the cache, and prints its path.
#
#   sandbox/build.sh [OUT]      with OUT, the binary is also put there (linked where possible, else copied)
#
# The cache is ${HAWSER_SANDBOX_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/hawser/sandbox}/HASH/hawser-sandbox. Two callers
# never build at once: the second waits for the first. Needs Go and a POSIX shell; a cold build takes minutes.
set -eu

KUBERNETES_MAJOR=1
KUBERNETES_MINOR=36
KUBERNETES_VERSION=v1.36.3

here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd -P)
say() { printf '%s\n' "sandbox/build.sh: $*" >&2; }

if command -v sha256sum >/dev/null 2>&1; then
	sum() { sha256sum; }
else
	sum() { shasum -a 256; }
fi

# Everything that goes into the binary, each file with its name; tests do not.
sources() {
	find . \( -name '*.go' ! -name '*_test.go' -o -path './controlplane/stages/*.yaml' \
		-o -path ./go.mod -o -path ./go.sum -o -path ./build.sh \) -type f | LC_ALL=C sort
}
hash=$(cd "$here" && { go env GOVERSION GOOS GOARCH; sources | while IFS= read -r f; do
	printf '%s %s\n' "$f" "$(wc -c <"$f")"
	cat "$f"
done; } | sum | cut -c1-20)

cache=${HAWSER_SANDBOX_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/hawser/sandbox}
dir=$cache/$hash
binary=$dir/hawser-sandbox
lock=$cache/build.lock

# A lock is a directory, because making one is atomic everywhere; its holder's process id tells a stale one. Taking
# over a stale one is itself a rename, so that only one of several waiters does it.
release() { rm -rf "$lock"; }
acquire() {
	waited=0
	until mkdir "$lock" 2>/dev/null; do
		holder=$(cat "$lock/pid" 2>/dev/null || echo '')
		if [ -n "$holder" ] && ! kill -0 "$holder" 2>/dev/null; then
			say "the build of process $holder was interrupted; taking over"
			mv "$lock" "$lock.stale.$$" 2>/dev/null && rm -rf "$lock.stale.$$"
			continue
		fi
		[ $((waited % 30)) -ne 0 ] || say "waiting for another build (process ${holder:-unknown})"
		waited=$((waited + 1))
		if [ -z "$holder" ] && [ "$waited" -gt 20 ]; then
			mv "$lock" "$lock.stale.$$" 2>/dev/null && rm -rf "$lock.stale.$$"
		fi
		sleep 1
	done
	trap release EXIT
	trap 'exit 130' INT
	trap 'exit 143' TERM HUP
	echo $$ >"$lock/pid"
}

build() {
	version=k8s.io/component-base/version
	say "building hawser-sandbox for Kubernetes $KUBERNETES_VERSION; a cold build takes some minutes"
	tmp=$dir/.hawser-sandbox.$$
	(cd "$here" && CGO_ENABLED=0 GOFLAGS=-buildvcs=false go build -trimpath -o "$tmp" -ldflags "-s -w \
		-X $version.gitVersion=$KUBERNETES_VERSION -X $version.gitMajor=$KUBERNETES_MAJOR \
		-X $version.gitMinor=$KUBERNETES_MINOR -X $version.gitTreeState=clean" . >&2) || {
		rm -f "$tmp"
		say "the build failed"
		exit 1
	}
	mv "$tmp" "$binary"
	say "built $binary"
}

if [ ! -x "$binary" ]; then
	mkdir -p "$dir"
	acquire
	[ -x "$binary" ] || build
	release
	trap - EXIT
fi

if [ $# -gt 0 ]; then
	mkdir -p "$(dirname -- "$1")"
	rm -f "$1" # mv refuses to put a link over another link to the same file
	ln -f "$binary" "$1.tmp.$$" 2>/dev/null || cp "$binary" "$1.tmp.$$"
	mv -f "$1.tmp.$$" "$1"
fi
printf '%s\n' "$binary"

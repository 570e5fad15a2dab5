#!/usr/bin/env bash
# The command leveldb-bloom on databases of many writers; see --help.

set -e
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

usage() {
  cat <<'TEXT'
usage: scripts/test_inspector.sh [--help] [UNITTEST ARGUMENT...]

Builds the command `leveldb-bloom` (inspector/) and runs it on databases written by Debian's LevelDB,
Debian's and PyPI's plyvel, goleveldb, npm's classic-level and a TableBuilder by itself: all keys found, figures equal to those
of a reader of its own and of the C library, lost keys named, every byte of small tables damaged in
turn. Sets up what is missing (as root on Debian; otherwise it says what to install).

  UNITTEST ARGUMENT...  which tests, e.g. `-v Golden` or `LostKeys.test_they_are_named`; without, all classes of
                        tests, as many at a time as there are processors

LEVELDB_BLOOM_TEST_LARGE=1 tries advice on larger databases, too.

Everything made is in target/inspector.
TEXT
}

case "${1-}" in
  -h | --help)
    usage
    exit 0
    ;;
esac
for argument in "$@"; do
  case "$argument" in
    --verbose | --quiet | --locals | --failfast | --catch | --buffer) ;;
    --*) fail "scripts/test_inspector.sh: unknown argument $argument; see --help" ;;
  esac
done

ensure_rust
ensure_packages build-essential libleveldb-dev libsnappy-dev python3 python3-pip python3-plyvel zstd fish \
  golang-go golang-github-syndtr-goleveldb-dev
if ! command -v node >/dev/null || ! command -v npm >/dev/null; then
  ensure_packages nodejs npm
fi

work=$target/inspector
mkdir -p "$work"
step "building the command, the library and the writers"
cargo build --locked --quiet -p leveldb-bloom-inspector --profile test
cargo build --locked --quiet --release -p leveldb-bloom-shared
library=$target/release/libleveldb_bloom.so
tests=inspector/tests/databases
# Stock LevelDB makes the filters: ours comes second, for the functions that only it has.
cc -O2 -Wall -Wextra -Werror -Iinclude "$tests/writer.c" -lleveldb "$library" -Wl,-rpath,"$target/release" -o "$work/writer"
c++ -O2 -Wall -Wextra -Werror "$tests/table.cc" -lleveldb -o "$work/table"
GO111MODULE=off GOPATH=/usr/share/gocode GOCACHE=$work/go-cache GOFLAGS='' \
  go build -o "$work/writer-go" "$tests/writer.go"
/usr/bin/python3 ctest/routes/fetch.py wheel "$work/wheel"
/usr/bin/python3 ctest/routes/fetch.py npm "$work/npm"

step "databases"
/usr/bin/python3 -B "$tests/test.py" "$target/debug/leveldb-bloom" "$library" "$work" \
  "$work/wheel" "$work/npm/node_modules" "$@"

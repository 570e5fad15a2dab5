#!/usr/bin/env bash
# Builds the page that shows a filter's bits; see --help.

set -e
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

usage() {
  cat <<'TEXT'
usage: scripts/page.sh [--serve [PORT] | --test | --pictures] [--help]

Builds the page in page/ into target/page: one index.html with everything in it, the library's core
compiled to WebAssembly included. Open it from the disk, or put it on any web server.

  --serve      and serves it on http://127.0.0.1:8000 until Ctrl+C
  --test       and tests it in a headless Chromium (page/test/), and the command leveldb-bloom on what that writes
  --pictures   and writes docs/images

Needs Rust with rustup's target wasm32-unknown-unknown, and python3; the tests and pictures need Debian's
chromium, and playwright-core and axe-core from npm.
TEXT
}

action=${1-}
case $action in
  -h | --help)
    usage
    exit 0
    ;;
  "" | --serve | --test | --pictures) ;;
  *) fail "scripts/page.sh: unknown argument $action; see --help" ;;
esac

ensure_rust
ensure_packages python3
wasm=wasm32-unknown-unknown
rustup --quiet target add $wasm
# Small before fast.
CARGO_PROFILE_RELEASE_OPT_LEVEL=s CARGO_PROFILE_RELEASE_STRIP=true \
  cargo build --release --locked --quiet -p leveldb-bloom-page --target $wasm
python3 page/build.py "$target/$wasm/release/leveldb_bloom_page.wasm" "$target/page"
echo "$target/page/index.html"

case $action in
  --serve)
    port=${2-8000}
    python3 -c 'import socket, sys; socket.create_server(("127.0.0.1", int(sys.argv[1])))' "$port" 2>/dev/null ||
      fail "Port $port cannot be served on: Address already in use. Another one: --serve PORT."
    exec python3 -m http.server "$port" --bind 127.0.0.1 --directory "$target/page"
    ;;
  --test | --pictures)
    ensure_packages chromium fonts-dejavu-core libleveldb-dev python3-plyvel
    ensure_node
    mkdir -p "$target/page-test"
    cp page/test/package.json page/test/package-lock.json "$target/page-test/"
    quietly npm ci --prefix "$target/page-test" --no-audit --no-fund
    cargo build --release --locked --quiet -p leveldb-bloom-shared
    cargo build --locked --quiet --profile test -p leveldb-bloom-inspector
    export PAGE=$target/page/index.html MODULES=$target/page-test
    export LIBRARY=$target/release/libleveldb_bloom.so REPORT=$target/page-test/report.html
    export INSPECTOR=$target/debug/leveldb-bloom
    ;;&
  --test) node --test --test-reporter=spec page/test/*.test.mjs ;;
  --pictures)
    /usr/bin/python3 -B page/test/database.py "$target/page-test/users"
    "$INSPECTOR" inspect "$target/page-test/users" --html "$REPORT" >/dev/null
    node page/test/pictures.mjs docs/images
    ;;
esac

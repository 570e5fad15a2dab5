#!/usr/bin/env bash
# Builds the page that shows a filter's bits: scripts/page.sh --help says how.

usage() {
  cat <<'TEXT'
usage: scripts/page.sh [--serve [PORT] | --test | --pictures] [--help]

Builds the page in page/ into target/page: one index.html with everything in it, the library's core
compiled to WebAssembly included. Open it from the disk, or put the folder on any web server; it
needs no network, and allows itself none.

  --serve [PORT]   and serves it on http://127.0.0.1:PORT (8000) until Ctrl+C
  --test           and tests it in a headless Chromium: clicks, keys, a file that stock LevelDB
                   wrote, the C library's bytes, accessibility (page/test/)
  --pictures       and writes the pictures of docs/images anew, of the page and of the inspector's report

Needs a Rust toolchain and python3. For WebAssembly, rustup's target wasm32-unknown-unknown is used,
and added where rustup can; otherwise Debian's packages rustc-web, rust-web-src and lld-19. The tests
and the pictures take Debian's chromium, and playwright-core and axe-core from npm. On Debian, run as
root, whatever is missing is installed; otherwise the script says what to install.
TEXT
}

set -e
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

action=build
port=8000
while [ $# -gt 0 ]; do
  case $1 in
    --serve)
      action=serve
      if [[ ${2-} =~ ^[0-9]+$ ]]; then
        port=$(number --serve "$2" 1 65535)
        shift
      fi
      ;;
    --test) action="test" ;;
    --pictures) action=pictures ;;
    -h | --help)
      usage
      exit
      ;;
    *) fail "Unknown argument $1. See --help." ;;
  esac
  shift
done

# Shorter, because it is printed.
target=${CARGO_TARGET_DIR:-target}
wasm=wasm32-unknown-unknown

has_wasm() { compgen -G "$(rustc --print target-libdir --target "$wasm")/libcore-*.rlib" >/dev/null; }

# A core for WebAssembly: the toolchain's, or one that cargo builds from Debian's sources.
wasm_flags=()
ensure_wasm() {
  has_wasm && return
  if command -v rustup >/dev/null; then
    step "rustup target add $wasm"
    timeout 120 rustup target add "$wasm" && has_wasm && return
  fi
  ensure_packages rustc-web rust-web-src lld-19
  local versions
  versions=$(dpkg-query -W -f '${Version}\n' rustc-web rust-web-src | sort -u)
  [[ $versions != *$'\n'* ]] || fail "rustc-web and rust-web-src differ in version. Please update them:
    sudo apt-get install rustc-web rust-web-src"
  export RUSTC=/usr/bin/rustc RUSTC_BOOTSTRAP=1 CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_LINKER=wasm-ld-19
  wasm_flags=("-Zbuild-std=core,alloc")
}

# compile TARGET_DIR [OPTION...]: the WebAssembly. A shell of its own: what is set here is for that only.
compile() (
  ensure_wasm
  # Small before fast: it is read more often than it runs long.
  export CARGO_PROFILE_RELEASE_OPT_LEVEL=s CARGO_PROFILE_RELEASE_STRIP=true
  cargo build --release --locked --quiet --package leveldb-bloom-page --target "$wasm" \
    --target-dir "$@" "${wasm_flags[@]}"
)

build() {
  ensure_rust
  command -v python3 >/dev/null || ensure_packages python3
  step "building the page"
  compile "$target"
  size=$(wc -c <"$target/$wasm/release/leveldb_bloom_page.wasm")
  python3 page/build.py "$target/$wasm/release/leveldb_bloom_page.wasm" "$target/page"
  printf '%s: %s bytes, %s of them WebAssembly before base64\n' "$target/page/index.html" \
    "$(wc -c <"$target/page/index.html")" "$size"
}

# What drives a real browser, below target/.
ensure_browser() {
  ensure_packages chromium fonts-dejavu-core
  if ! command -v node >/dev/null || ! command -v npm >/dev/null; then
    ensure_packages nodejs npm
  fi
  mkdir -p "$target/page-test"
  cp page/test/package.json page/test/package-lock.json "$target/page-test/"
  (cd "$target/page-test" && npm ci --no-audit --no-fund >npm.log 2>&1) ||
    fail "npm could not install what drives the browser: see $target/page-test/npm.log"
}

build
case $action in
  serve)
    # The server would show a traceback.
    python3 -c '
import os, socket, sys
port = sys.argv[1]
try:
    socket.create_server(("127.0.0.1", int(port))).close()
except OSError as error:
    sys.exit(f"Port {port} cannot be served on: {os.strerror(error.errno)}. Another one: --serve PORT.")
' "$port"
    printf 'http://127.0.0.1:%s/  (Ctrl+C ends it)\n' "$port"
    exec python3 -m http.server --bind 127.0.0.1 --directory "$target/page" "$port"
    ;;
  test)
    # README.md says 34 KB, and 6 without the tables; the rest is for other compilers.
    [ "$size" -le $((36 * 1024)) ] || fail "The page's WebAssembly has grown to $size bytes."
    step "the filters alone"
    compile "$target/page-filters" --no-default-features
    filters=$(wc -c <"$target/page-filters/$wasm/release/leveldb_bloom_page.wasm")
    printf '%s bytes of WebAssembly\n' "$filters"
    [ "$filters" -le $((6 * 1024)) ] || fail "The filters' WebAssembly has grown to $filters bytes."
    ensure_packages libleveldb-dev python3-plyvel
    ensure_browser
    step "the C library, for comparison"
    cargo build --release --locked --quiet --package leveldb-bloom-shared --target-dir "$target"
    step "the page in Chromium"
    PAGE=$(realpath "$target/page/index.html") MODULES=$(realpath "$target/page-test") \
      LIBRARY=$(realpath "$target/release/libleveldb_bloom.so") \
      node --test --test-reporter=spec page/test/page.test.mjs
    ;;
  pictures)
    ensure_packages python3-plyvel
    ensure_browser
    step "the inspector, and a database for it"
    cargo build --release --locked --quiet --package leveldb-bloom-inspector --target-dir "$target"
    report=$(realpath "$target/page-test")/report.html
    /usr/bin/python3 -B page/test/database.py "$target/page-test/users"
    "$target/release/leveldb-bloom" inspect "$target/page-test/users" --html "$report" >/dev/null
    mkdir -p docs/images
    step "docs/images"
    PAGE=$(realpath "$target/page/index.html") MODULES=$(realpath "$target/page-test") REPORT=$report \
      node page/test/pictures.mjs docs/images
    ;;
esac

#!/usr/bin/env bash
# The wrappers for other languages, each with its real runtime; see --help.

set -e
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

languages=(python deno ruby luajit go zig java csharp)

usage() {
  cat <<TEXT
usage: scripts/ffi.sh [--help] [LANGUAGE...]

Runs the example and the test of examples/ffi/LANGUAGE, for each language named or for all:

  ${languages[*]}

For python it is our callbacks in plyvel's own LevelDB. The packages for Python and Node are in bindings.

Each test compares the wrapper with LevelDB's golden values, and a million keys at once with as many
single calls; tries wrong arguments, several threads and the collector; and measures one call and the
keys a second of a batch. Runtimes come from Debian's packages, PyPI and npm. What each wrote is in
target/ffi/LANGUAGE.log.
TEXT
}

case ${1-} in
  -h | --help)
    usage
    exit 0
    ;;
esac
for language in "$@"; do
  [[ " ${languages[*]} " == *" $language "* ]] || fail "scripts/ffi.sh: what is $language? See --help."
done
[ $# -gt 0 ] || set -- "${languages[@]}"

out=$target/ffi
python=$out/venv/bin/python

run_python() {
  ensure_packages python3-plyvel g++ libleveldb-dev python3-dev
  ensure_venv "$out/venv" -r python/requirements.txt
  /usr/bin/python3 python/plyvel_callbacks.py
  "$python" python/plyvel_callbacks.py
}

run_deno() {
  ensure_node
  npm install --prefix "$out/npm" --silent --no-audit --no-fund deno@2.9.6
  export DENO_DIR=$out/deno DENO_NO_UPDATE_CHECK=1 NO_COLOR=1 PATH=$out/npm/node_modules/.bin:$PATH
  cd deno
  deno check ./*.ts
  deno run --no-check --allow-ffi example.ts
  deno test --no-check --allow-ffi --allow-env --allow-read --v8-flags=--expose-gc bloom_test.ts
}

run_ruby() {
  ensure_packages ruby
  ruby -W ruby/example.rb
  ruby -W ruby/bloom_test.rb
}

run_luajit() {
  ensure_packages luajit
  cd luajit
  luajit example.lua
  luajit bloom_test.lua
}

run_go() {
  ensure_packages golang-go
  # The header's sum, because Go's cache does not look into what C includes.
  local sum
  sum=$(sha256sum <"$root/include/leveldb_bloom.h")
  export CGO_CFLAGS="'-I$root/include' -DHEADER_SUM=${sum%% *}" CGO_LDFLAGS="'-L$target/release'"
  export GOCACHE=$out/go GOFLAGS=-buildvcs=false
  cd go
  go vet ./...
  go run ./example
  go test -count=1 -v .
}

run_zig() {
  ensure_venv "$out/venv" -r zig/requirements.txt
  export ZIG_GLOBAL_CACHE_DIR=$out/zig ZIG_LOCAL_CACHE_DIR=$out/zig
  local options=(-OReleaseSafe -fstrip "-L$target/release" -lleveldb_bloom -lc)
  cd zig
  "$python" -m ziglang run "${options[@]}" example.zig
  "$python" -m ziglang test "-I$root/include" "${options[@]}" bloom_test.zig
}

run_java() {
  ensure_packages libjna-java default-jdk-headless
  mkdir -p "$out/java"
  local classes=$out/java:/usr/share/java/jna.jar
  javac -Xlint:all -Werror -d "$out/java" -cp "$classes" java/*.java
  java -cp "$classes" Example
  java -cp "$classes" BloomTest
}

run_csharp() {
  ensure_packages mono-mcs mono-runtime
  local program
  for program in Example BloomTest; do
    mcs -warn:4 -warnaserror+ -out:"$out/$program.exe" csharp/$program.cs csharp/LevelDbBloom.cs
    mono "$out/$program.exe"
  done
}

ensure_rust
ensure_packages build-essential python3
cargo build --release --locked --quiet -p leveldb-bloom-shared
mkdir -p "$out"
/usr/bin/python3 scripts/ffi/golden.py ctest/harness/golden_values.h >"$out/golden.txt"
# The wrappers load libleveldb_bloom.so.1, as if it were installed.
ln -sfn "$target/release/libleveldb_bloom.so" "$out/libleveldb_bloom.so.1"
export LEVELDB_BLOOM_GOLDEN=$out/golden.txt LEVELDB_BLOOM_CDEF=$root/include/leveldb_bloom.cdef.h
export LD_LIBRARY_PATH=$out:$target/release PYTHONDONTWRITEBYTECODE=1

cd examples/ffi
failed=()
for language in "$@"; do
  step "$language"
  log=$out/$language.log
  # In the background: in a condition the shell would go on after an error.
  (run_"$language") >"$log" 2>&1 &
  if wait $! && { [ "$language" = python ] ||
    /usr/bin/python3 "$root/scripts/ffi/results.py" "$out/golden.txt" "$log"; }; then
    :
  else
    cat "$log"
    failed+=("$language")
  fi
done
[ ${#failed[@]} -eq 0 ] || fail "failed: ${failed[*]}"

#!/usr/bin/env bash
# The library from other languages, each with its real runtime; see --help.

set -e
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

languages=(python node deno ruby luajit go zig java csharp distributed)

usage() {
  cat <<TEXT
usage: scripts/ffi.sh [--table] [--help] [LANGUAGE...]

Runs examples/ffi/LANGUAGE, the example and the test of each language asked for, or of all:

  ${languages[*]}

where "distributed" is examples/distributed: one filter of keys that many processes have, with dask.

Each test holds the wrapper against LevelDB's golden values, a million keys at once against as many
single calls, wrong arguments, several threads and the collector, and measures the cost of one call
("may this key be there?", from and to the language's own values) and the keys a second of a batch.
The tests' filter and answers must be those that stock LevelDB gives.

Sets up what is missing: Debian's packages (as root; otherwise it says what to install), and from
PyPI and npm, into target/ffi, what examples/ffi names with its version. A language whose runtime
cannot be had has failed. What each wrote is in target/ffi/LANGUAGE.log.

  --table   also the table of the README; the machine should be otherwise idle
TEXT
}

table=
asked=()
while [ $# -gt 0 ]; do
  case $1 in
    -h | --help)
      usage
      exit 0
      ;;
    --table) table=1 ;;
    *)
      is_one_of "$1" "${languages[@]}" || fail "scripts/ffi.sh: what is $1? See --help."
      asked+=("$1")
      ;;
  esac
  shift
done
[ ${#asked[@]} -gt 0 ] || asked=("${languages[@]}")

out=$target/ffi
python=$out/venv/bin/python
# Debian's own, also where another one comes first in PATH: plyvel of Debian is only there.
system_python=/usr/bin/python3

# pip_install REQUIREMENTS: into the folder's own environment.
pip_install() {
  ensure_venv "$out/venv"
  "$python" -m pip install --quiet --disable-pip-version-check -r "$1"
}

# npm_install PACKAGE@VERSION...: Debian's npm brings hundreds of packages; any other will do.
npm_install() {
  if ! command -v node >/dev/null || ! command -v npm >/dev/null; then
    ensure_packages nodejs npm
  fi
  npm install --prefix "$out/npm" --loglevel=error --no-audit --no-fund --no-update-notifier "$@"
}

# What the wrapper for Python is tested with. Where PyPI has no wheel of plyvel, pip builds it on
# Debian's LevelDB.
python_requirements() {
  ensure_packages python3-venv
  "$system_python" "$root/ctest/routes/fetch.py" importable ||
    ensure_packages g++ libleveldb-dev python3-dev
  pip_install python/requirements.txt
}

run_python() {
  ensure_packages python3-plyvel
  python_requirements
  cd python
  "$system_python" example.py
  "$system_python" bloom_test.py
  "$python" example_arrays.py
  "$python" arrays_test.py
  "$system_python" plyvel_callbacks.py
  "$python" plyvel_callbacks.py
}

run_node() {
  npm_install koffi@3.3.4
  export NODE_PATH=$out/npm/node_modules
  cd node
  node example.js
  node --expose-gc bloom.test.js
}

run_deno() {
  npm_install deno@2.9.6
  export DENO_DIR=$out/deno DENO_NO_UPDATE_CHECK=1 NO_COLOR=1
  local deno=$out/npm/node_modules/.bin/deno
  cd deno
  "$deno" check ./*.ts
  "$deno" run --no-check --allow-ffi example.ts
  "$deno" test --no-check --allow-ffi --allow-env --allow-read --v8-flags=--expose-gc bloom_test.ts
}

run_ruby() {
  ensure_packages ruby
  cd ruby
  ruby -W example.rb
  ruby -W bloom_test.rb
}

run_luajit() {
  ensure_packages luajit
  cd luajit
  luajit example.lua
  luajit bloom_test.lua
}

run_go() {
  command -v go >/dev/null || ensure_packages golang-go
  # What an installed header and library would need none of; quoted, as cgo splits them at spaces.
  # The header's sum, because Go's cache does not look into what C includes.
  local sum
  sum=$(sha256sum <"$root/include/leveldb_bloom.h")
  export CGO_CFLAGS="'-I$root/include' -DHEADER_SUM=${sum%% *}" CGO_LDFLAGS="'-L$library'"
  export GOCACHE=$out/go GOFLAGS=-buildvcs=false
  cd go
  go vet ./...
  go run ./example
  go test -count=1 -v .
}

run_zig() {
  ensure_packages python3-venv
  pip_install zig/requirements.txt
  # Not in the home directory, as it is otherwise.
  export ZIG_GLOBAL_CACHE_DIR=$out/zig ZIG_LOCAL_CACHE_DIR=$out/zig
  local options=(-OReleaseSafe -fstrip "-L$library" -lleveldb_bloom -lc)
  cd zig
  "$python" -m ziglang run "${options[@]}" example.zig
  "$python" -m ziglang test "-I$root/include" "${options[@]}" bloom_test.zig
}

run_java() {
  ensure_packages libjna-java
  command -v javac >/dev/null || ensure_packages default-jdk-headless
  javac -Xlint:all -Werror -d "$out/java" -cp /usr/share/java/jna.jar java/*.java
  java -cp "$out/java:/usr/share/java/jna.jar" Example
  java -cp "$out/java:/usr/share/java/jna.jar" BloomTest
}

run_csharp() {
  ensure_packages mono-mcs mono-runtime
  local program
  mkdir -p "$out/csharp"
  for program in Example BloomTest; do
    mcs -warn:4 -warnaserror+ -out:"$out/csharp/$program.exe" csharp/$program.cs csharp/LevelDbBloom.cs
    mono "$out/csharp/$program.exe"
  done
}

run_distributed() {
  python_requirements
  pip_install ../distributed/requirements.txt
  export PYTHONPATH=$root/examples/ffi/python DASK_TEMPORARY_DIRECTORY=$out/dask
  cd ../distributed
  "$python" example.py
  "$python" distributed_bloom_test.py
}

ensure_rust
ensure_packages python3
cargo build --release --locked --quiet
mkdir -p "$out"
"$system_python" scripts/ffi/golden.py ctest/harness/golden_values.h >"$out/golden.txt"
export LEVELDB_BLOOM_GOLDEN=$out/golden.txt
export LEVELDB_BLOOM_CDEF=$root/include/leveldb_bloom.cdef.h
# As if it were installed: the wrappers load libleveldb_bloom.so.1 by its name. The build makes that
# name as well, but where a configuration may have moved what is not its result.
library=$target/release
ln -sfn "$library/libleveldb_bloom.so" "$out/libleveldb_bloom.so.1"
export LD_LIBRARY_PATH=$out:$library${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
export PYTHONDONTWRITEBYTECODE=1

cd examples/ffi
failed=()
logs=()
for language in "${asked[@]}"; do
  step "$language"
  # In the background, because the shell would go on after a failure in a condition.
  (run_"$language") >"$out/$language.log" 2>&1 &
  if wait $!; then
    [ "$language" = distributed ] || logs+=("$out/$language.log")
  else
    failed+=("$language")
  fi
  cat "$out/$language.log"
done

step "results"
[ ${#logs[@]} -eq 0 ] ||
  "$system_python" "$root/scripts/ffi/results.py" "$out/golden.txt" "${logs[@]}" \
    ${table:+--table} || failed+=("see above")
[ ${#failed[@]} -eq 0 ] || fail "failed: ${failed[*]}"

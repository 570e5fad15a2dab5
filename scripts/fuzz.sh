#!/usr/bin/env bash
# Runs the fuzz targets; see --help.

set -e
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

usage() {
  cat <<'TEXT'
usage: scripts/fuzz.sh [--seconds S] [--jobs N] [--fast] [--help] [TARGET...]

Runs the fuzz targets of fuzz/targets (all of them, unless some are named) with libFuzzer and
AddressSanitizer, one after another, each for S seconds (60) in N processes (1).

  query      any bytes as filters: every kernel against stock LevelDB
  create     filters of any keys and bits per key, in the same way
  flat       keys in one buffer with any offsets
  builder    builders and union
  c_api      the exported C functions with hostile arguments
  table      any bytes as LevelDB's table files
  manifest   any bytes as LevelDB's MANIFESTs

  --fast     without AddressSanitizer: several times the executions

New inputs are kept in target/fuzz/corpus; fuzz/seeds is only read. A failing input is left in
target/fuzz/artifacts. Needs cargo-fuzz, which it installs into target/tools, and a C++ compiler.
TEXT
}

seconds=60
jobs=1
sanitizer=address
targets=()
while [ $# -gt 0 ]; do
  case $1 in
    -h | --help)
      usage
      exit 0
      ;;
    --seconds) seconds=$(number "$1" "${2-}") && shift ;;
    --jobs) jobs=$(number "$1" "${2-}") && shift ;;
    --fast) sanitizer=none ;;
    *)
      [ -f "fuzz/targets/$1.rs" ] || fail "There is no fuzz target $1. See --help."
      targets+=("$1")
      ;;
  esac
  shift
done
[ ${#targets[@]} -gt 0 ] || targets=(query create flat builder c_api table manifest)

ensure_rust
ensure_packages g++ libleveldb-dev
cargo_tool cargo-fuzz 0.13.2
# The stable compiler has sanitizers, too.
export RUSTC_BOOTSTRAP=1
work=$target/fuzz

for name in "${targets[@]}"; do
  step "$name, $seconds s"
  mkdir -p "$work/corpus/$name" "$work/artifacts"
  options=(-max_total_time="$seconds" -max_len=2000 -timeout=20 -artifact_prefix="$work/artifacts/$name-")
  [ "$jobs" -eq 1 ] || options+=(-fork="$jobs" -ignore_timeouts=0 -ignore_ooms=0)
  log=$work/$name.log
  (cd fuzz && cargo fuzz run --sanitizer "$sanitizer" --target-dir "$work/$sanitizer" "$name" \
    "$work/corpus/$name" "seeds/$name" -- "${options[@]}") >"$log" 2>&1 || fail "$(tail -50 "$log")"
  tail -1 "$log"
done

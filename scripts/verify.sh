#!/usr/bin/env bash
# Compares the library with stock LevelDB for a long time; see --help.

set -e
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

usage() {
  cat <<'TEXT'
usage: scripts/verify.sh [--queries N] [--seed S] [--jobs N] [--release] [--help]

Makes filters of random keys with Debian's libleveldb and with every kernel of this machine, queries
them for their own keys and for others, damages them and queries them again: all bytes and answers
must be LevelDB's, and no key may be lost. It is the comparison that the fuzz targets make. Ribbon filters
are made and queried, too; scripts/ribbon_reference.py, in Python, must make those of tests/ribbon.rs.

  --queries N   stops after N queries of present keys (1e7)
  --release     --queries 1e9: some five minutes on two idle cores
  --seed S      other keys and filters (1); a failure prints the seed that shows it again
  --jobs N      threads (as many as there are processors)
TEXT
}

arguments=()
while [ $# -gt 0 ]; do
  case $1 in
    -h | --help)
      usage
      exit 0
      ;;
    --release) arguments+=(--queries 1e9) ;;
    *) arguments+=("$1") ;;
  esac
  shift
done

ensure_rust
ensure_packages g++ libleveldb-dev
ensure_venv "$target/ribbon" xxhash
hash=$("$target/ribbon/bin/python" scripts/ribbon_reference.py --corpus)
[[ $(tr -d _ <tests/ribbon.rs) == *"GOLDEN: u64 = $hash;"* ]] ||
  fail "scripts/ribbon_reference.py --corpus says $hash; tests/ribbon.rs does not."
cargo build --release --locked --quiet --package leveldb-bloom-compare
"$target/release/leveldb-bloom-verify" "${arguments[@]}"

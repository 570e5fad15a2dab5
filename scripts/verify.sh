#!/usr/bin/env bash
# Compares our library with stock LevelDB's, answer by answer; see --help.

set -e
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

usage() {
  cat <<'TEXT'
usage: scripts/verify.sh [--quick | --release] [--cases N] [--minutes M] [--seed S] [--jobs N]
                         [--random] [--thin] [--case N] [--planted] [--document FILE] [--help]

Loads Debian's libleveldb and our library into one process and has both make the same filters and
answer the same queries: ours with every kernel that this machine has and through every door (the
Rust API, the C functions, the callback table, the drop-in object with its C++ virtual functions).
Every byte and every answer is compared, first over three spaces in full (malformed filters, bits per
key, key lengths and places), then at random until enough was asked.

  --cases N        ends after N queries compared (1e10 is understood)
  --minutes M      ends after M minutes of the random part; 1 if nothing else is said
  --seed S         the random numbers; chosen and printed if not given
  --jobs N         threads; as many as there are processors if not given
  --random         the random part only
  --case N         one unit of the random part only, as a failure names it
  --planted        puts a wrong bit and a wrong answer into each door of each kernel in turn, and
                   sees that each is found
  --document FILE  writes what was compared, with which versions, to FILE, which is relative to the
                   folder you call from
  --thin           the first three parts through one door of each kernel in turn, not through all
  --quick          --planted, and then --thin with 6 seconds of the random part; takes no other option
  --release        at least 1e10 queries, documented in docs/verification.md: ten minutes on two idle
                   cores

Ctrl-C ends the random part and reports what was compared. A difference ends the run; it prints the
seed, and the smallest case that still shows it.
TEXT
}

arguments=()
quick=
while [ $# -gt 0 ]; do
  case $1 in
    --?*=*) set -- "${1%%=*}" "${1#*=}" "${@:2}" ;;
  esac
  case $1 in
    -h | --help)
      usage
      exit 0
      ;;
    --quick) quick=1 ;;
    --release) arguments+=(--cases 1e10 --document "$root/docs/verification.md") ;;
    --document)
      document=$(output_file "${2-}")
      arguments+=(--document "$document")
      shift
      ;;
    --cases | --minutes)
      [[ ${2-} =~ ^[0-9]+(\.[0-9]+)?(e[0-9]+)?$ ]] || fail "$1 takes a number, as 0.5 or 1e10. See --help."
      arguments+=("$1" "$2")
      shift
      ;;
    --seed | --case)
      [[ ${2-} =~ ^[0-9]{1,20}$ ]] || fail "$1 takes a whole number. See --help."
      arguments+=("$1" "$2")
      shift
      ;;
    --jobs)
      jobs=$(number --jobs "${2-}" 1 1000)
      arguments+=(--jobs "$jobs")
      shift
      ;;
    --random | --thin | --planted) arguments+=("$1") ;;
    *) fail "scripts/verify.sh: unknown argument $1; see --help" ;;
  esac
  shift
done
[ -z "$quick" ] || [ ${#arguments[@]} -eq 0 ] || fail "--quick takes no other option: ${arguments[*]}"
case " ${arguments[*]} " in
  *" --cases "* | *" --minutes "* | *" --case "* | *" --planted "*) ;;
  *) arguments+=(--minutes 1) ;;
esac

ensure_rust
ensure_packages libleveldb-dev
cargo build --release --locked --quiet
cargo build --release --locked --quiet --package leveldb-bloom-verify
stock=$(stock_leveldb)

commit=$(git rev-parse --short HEAD 2>/dev/null || echo unknown)
[ -z "$(git status --porcelain --untracked-files=no 2>/dev/null)" ] || commit="$commit, changed"
verify() {
  "$target/release/verify" --stock "$stock" --library "$target/release/libleveldb_bloom.so" \
    --fact "Date=$(date -u +%F)" \
    --fact "Our library=$(cargo pkgid | sed 's/.*[#@]//'), commit $commit" \
    --fact "LevelDB=$(basename "$(readlink -f "$stock")"), libleveldb-dev $(dpkg-query -W -f '${Version}' libleveldb-dev)" \
    --fact "Compiler=$(rustc --version)" \
    --fact "Machine=$PROCESSOR, $(nproc) processors, $(. /etc/os-release && echo "$PRETTY_NAME")" \
    "$@"
}
if [ -n "$quick" ]; then
  verify --planted >"$target/verify-planted.log" || fail "$(tail -20 "$target/verify-planted.log")"
  tail -1 "$target/verify-planted.log"
  verify --thin --minutes 0.1
else
  verify "${arguments[@]}"
fi

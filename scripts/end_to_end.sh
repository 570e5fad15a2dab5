#!/usr/bin/env bash
# What the filter costs and saves a whole LevelDB; see --help.

set -e
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

usage() {
  cat <<'TEXT'
usage: scripts/end_to_end.sh [--keys N] [--rounds N] [--help] [NAME=VARIABLE=VALUE...]

Runs scripts/database.cc, a LevelDB program, with LevelDB's own filter ("stock") and with ours
preloaded, in turns, N rounds (9). It loads keys (1,000,000) in random order, compacts them, and looks
up as many present and missing keys. Shows the medians: processor time of loading, with ours as a part
of stock's (round by round), and reads and processor time for a missing key.

  random keys of 16 bytes, values of 100 and 20 bytes
  big-endian numbers of 8 bytes, values of 1,024 and 100 bytes; every other number is missing

NAME=VARIABLE=VALUE adds another side: ours with that environment variable.
TEXT
}

keys=1000000
rounds=9
sides=(stock ours)
declare -A setting=([stock]="" [ours]=LD_PRELOAD=./libleveldb_bloom.so)
while [ $# -gt 0 ]; do
  case $1 in
    -h | --help)
      usage
      exit 0
      ;;
    --keys) keys=$(number "$1" "${2-}") && shift ;;
    --rounds) rounds=$(number "$1" "${2-}") && shift ;;
    *=*=*)
      sides+=("${1%%=*}")
      setting[${1%%=*}]="LD_PRELOAD=./libleveldb_bloom.so ${1#*=}"
      ;;
    *) fail "scripts/end_to_end.sh: unknown argument $1; see --help" ;;
  esac
  shift
done

ensure_packages g++ libleveldb-dev
ensure_rust
cargo build --release --locked --quiet -p leveldb-bloom-shared
program=$target/release/demo-database
g++ -std=c++17 -O2 -Wall -Wextra -fno-rtti scripts/database.cc -lleveldb -ldl -o "$program"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$target/release"

printf '%-34s %-8s %8s %8s %14s %12s\n' '' '' load, part 'reads, missing' 'us, missing'
for case in 'random 100' 'random 20' 'ordered 1024' 'ordered 100'; do
  read -r order value <<<"$case"
  : >"$work/samples"
  for ((round = 0; round < rounds; round++)); do
    # Whoever comes first would have the caches to itself.
    for side in $(printf '%s\n' "${sides[@]}" | shuf); do
      rm -rf "$work/database"
      # shellcheck disable=SC2086 # the settings are words
      env ${setting[$side]} "$program" "$work/database" "$keys" "$keys" 10 "$value" "$order" 4 |
        awk -v "side=$side" -v "round=$round" '{ print side, round, $1, $2 }' >>"$work/samples"
    done
  done
  for side in "${sides[@]}"; do
    awk -v "side=$side" -v "keys=$keys" -v "title=$order keys, values of $value B" '
      function median(list, n, i, j, t) {
        for (i = 2; i <= n; i++) for (j = i; j > 1 && list[j - 1] > list[j]; j--) {
          t = list[j]; list[j] = list[j - 1]; list[j - 1] = t
        }
        return (list[int((n + 1) / 2)] + list[int(n / 2) + 1]) / 2
      }
      { value[$1, $2, $3] = $4; if ($2 + 1 > n) n = $2 + 1 }
      END {
        for (r = 0; r < n; r++) {
          load[r + 1] = value[side, r, "load_seconds"]
          part[r + 1] = value[side, r, "load_seconds"] / value["stock", r, "load_seconds"]
          reads[r + 1] = value[side, r, "missing_reads"] / keys
          us[r + 1] = value[side, r, "missing_seconds"] * 1e6 / keys
        }
        printf "%-34s %-8s %7.2fs %8.3f %14.4f %12.3f\n", title, side, median(load, n),
          median(part, n), median(reads, n), median(us, n)
      }' "$work/samples"
  done
done

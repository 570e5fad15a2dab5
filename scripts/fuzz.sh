#!/usr/bin/env bash
# Feeds the library what nobody would; see --help.

set -e
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

usage() {
  cat <<'TEXT'
usage: scripts/fuzz.sh [--minutes M | --seconds S] [--jobs N] [--fast] [--planted]
                       [--document FILE] [TARGET...] [--help]

Runs the fuzz targets in fuzz/targets, one after another (all, if none is named), with libFuzzer, for
M minutes each (1 if nothing is said), N processes at a time. Each but the last three compares every
kernel with the portable one, and with stock LevelDB what LevelDB has too.

  query      any bytes as filters, asked for any keys
  create     filters for any keys and bits per key
  flat       keys one behind the other with any offsets
  builder    builders and union
  c_api      the exported C functions with hostile arguments, by one kernel for each input
  table      any bytes as LevelDB's table files
  manifest   any bytes as LevelDB's MANIFESTs, and MANIFESTs of which it is known what they say

  --fast     without AddressSanitizer, and without watching what is compared with what: several times
             the executions, fewer kinds of bugs, and fewer new inputs
  --planted  with a fault put into each target, which must be found; stops at the first that is not
  --document FILE
             writes what target/fuzz/runs adds up to, to FILE, which is relative to the folder you
             call from

Inputs that reach new code are kept in target/fuzz/corpus; the seeds in fuzz/seeds are read, never
written. An input that fails is left in target/fuzz/artifacts, and the command to run it again is
printed. What was run is added to target/fuzz/runs: date, target, executions, seconds.

It needs cargo-fuzz, which is installed into target/tools, and a compiler for C++; the stable toolchain
will do.
TEXT
}

seconds=60
jobs=1
sanitizer=address
planted=
document=
targets=()
while [ $# -gt 0 ]; do
  case "$1" in
    -h | --help)
      usage
      exit 0
      ;;
    --minutes)
      [[ ${2-} =~ ^[0-9]{0,7}(\.[0-9]{1,3})?$ ]] &&
        seconds=$(awk -v minutes="${2-}" 'BEGIN { printf "%d", minutes * 60 }') &&
        [ "$seconds" -gt 0 ] || fail "--minutes takes a number above 0. See --help."
      shift
      ;;
    --seconds)
      seconds=$(number --seconds "${2-}" 1 999999999)
      shift
      ;;
    --jobs)
      jobs=$(number --jobs "${2-}" 1 1000)
      shift
      ;;
    --fast) sanitizer=none ;;
    --document)
      document=$(output_file "${2-}")
      shift
      ;;
    --planted) planted=1 ;;
    -*) fail "scripts/fuzz.sh: unknown argument $1; see --help" ;;
    *)
      [ -f "$root/fuzz/targets/$1.rs" ] ||
        fail "There is no fuzz target $1, but: $(cd "$root/fuzz/targets" && printf '%s\n' *.rs |
          sed 's/\.rs$//' | paste -sd ' ')"
      targets+=("$1")
      ;;
  esac
  shift
done

[ -z "$planted" ] || [ -z "$document" ] || fail "--planted counts nothing that --document could write. See --help."
ensure_rust
ensure_packages g++ libleveldb-dev
LEVELDB_BLOOM_STOCK=$(stock_leveldb)
export LEVELDB_BLOOM_STOCK
# Sanitizers and coverage are not stable options; the stable compiler has them all the same.
export RUSTC_BOOTSTRAP=1

tools=$target/tools
version=0.13.2
if [[ $("$tools/bin/cargo-fuzz" --version 2>/dev/null) != *" $version" ]]; then
  step "installing cargo-fuzz"
  # It calls cargo, and does no work that would be faster for a build that takes twice as long.
  cargo install --quiet --locked --debug --root "$tools" "cargo-fuzz@$version"
fi
export PATH="$tools/bin:$PATH"

work=$target/fuzz
build=$work/$sanitizer
export CARGO_TARGET_DIR=$build
fuzz_cargo() { (cd "$root/fuzz" && cargo fuzz "$@"); }
step "building"
how=(--sanitizer "$sanitizer")
[ "$sanitizer" = address ] || how+=(--no-trace-compares)
# cargo-fuzz has no --locked.
(cd "$root/fuzz" && cargo metadata --locked --format-version 1 >/dev/null)
fuzz_cargo build "${how[@]}" --target-dir "$build" 2>"$work.log" ||
  fail "$(cat "$work.log")"
[ ${#targets[@]} -gt 0 ] || mapfile -t targets < <(fuzz_cargo list)

# libFuzzer then ends with a status of its own, which is no finding.
trap 'exit 130' INT
host=$(rustc -vV | sed -n 's/^host: //p')
for name in "${targets[@]}"; do
  program=$build/$host/release/$name
  # Without its flags it would run as well, faster, and find nothing.
  symbols=$(nm "$program")
  [[ $symbols == *sancov.module_ctor* ]] && [[ $sanitizer != address || $symbols == *__asan_init* ]] ||
    fail "$program was not built as a fuzz target is: nothing counts what it reaches, or checks its memory"
  corpus=$work/corpus/$name
  log=$work/$name.log
  mkdir -p "$corpus" "$work/artifacts"
  options=(-max_total_time="$seconds" -max_len=2000 -timeout=20 -print_final_stats=1
    -artifact_prefix="$work/artifacts/$name-")
  if [ -n "$planted" ]; then
    step "$name, with a fault"
    corpus=$(mktemp -d)
    if LEVELDB_BLOOM_PLANTED=1 "$program" "${options[@]}" -artifact_prefix="$corpus/" \
      "$corpus" "$root/fuzz/seeds/$name" >"$log" 2>&1; then
      rm -rf "$corpus"
      fail "$name did not find its fault in $seconds seconds: $log"
    fi
    rm -rf "$corpus"
    grep -q 'panicked at' "$log" || fail "$name failed for another reason: $(tail -30 "$log")"
    sed -n '/panicked at/,+1 p' "$log" | cut -c 1-150 | sed -n 1,2p
    continue
  fi
  step "$name for $seconds s"
  # Of several at once it would pass over loops without an end and memory without a limit.
  [ "$jobs" -eq 1 ] || options+=(-fork="$jobs" -ignore_timeouts=0 -ignore_ooms=0)
  start=$SECONDS
  if ! "$program" "${options[@]}" "$corpus" "$root/fuzz/seeds/$name" >"$log" 2>&1; then
    tail -40 "$log"
    fail "
$name failed. To see it again:
  LEVELDB_BLOOM_STOCK=$LEVELDB_BLOOM_STOCK $program $(ls -t "$work/artifacts/$name-"* | sed -n 1p)"
  fi
  executions=$(sed -n 's/^stat::number_of_executed_units: *//p; s/^#\([0-9]*\): cov.*/\1/p' "$log" | tail -1)
  printf '%s %s %s executions, %s s, %s\n' "$(date -u +%F)" "$name" "$executions" \
    "$((SECONDS - start))" "$sanitizer" | tee -a "$work/runs"
done

# What all runs add up to, by target.
summary() {
  awk '
    { name = $2; all[name] += $3; time[name] += $5; if ($7 == "address") checked[name] += $3
      if (!(name in first) || $1 < first[name]) first[name] = $1; if ($1 > last[name]) last[name] = $1 }
    END {
      print "# Fuzzing\n"
      print "What the runs of `scripts/fuzz.sh` add up to; the script writes this file."
      print "Each execution compares every kernel with the portable one, and with stock LevelDB what LevelDB"
      print "has too; of `c_api` one kernel, and of `table` the best alone, for one key a filter. `manifest`"
      print "compares what is read with what was written. A run that finds something ends there, and is not"
      print "counted. The code is that of the days named.\n"
      print "| Target | Executions | of these with AddressSanitizer | Seconds | Days |"
      print "|---|---:|---:|---:|---|"
      n = split("query create flat builder c_api table manifest", names, " ")
      for (i = 1; i <= n; i++) {
        name = names[i]
        printf "| %s | %d | %d | %d | %s to %s |\n", name, all[name], checked[name], time[name], \
          first[name], last[name]
        a += all[name]; c += checked[name]; t += time[name]
      }
      printf "| all | %d | %d | %d | |\n", a, c, t
    }' "$work/runs"
}
if [ -n "$document" ]; then
  summary >"$document"
  printf '\n%s on %s, %s processors.\n' "$(rustc --version)" \
    "$PROCESSOR" "$(nproc)" >>"$document"
fi

#!/usr/bin/env bash
# Which lines and branches the tests reach; see --help.

set -e
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

usage() {
  cat <<'TEXT'
usage: scripts/coverage.sh [--html] [--help]

Runs the Rust tests in a build that counts coverage, and prints, file by file, how many lines and
branches of the core and of the kernels that this machine can run were reached, not counting tests. All
must be, except what scripts/coverage/exempt.txt names with a reason: if anything else was not reached,
the script lists it and fails.

The C interface is not counted here: scripts/mutants.sh shows what its tests notice.

  --html    writes target/coverage/html, the source with its counts

LLVM's tools come from `rustup component add llvm-tools`, or else from Debian (installed as root),
in the version of the Rust compiler's LLVM. Branches are counted by an option of rustc that is not
stable, which RUSTC_BOOTSTRAP turns on. Four minutes.
TEXT
}

html=
for argument in "$@"; do
  case "$argument" in
    -h | --help)
      usage
      exit 0
      ;;
    --html) html=1 ;;
    *) fail "scripts/coverage.sh: unknown argument $argument; see --help" ;;
  esac
done

ensure_rust
ensure_packages build-essential python3
work=$target/coverage
profiles=$work/profiles
mkdir -p "$profiles"
rm -f "$profiles"/*

# Both formats, of counts and of what they count, belong to the version of LLVM.
sysroot=$(rustc --print sysroot)
host=$(rustc -vV | sed -n 's/^host: //p')
llvm=$(rustc -vV | sed -n 's/^LLVM version: \([0-9]*\).*/\1/p')
tools=$sysroot/lib/rustlib/$host/bin
if ! [ -x "$tools/llvm-cov" ] && ! rustup component add llvm-tools >/dev/null 2>&1; then
  tools=/usr/lib/llvm-$llvm/bin
  [ -x "$tools/llvm-cov" ] || ensure_packages "llvm-$llvm"
fi

export RUSTC_BOOTSTRAP=1
export RUSTFLAGS="-Cinstrument-coverage -Zcoverage-options=branch"
export LLVM_PROFILE_FILE=$profiles/%p-%m.profraw

step "Rust tests"
cargo_test=(env "CARGO_TARGET_DIR=$work" CARGO_PROFILE_TEST_OPT_LEVEL=1
  CARGO_PROFILE_TEST_DEBUG=0 cargo test --locked --package leveldb-bloom --lib --tests)
"${cargo_test[@]}" --quiet
programs=()
while read -r program; do programs+=("$program"); done < <("${cargo_test[@]}" --no-run 2>&1 |
  sed -n 's/^ *Executable .*(\(.*\))$/\1/p')

step "results"
# A process that a test kills may leave half a profile, which is left out with a warning.
"$tools/llvm-profdata" merge --sparse --failure-mode=all "$profiles"/*.profraw \
  -o "$work/tests.profdata"
objects=("${programs[0]}")
for program in "${programs[@]:1}"; do objects+=(--object "$program"); done
sources=(src/*.rs src/kernel/*.rs src/kernel/*/*.rs)
export_as() {
  "$tools/llvm-cov" export --format="$1" --instr-profile="$work/tests.profdata" "${objects[@]}" \
    --sources "${sources[@]}" 2>"$work/llvm-cov.log" || { cat "$work/llvm-cov.log"; exit 1; }
}
export_as lcov >"$work/lcov.info"
export_as text >"$work/export.json"
if [ -n "$html" ]; then
  "$tools/llvm-cov" show --format=html --show-branches=count --instr-profile="$work/tests.profdata" \
    --output-dir="$work/html" "${objects[@]}" --sources "${sources[@]}"
  echo "$work/html/index.html"
fi

# What has no code, or none that this machine can run, or is there to go wrong.
left_out=(src/lib.rs src/planted.rs src/kernel/tests.rs)
# One at a time, or their lines mix.
running=$("${programs[0]}" is_run_or_skipped --test-threads 1 2>&1 |
  sed -n 's/.*skipped: .* no kernel //p')
for kernel in $running; do left_out+=("src/kernel/$kernel.rs" src/kernel/"$kernel"/*.rs); done
counted=()
for source in "${sources[@]}"; do
  [[ " ${left_out[*]} " == *" $source "* ]] || counted+=("$source")
done
python3 scripts/coverage/report.py scripts/coverage/exempt.txt "$work/lcov.info" "$work/export.json" \
  "${counted[@]}"

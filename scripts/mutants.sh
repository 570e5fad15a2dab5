#!/usr/bin/env bash
# Whether the tests notice when the code is changed; see --help.

. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

usage() {
  cat <<'TEXT'
usage: scripts/mutants.sh [--continue] [--jobs N] [--help] [FILE...]

cargo-mutants changes the core and the kernels that this machine can run, one place at a time, and
runs the Rust tests, of which one must fail. Writes docs/mutants.md. Fails where a change goes
unnoticed that scripts/mutants/survivors.txt does not explain.

  --continue   leaves out what earlier runs have killed, as far as it is at the same place
  --jobs N     as many at a time (1)
  FILE         only the mutants of these files; the others are as earlier runs found them

Some 800 mutants, each built and tested in a few seconds: with two jobs on two idle cores half an
hour. cargo-mutants is built into target/tools the first time.
TEXT
}

continue=
jobs=1
files=()
while [ $# -gt 0 ]; do
  case "$1" in
    -h | --help)
      usage
      exit 0
      ;;
    --continue) continue=1 ;;
    --jobs) jobs=$2 && shift ;;
    -*) fail "scripts/mutants.sh: unknown argument $1; see --help" ;;
    *) files+=("$1") && continue=1 ;;
  esac
  shift
done

ensure_rust
ensure_packages build-essential python3
target=${CARGO_TARGET_DIR:-$root/target}
work=$target/mutants
ledger=$work/ledger.json
mkdir -p "$work"
[ -n "$continue" ] || rm -rf "$ledger" "$work"/mutants.out*

version=27.1.0
if ! "$target/tools/bin/cargo-mutants" mutants --version 2>/dev/null | grep -q "$version"; then
  step "cargo-mutants"
  cargo install --locked --quiet --root "$target/tools" cargo-mutants --version "$version"
fi
export PATH=$target/tools/bin:$PATH

# Unsafe functions are left alone by cargo-mutants. To it they are safe here, which changes nothing
# that is compiled: each has unsafe blocks of its own.
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
git ls-files | tar -cT - | tar -xC "$tree"
sed -i -E 's/\bunsafe fn ([a-z])/fn \1/' "$tree"/src/kernel/*.rs

core=(src/builder.rs src/filter.rs src/hash.rs src/keys.rs src/policy.rs src/probe.rs src/sizing.rs)
kernels=(src/kernel/{mod,bits,check,key,portable,scratch}.rs)
if [ "$(uname -m)" = x86_64 ]; then
  kernels+=(src/kernel/cpu.rs)
  for kernel in avx2 avx512; do
    grep -q -w "${kernel/avx512/avx512_vbmi}" /proc/cpuinfo && kernels+=("src/kernel/$kernel.rs")
  done
elif [ "$(uname -m)" = aarch64 ]; then
  kernels+=(src/kernel/neon.rs)
fi

# run FILE... -- CARGO ARGUMENT... -- ARGUMENT...: the mutants of these files, before the tests that
# cargo and the tests' programs choose by these arguments.
run() {
  local chosen=() build=() status=0
  while [ "$1" != -- ]; do
    [ ${#files[@]} -ne 0 ] && [[ " ${files[*]} " != *" $1 "* ]] || chosen+=(--file "$1")
    shift
  done
  shift
  while [ "$1" != -- ]; do build+=("--cargo-arg=$1") && shift; done
  shift
  [ ${#chosen[@]} -ne 0 ] || return 0
  # Optimised a little, the tests take seconds; the first that fails ends them.
  env --chdir="$tree" -u CARGO_TARGET_DIR CARGO_PROFILE_TEST_OPT_LEVEL=1 CARGO_PROFILE_TEST_DEBUG=0 \
    CARGO_PROFILE_DEV_DEBUG=0 CARGO_INCREMENTAL=1 RUSTC_BOOTSTRAP=1 \
    cargo mutants --package leveldb-bloom "${chosen[@]}" "${build[@]}" --iterate --output "$work" \
    --jobs "$jobs" -- -- "$@" -Zunstable-options --fail-fast || status=$?
  # 2 and 3: some were missed, or ran out of time.
  case $status in 0 | 2 | 3) ;; *) exit $status ;; esac
  python3 scripts/mutants/report.py note "$ledger" "$work/mutants.out"
  # What never ends has been noticed, too.
  cat "$work/mutants.out/timeout.txt" >>"$work/mutants.out/previously_caught.txt"
}

step "core"
run "${core[@]}" -- --lib -- --skip kernel::tests::portable:: --skip kernel::tests::avx \
  --skip kernel::tests::neon
step "kernels"
run "${kernels[@]}" -- --lib -- kernel::tests --skip huge --skip ends_of_pages
step "what is left, before all tests"
run "${core[@]}" "${kernels[@]}" -- --lib --tests --

step "results"
(cd "$tree" && cargo mutants --package leveldb-bloom --list) >"$work/list.txt"
python3 scripts/mutants/report.py write "$ledger" "$work/list.txt" scripts/mutants/survivors.txt \
  docs/mutants.md "${core[@]}" "${kernels[@]}"

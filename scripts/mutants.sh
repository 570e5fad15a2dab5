#!/usr/bin/env bash
# Whether the tests notice when the code is changed; see --help.

set -e
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

usage() {
  cat <<'TEXT'
usage: scripts/mutants.sh [--continue] [--jobs N] [--help] [FILE...]

cargo-mutants changes the core, the kernels that this machine can run, the C interface and what reads
tables (table/), one place at a time, and runs the Rust tests, or for the C interface the C and C++ programs
of ctest/ that use the shared library; one must fail. Writes to docs/mutants.md a row for each file. Fails
where a change goes unnoticed that scripts/mutants/survivors.txt does not explain.

  --continue   leaves out what earlier runs have killed, as far as it is at the same place
  --jobs N     as many at a time (1)
  FILE         only the mutants of these files; the others are as earlier runs found them

Some 3,000 mutants: those of the core, the kernels and the tables take some seconds each, two hours
together; those of the C interface half a minute each, four hours together. cargo-mutants is built into
target/tools the first time.
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
    --jobs)
      jobs=$(number --jobs "${2-}" 1 1000)
      shift
      ;;
    -*) fail "scripts/mutants.sh: unknown argument $1; see --help" ;;
    *) files+=("$1") && continue=1 ;;
  esac
  shift
done

core=(src/builder.rs src/filter.rs src/hash.rs src/keys.rs src/policy.rs src/probe.rs src/sizing.rs)
kernels=(src/kernel/{mod,bits,blocks,key,scratch,self_check,portable}.rs src/kernel/portable/*.rs)
if [ "$(uname -m)" = x86_64 ]; then
  kernels+=(src/kernel/cpu.rs)
  for kernel in avx2 avx512; do
    ! grep -q -w "${kernel/avx512/avx512vbmi}" /proc/cpuinfo ||
      mapfile -t -O ${#kernels[@]} kernels < <(git ls-files "src/kernel/$kernel*")
  done
elif [ "$(uname -m)" = aarch64 ]; then
  kernels+=(src/kernel/neon.rs)
fi
ffi=(src/ffi/*.rs src/ffi/address/glibc.rs) # the other loaders' is compiled where glibc is not
table=(table/src/*.rs)
all=("${core[@]}" "${kernels[@]}" "${ffi[@]}" "${table[@]}")
for file in "${files[@]}"; do
  is_one_of "$file" "${all[@]}" || fail "No mutants are made of $file."
done

git rev-parse --short HEAD >/dev/null 2>&1 || fail "This needs a clone: the files and their commit are asked of git."
ensure_rust
ensure_packages build-essential python3
work=$target/mutants
ledger=$work/ledger.json
mkdir -p "$work"
[ -n "$continue" ] || rm -rf "$ledger" "$work"/mutants.out*

version=27.1.0
if [[ $("$target/tools/bin/cargo-mutants" mutants --version 2>/dev/null) != *"$version"* ]]; then
  step "cargo-mutants"
  cargo install --locked --quiet --root "$target/tools" cargo-mutants --version "$version"
fi
export PATH=$target/tools/bin:$PATH

# Unsafe functions are left alone by cargo-mutants. To it they are safe here, which changes nothing
# that is compiled: each has unsafe blocks of its own.
tree=$work/tree
rm -rf "$tree"
mkdir "$tree"
git ls-files | tar -cT - | tar -xC "$tree"
commit=$(git rev-parse --short HEAD)
git diff --quiet HEAD -- src tests ctest table || commit+=", changed"
sed -i -E 's/\bunsafe (extern "C(-unwind)?" )?fn ([a-z])/\1fn \3/' "$tree"/src/{ffi,kernel,kernel/*}/*.rs

# The first test that fails ends them.
export CARGO_PROFILE_TEST_DEBUG=0 CARGO_PROFILE_DEV_DEBUG=0
export CARGO_PROFILE_RELEASE_OPT_LEVEL=1 CARGO_PROFILE_RELEASE_LTO=off
export CARGO_PROFILE_RELEASE_OVERFLOW_CHECKS=true
export CARGO_PROFILE_RELEASE_CODEGEN_UNITS=16 CARGO_PROFILE_RELEASE_INCREMENTAL=true
export CARGO_INCREMENTAL=1 RUSTC_BOOTSTRAP=1
unset CARGO_TARGET_DIR

# chosen FILE...: cargo-mutants' arguments for those of these files that are asked for.
chosen() {
  local file
  for file; do
    [ ${#files[@]} -eq 0 ] || [[ " ${files[*]} " == *" $file "* ]] || continue
    printf -- '--file\n%s\n' "$file"
  done
}

# An interrupted run's outcomes: of what it had tried, the next says only that it did not survive.
[ ! -e "$work/mutants.out" ] || python3 scripts/mutants/report.py note "$ledger" "$work/mutants.out"

# run PACKAGE FILE... -- ARGUMENT...: the mutants of these files, as cargo-mutants is told to.
run() {
  local package=$1 of=() status=0
  shift
  while [ "$1" != -- ]; do of+=("$1") && shift; done
  shift
  mapfile -t of < <(chosen "${of[@]}")
  [ ${#of[@]} -ne 0 ] || return 0
  env --chdir="$tree" cargo mutants --package "$package" "${of[@]}" --iterate --output "$work" \
    "$@" || status=$?
  # 2 and 3: some were missed, or ran out of time.
  case $status in 0 | 2 | 3) ;; *) exit $status ;; esac
  python3 scripts/mutants/report.py note "$ledger" "$work/mutants.out"
  # What never ends has been noticed, too.
  cat "$work/mutants.out/timeout.txt" >>"$work/mutants.out/previously_caught.txt"
}

step "core"
run leveldb-bloom "${core[@]}" -- --jobs "$jobs" --cargo-arg=--lib -- -- \
  --skip kernel::tests::portable:: --skip kernel::tests::avx --skip kernel::tests::neon --skip huge -Zunstable-options --fail-fast
step "kernels"
run leveldb-bloom "${kernels[@]}" -- --jobs "$jobs" --cargo-arg=--lib -- -- kernel::tests --skip huge \
  --skip ends_of_pages -Zunstable-options --fail-fast
step "what is left, before all tests"
run leveldb-bloom "${core[@]}" "${kernels[@]}" -- --jobs "$jobs" --cargo-arg=--lib \
  --cargo-arg=--tests -- -- -Zunstable-options --fail-fast

step "tables"
run leveldb-bloom-table "${table[@]}" -- --jobs "$jobs" -- -- -Zunstable-options --fail-fast

# The C and C++ programs find the library where CMake builds it, so that only the library has to be
# built anew for each mutant; one at a time, because there is one such place.
if [ -n "$(chosen "${ffi[@]}")" ]; then
  step "the C and C++ programs"
  ensure_ctest_packages
  cmake -S "$tree" -B "$work/cmake" -G Ninja -DCMAKE_BUILD_TYPE=RelWithDebInfo \
    -DLEVELDB_BLOOM_BUILD_TESTS=ON >"$work/cmake.log" || { cat "$work/cmake.log"; exit 1; }
  cmake --build "$work/cmake" >"$work/cmake.log" 2>&1 || { cat "$work/cmake.log"; exit 1; }
  cp scripts/mutants/c_programs.rs "$tree/tests"
  export MUTANTS_BUILD=$work/cmake
  step "the C interface"
  run leveldb-bloom "${ffi[@]}" -- --in-place --timeout 150 --cargo-arg=--lib --cargo-arg=--test \
    --cargo-arg=c_programs -- -- ffi:: c_programs
fi

step "results"
(cd "$tree" && cargo mutants --package leveldb-bloom --package leveldb-bloom-table --list) >"$work/list.txt"
mapfile -t asked < <(chosen "${all[@]}" | sed '/^--file$/d')
python3 scripts/mutants/report.py write "$commit" "$ledger" "$work/list.txt" scripts/mutants/survivors.txt \
  docs/mutants.md "${asked[@]}"

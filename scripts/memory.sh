#!/usr/bin/env bash
# No read or write beside what was given, no leak, no race; see --help.

set -e
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

usage() {
  cat <<'TEXT'
usage: scripts/memory.sh [--help] [CHECK...]

Looks for wrong uses of memory with each tool that can see them, and then plants faults to see that
each tool finds what it is there for:

  pages       keys and filters that begin and end at pages nothing may touch, every kernel
              (the only tool that sees AVX-512's masked loads)
  valgrind    memcheck: the kernels' tests, and the C test against both release libraries; the
              portable and the AVX2 kernel, since valgrind knows no AVX-512
  address     AddressSanitizer and LeakSanitizer in our Rust code, with UndefinedBehaviorSanitizer
              in the C and C++ tests; the Rust tests too
  thread      ThreadSanitizer in our code and Rust's standard library, many threads with one policy
  miri        Rust's interpreter, which sees what compilers may not count on: pointers that do not belong
              where they point, references that should be alone; on most of the portable kernel's tests and
              on keys in one piece (the other tests take too long)
  planted     an over-read, a leak, a race and a wrong bit, each found by the tools meant for it;
              and no release build can contain one

Without arguments, all of them; some ten minutes. Installs valgrind, the compilers and libraries
(as root on Debian), and by rustup Rust's source for `thread` and a nightly toolchain for `miri`. Builds
in target/memory.
TEXT
}

checks=()
for argument in "$@"; do
  case "$argument" in
    -h | --help)
      usage
      exit 0
      ;;
    pages | valgrind | address | thread | miri | planted) checks+=("$argument") ;;
    *) fail "scripts/memory.sh: unknown check $argument; see --help" ;;
  esac
done
[ ${#checks[@]} -gt 0 ] || checks=(pages valgrind address thread miri planted)
chosen() { [[ " ${checks[*]} " == *" $1 "* ]]; }

ensure_rust
ensure_packages build-essential binutils
host=$(rustc -vV | sed -n 's/^host: //p')
work=$target/memory
mkdir -p "$work"
export CARGO_TARGET_DIR=$work
# The sanitizers are no stable options.
unstable=(env RUSTC_BOOTSTRAP=1)

# unit_tests ARGUMENT...: builds the core's unit tests, and prints their file's name.
unit_tests() {
  cargo test --locked --package leveldb-bloom --lib --no-run "$@" >"$work/unit_tests.log" 2>&1 ||
    fail "$(cat "$work/unit_tests.log")"
  sed -n 's/.*Executable unittests.*(\(.*\))$/\1/p' "$work/unit_tests.log"
}

# instrumented SYMBOL FILE: FILE, made of our Rust code, calls SYMBOL.
instrumented() {
  [[ $(nm --undefined-only "$2" 2>/dev/null) == *" U $1"* ]] ||
    fail "$2 was not built with the sanitizer: it does not call $1"
}

# finds NAME PATTERN COMMAND...: the command fails, and says PATTERN.
finds() {
  local name=$1 pattern=$2
  shift 2
  if "$@" >"$work/planted.log" 2>&1; then
    fail "not found: $name"
  fi
  grep -q -- "$pattern" "$work/planted.log" || {
    cat "$work/planted.log"
    fail "$name: something else failed; expected: $pattern"
  }
  echo "found: $name"
}

memcheck=(valgrind --quiet --error-exitcode=9 --leak-check=full --show-leak-kinds=definite
  --errors-for-leak-kinds=definite)

# c_test LIBRARY PROGRAM FLAG...: builds the C test against a library.
c_test() {
  local library=$1 program=$2
  shift 2
  cc -std=c99 -Wall -Wextra -Werror -g "$@" -Iinclude ctest/harness/c_test.c "$library" \
    "-Wl,-rpath,$(dirname "$library")" -ldl -pthread -o "$program"
}

address=('-fsanitize=address,undefined' -fno-sanitize-recover=all -fno-omit-frame-pointer)
# build_address CFG...: the C libraries with AddressSanitizer; sets $static.
build_address() {
  "${unstable[@]}" RUSTFLAGS="-Zsanitizer=address $*" cargo build --locked --quiet \
    --target "$host" --target-dir "$work/address"
  static=$work/address/$host/debug/libleveldb_bloom.a
  instrumented __asan_report_load "$static"
}

# thread_tests CFG...: tests/threads.rs with ThreadSanitizer, standard library and all.
# shellcheck disable=SC2119,SC2120
thread_tests() {
  "${unstable[@]}" RUSTFLAGS="-Zsanitizer=thread $*" CARGO_PROFILE_DEV_PANIC=unwind \
    CARGO_PROFILE_TEST_OPT_LEVEL=0 cargo test --locked -Zbuild-std --target "$host" --target-dir "$work/thread" \
    --package leveldb-bloom --test threads
}

ensure_rust_source() {
  [ -f "$(rustc --print sysroot)/lib/rustlib/src/rust/library/Cargo.lock" ] ||
    rustup component add rust-src ||
    fail "ThreadSanitizer needs Rust's source: rustup component add rust-src"
}

# Miri is only in nightly toolchains; of one day, so that all see the same.
nightly=nightly-2026-10-30
ensure_miri() {
  local install=(rustup toolchain install $nightly --profile minimal --component miri,rust-src)
  { rustup run $nightly rustc --version && rustup run $nightly cargo miri --version; } \
    >/dev/null 2>&1 && return
  # rustup takes for whole what an interrupted installation has left.
  rustup toolchain uninstall $nightly >/dev/null 2>&1 || true
  "${install[@]}" || fail "Miri needs: ${install[*]}"
}

# miri ARGUMENT...: cargo test, interpreted.
miri() {
  MIRIFLAGS=-Zmiri-disable-isolation CARGO_PROFILE_TEST_OPT_LEVEL=0 rustup run $nightly \
    cargo miri test --locked --quiet --target-dir "$work/miri" --package leveldb-bloom "$@"
}

if chosen pages; then
  step "pages"
  tests=$(unit_tests)
  "$tests" ends_of_pages --show-output | tee "$work/pages.log" | grep -v '^$'
  grep -q '^test kernel::tests::portable::ends_of_pages ... ok' "$work/pages.log"
fi

if chosen valgrind; then
  ensure_packages valgrind
  step "valgrind"
  tests=$(unit_tests)
  cargo build --locked --quiet --release
  for library in "$work"/release/libleveldb_bloom.{a,so}; do
    c_test "$library" "$work/c_test-${library##*.}"
  done
  for kernel in avx2 portable; do
    if [ $kernel = avx2 ] && ! grep -q -w avx2 /proc/cpuinfo; then
      echo "this machine has no AVX2"
      continue
    fi
    # What is left out maps gigabytes, or takes minutes here.
    "${memcheck[@]}" "$tests" "kernel::tests::$kernel::" --skip huge --skip ends_of_pages \
      --skip hash_every --skip sizes_around | tee "$work/valgrind.log"
    # With a name that no test has any more, none runs, and none fails.
    grep -q '^test result: ok\. [1-9][0-9]* passed' "$work/valgrind.log" ||
      fail "no test of the kernel $kernel ran under valgrind"
    for program in "$work"/c_test-{a,so}; do
      env LEVELDB_BLOOM_KERNEL=$kernel "${memcheck[@]}" "$program" 2>&1 | tail -n 1
      [ "$(LEVELDB_BLOOM_KERNEL=$kernel valgrind -q "$program" --kernel)" = $kernel ] ||
        fail "the kernel was not $kernel"
    done
  done
fi

if chosen address; then
  ensure_packages g++ libgtest-dev libleveldb-dev libsnappy-dev
  step "AddressSanitizer, LeakSanitizer, UndefinedBehaviorSanitizer"
  build_address
  c_test "$static" "$work/c_test-address" "${address[@]}"
  "$work/c_test-address" 2>&1 | tail -n 1
  # Sizes that cannot be had are among the tests.
  export ASAN_OPTIONS=allocator_may_return_null=1
  for name in bloom_test golden_test bad_input_test; do
    echo "$name, linked with libleveldb.a:"
    g++ -std=c++17 -Wall -Wextra -g "${address[@]}" -DHARNESS_HOST \
      "-DHARNESS_LEVELDB_FILE=\"$(stock_leveldb)\"" \
      "-DHARNESS_SHARED_FILE=\"$work/address/$host/debug/libleveldb_bloom.so\"" -Iinclude \
      "ctest/harness/$name.cc" "$static" -l:libleveldb.a -lsnappy -lgtest -lgtest_main -ldl \
      -pthread -o "$work/$name-address"
    "$work/$name-address" | tail -n 1
  done
  echo "a database:"
  cc -std=c99 -Wall -Wextra -g "${address[@]}" -DHARNESS_HOST -Iinclude -c \
    ctest/harness/c_database_test.c -o "$work/c_database_test.o"
  g++ "${address[@]}" "$work/c_database_test.o" "$static" -l:libleveldb.a -lsnappy -ldl -pthread \
    -o "$work/c_database_test"
  "$work/c_database_test" "$work/database" 2>&1 | tail -n 1
  tests=(--lib)
  for test in tests/*.rs; do
    # It has a malloc of its own, as the sanitizer has.
    [ "$test" = tests/no_memory.rs ] || tests+=(--test "$(basename "$test" .rs)")
  done
  "${unstable[@]}" RUSTFLAGS=-Zsanitizer=address cargo test --locked --quiet --target "$host" \
    --target-dir "$work/address" --package leveldb-bloom "${tests[@]}"
fi

if chosen thread; then
  ensure_rust_source
  step "ThreadSanitizer"
  # shellcheck disable=SC2119
  thread_tests
  # In one folder or in folders of their own, by cargo's version.
  mapfile -t built < <(find "$work/thread/$host/debug" -name 'libleveldb_bloom-*.rlib')
  [ ${#built[@]} -gt 0 ] || fail "There is no libleveldb_bloom-*.rlib below $work/thread/$host/debug."
  for library in "${built[@]}"; do
    instrumented __tsan_read "$library"
  done
fi

if chosen miri; then
  ensure_miri
  step "Miri"
  # What is left out takes minutes each.
  miri --lib -- kernel::tests::portable:: --skip few_keys --skip one_of --skip hash_every \
    --skip far_strides --skip every_filter_size | tee "$work/miri.log"
  grep -q '^test result: ok\. [1-9][0-9]* passed' "$work/miri.log" || fail "no test ran under Miri"
  miri --lib -- keys::
  miri --test api -- more_keys
fi

if chosen planted; then
  ensure_packages valgrind
  ensure_rust_source
  ensure_miri
  step "planted faults"
  planted() { echo "--cfg leveldb_bloom_planted --cfg leveldb_bloom_planted=\"$1\""; }

  RUSTFLAGS=$(planted leak) finds "a planted fault in a release build, by the compiler" \
    "a release build cannot have them" cargo build --locked --release --target-dir "$work/planted"

  # Each test for itself: the first one that reads too far ends the process.
  tests=$(RUSTFLAGS=$(planted over_read) unit_tests --target-dir "$work/planted")
  cargo test --quiet --locked --package leveldb-bloom --test corpus -- --show-output \
    >"$work/corpus.log" 2>&1 || fail "$(cat "$work/corpus.log")"
  kernels=$(sed -n 's/^hash of the corpus, \(.*\):.*/\1/p' "$work/corpus.log")
  [ -n "$kernels" ] || fail "tests/corpus.rs names no kernel: $(cat "$work/corpus.log")"
  for kernel in $kernels; do
    finds "over-read, $kernel, by guard pages" "" \
      bash -c '"$1" "$2"; [ $? -ne 139 ] || { echo SIGSEGV; exit 1; }' -- \
      "$tests" "kernel::tests::$kernel::ends_of_pages"
    grep -q SIGSEGV "$work/planted.log" || fail "the guard page was not what found it"
  done

  for fault in over_read leak; do
    build_address "$(planted $fault)"
    c_test "$static" "$work/planted-address" "${address[@]}"
    RUSTFLAGS=$(planted $fault) cargo build --locked --quiet --target-dir "$work/planted"
    c_test "$work/planted/debug/libleveldb_bloom.a" "$work/planted-valgrind"
    if [ $fault = over_read ]; then
      finds "over-read, by AddressSanitizer" heap-buffer-overflow "$work/planted-address"
      finds "over-read, by valgrind" "Invalid read of size 1" \
        "${memcheck[@]}" "$work/planted-valgrind"
    else
      finds "leak, by LeakSanitizer" "Direct leak of .* byte" "$work/planted-address"
      finds "leak, by valgrind" "are definitely lost" "${memcheck[@]}" "$work/planted-valgrind"
    fi
  done

  RUSTFLAGS=$(planted over_read) finds "over-read, by Miri" "Undefined Behavior" \
    miri --lib -- kernel::tests::portable::malformed_filters

  finds "race, by ThreadSanitizer" "WARNING: ThreadSanitizer: data race" \
    thread_tests "$(planted race)"

  for test in corpus format; do
    RUSTFLAGS=$(planted wrong_bit) finds "wrong bit, by tests/$test.rs" "test result: FAILED" \
      cargo test --locked --target-dir "$work/planted" --package leveldb-bloom --test $test
  done
  RUSTFLAGS=$(planted wrong_bit) cargo build --locked --quiet --target-dir "$work/planted"
  c_test "$work/planted/debug/libleveldb_bloom.a" "$work/planted-wrong_bit"
  finds "wrong bit, by the C test" "create_filter: memcmp(filter, golden" "$work/planted-wrong_bit"
fi

step "done"

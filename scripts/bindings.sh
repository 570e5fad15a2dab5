#!/usr/bin/env bash
# The packages for other languages, built, installed and tested; see --help.

set -e
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

usage() {
  cat <<'TEXT'
usage: scripts/bindings.sh LANGUAGE [--quick | --wheels] [--help]

python   bindings/python: lints; a wheel for this machine, with the command and the library for
         preloading, in target/bindings/python/wheels; its tests and mypy on the oldest and the newest
         Python to be had (of those called python3.N, and of pyenv's), each in a fresh environment
         outside this tree

  --quick    on one Python: what scripts/test.sh runs
  --wheels   wheels for manylinux and musllinux (x86-64, aarch64) and Windows (x86-64), built with zig
             and checked by auditwheel and abi3audit; those that this machine can run are tested, too
TEXT
}

language=
mode=
for argument in "$@"; do
  case $argument in
    -h | --help)
      usage
      exit 0
      ;;
    python) language=$argument ;;
    --quick | --wheels) mode=$argument ;;
    *) fail "scripts/bindings.sh: unknown argument $argument; see --help" ;;
  esac
done
[ -n "$language" ] || fail "scripts/bindings.sh: which language? See --help."

# --- Python

package=$root/bindings/python
out=$target/bindings/python
tools=$out/tools
# What maturin puts into the wheel beside the module.
carried=$package/python/leveldb_bloom/bin

# python_wheel COMPATIBILITY [TARGET]: a wheel in $out/wheels; with TARGET, cross-built by zig.
python_wheel() {
  local compatibility=$1 triple=${2-} build=(build) for_target=() zig=() built=$target/release
  local wanted=(leveldb-bloom libleveldb_bloom.so)
  if [ -n "$triple" ]; then
    # The oldest glibc that manylinux2014 knows.
    build=(zigbuild)
    for_target=(--target "${triple/%-gnu/-gnu.2.17}")
    zig=(--zig --target "$triple")
    built=$target/$triple/release
    rustup --quiet target add "$triple"
  fi
  rm -rf "$carried"
  mkdir -p "$carried"
  cargo "${build[@]}" --release --locked --quiet "${for_target[@]}" -p leveldb-bloom-inspector
  # Without the option musl's programs are static, and have no libraries.
  RUSTFLAGS=$(case $triple in *-musl) echo "-Ctarget-feature=-crt-static" ;; esac) \
    cargo "${build[@]}" --release --locked --quiet "${for_target[@]}" -p leveldb-bloom-shared
  local name
  for name in "${wanted[@]}"; do cp "$built/$name" "$carried"; done
  CARGO_TARGET_DIR=$out/build quietly maturin build --release --locked --manifest-path \
    "$package/Cargo.toml" --compatibility "$compatibility" "${zig[@]}" --out "$out/wheels"
  rm -rf "$carried"
}

# pythons: the Pythons from 3.9 on, the oldest first.
pythons() {
  local python
  for python in $(compgen -c -X '!python3.*' | grep -x 'python3\.[0-9]*' | sort -u) \
    "${PYENV_ROOT:-$HOME/.pyenv}"/versions/*/bin/python3; do
    "$python" -c 'import sys, venv, ensurepip
if sys.version_info >= (3, 9): print(sys.version_info[1], sys.executable)' 2>/dev/null || :
  done | sort -n | sort -u -n -k 1,1 | cut -d' ' -f2
}

# python_tests PYTHON WHEEL: in a fresh environment outside the tree.
python_tests() {
  local work status=0
  step "$("$1" --version): $(basename "$2")"
  work=$(mktemp -d)
  cp -r "$package/tests" "$work"
  cp scripts/ribbon_reference.py "$work/tests"
  /usr/bin/python3 scripts/ffi/golden.py ctest/harness/golden_values.h >"$work/golden.txt"
  "$1" -m venv "$work/venv"
  local python=$work/venv/bin/python
  "$python" -m pip install --quiet --disable-pip-version-check "$2" -r "$package/requirements-test.txt"
  (
    cd "$work"
    export LEVELDB_BLOOM_GOLDEN=$work/golden.txt PYTHONDONTWRITEBYTECODE=1
    # Joined by &&: behind || the shell would go on after an error.
    "$python" -m pytest -q -p no:cacheprovider tests &&
      "$python" -m mypy --strict --warn-unused-ignores tests/consumer.py &&
      "$python" -m mypy --strict -p leveldb_bloom &&
      "$python" -m mypy.stubtest leveldb_bloom
  ) || status=$?
  rm -rf "$work"
  return $status
}

run_python() {
  ensure_venv "$tools" -r "$package/requirements-build.txt"
  export PATH=$tools/bin:$PATH
  rm -rf "$out/wheels"
  step "the Python package"
  (
    cd "$package"
    cargo fmt --check
    CARGO_TARGET_DIR=$out/build cargo clippy --locked --quiet -- -D warnings
  )
  python_wheel linux
  local all
  mapfile -t all < <(pythons)
  [ ${#all[@]} -gt 0 ] || fail "There is no Python from 3.9 on with venv."
  [ "$mode" = --quick ] || [ ${#all[@]} -eq 1 ] || python_tests "${all[0]}" "$out"/wheels/*.whl
  python_tests "${all[-1]}" "$out"/wheels/*.whl
}

ensure_rust
ensure_packages build-essential python3 python3-venv
run_"$language"

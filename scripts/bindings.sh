#!/usr/bin/env bash
# The packages for other languages, built, installed and tested; see --help.

set -e
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

usage() {
  cat <<'TEXT'
usage: scripts/bindings.sh LANGUAGE [--quick | --wheels | --packages] [--help]

python   bindings/python: lints; a wheel for this machine, with the command and the library for
         preloading, in target/bindings/python/wheels; its tests and mypy on the oldest and the newest
         Python to be had (of those called python3.N, and of pyenv's), each in a fresh environment
         outside this tree; examples/distributed

  --quick    on the oldest Python alone: what scripts/test.sh runs
  --wheels   wheels for manylinux and musllinux (x86-64, aarch64), built with zig, and for Windows
             (x86-64; the module alone), checked by auditwheel and abi3audit; that for this machine
             and glibc is tested, the others are not run
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
    python | node) language=$argument ;;
    --quick | --wheels | --packages) mode=$argument ;;
    *) fail "scripts/bindings.sh: unknown argument $argument; see --help" ;;
  esac
done
[ -n "$language" ] || fail "scripts/bindings.sh: which language? See --help."

case $language$mode in
  python--packages | node--wheels) fail "scripts/bindings.sh: $language has no $mode; see --help" ;;
esac

package=$root/bindings/$language
out=$target/bindings/$language

lint() {
  cargo clippy --locked --quiet -p "leveldb-bloom-$language" -- -D warnings
}

# zig_flags TRIPLE: for the Rust compiler, where zig links.
zig_flags() {
  local machine=${1%%-*} library
  printf '%s ' "${RUSTFLAGS-}"
  [[ $1 = *-linux-gnu ]] || return 0
  # zig would link an unwinder of its own. When Python ends a thread that waits for it, glibc unwinds
  # that with libgcc's, which must find itself in the module, too.
  library=/lib/$machine-linux-gnu/libgcc_s.so.1
  [ -e "$library" ] || library=/usr/$machine-linux-gnu/lib/libgcc_s.so.1
  echo "-Clink-arg=$library"
}

# --- Python

# What maturin puts into the wheel beside the module.
carried=$package/python/leveldb_bloom/bin

# python_wheel COMPATIBILITY [TARGET]: a wheel in $out/wheels; for another TARGET by zig, or mingw-w64.
python_wheel() {
  local compatibility=$1 triple=${2-} build=(build) for_target=() for_module=() built=$target/release
  local flags
  flags=$(zig_flags "$triple")
  case $triple in
    *-linux-*)
      # The oldest glibc that manylinux2014 knows.
      build=(zigbuild)
      for_target=(--target "${triple/%-gnu/-gnu.2.17}")
      for_module=(--zig --target "$triple")
      built=$target/$triple/release
      ;;
    ?*) for_module=(--target "$triple") ;;
  esac
  [ -z "$triple" ] || rustup --quiet target add "$triple"
  rm -rf "$carried"
  if [[ $triple != *-windows-* ]]; then
    mkdir -p "$carried"
    cargo "${build[@]}" --release --locked --quiet "${for_target[@]}" -p leveldb-bloom-inspector
    # Without the option musl's programs are static, and have no libraries.
    RUSTFLAGS="${RUSTFLAGS-} $([[ $triple != *-musl ]] || echo "-Ctarget-feature=-crt-static")" \
      cargo "${build[@]}" --release --locked --quiet "${for_target[@]}" -p leveldb-bloom-shared
    cp "$built/leveldb-bloom" "$built/libleveldb_bloom.so" "$carried"
  fi
  RUSTFLAGS=$flags quietly maturin build --locked --manifest-path "$package/Cargo.toml" \
    --compatibility "$compatibility" "${for_module[@]}" --out "$out/wheels"
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
  cp scripts/ribbon_reference.py "$package/README.md" "$work/tests"
  cp README.md "$work/tests/README.top.md"
  "$1" -m venv "$work/venv"
  local python=$work/venv/bin/python
  "$python" -m pip install --quiet --disable-pip-version-check "$2" -r "$package/requirements-test.txt"
  (
    cd "$work"
    export PYTHONDONTWRITEBYTECODE=1
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
  ensure_wheel_tools
  rm -rf "$out/wheels"
  step "the Python package"
  lint
  if [ "$mode" = --wheels ]; then
    ensure_cross_tools
    local machine
    for machine in x86_64 aarch64; do
      python_wheel manylinux2014 $machine-unknown-linux-gnu
      python_wheel musllinux_1_2 $machine-unknown-linux-musl
    done
    python_wheel off x86_64-pc-windows-gnu
    local wheel tag
    # Of musl's wheels auditwheel knows nothing on another system; maturin has checked them.
    for wheel in "$out"/wheels/*-manylinux*.whl; do
      tag=${wheel##*-} tag=${tag%.whl}
      [[ $(auditwheel show "$wheel" | tr -d '\n') == *"\"${tag##*.}\""* ]] ||
        fail "$wheel: auditwheel says $(auditwheel show "$wheel")"
    done
    quietly abi3audit --strict "$out"/wheels/*.whl
    ls -s --block-size=1K "$out/wheels"
  else
    python_wheel linux
  fi
  local all here
  here=$(echo "$out"/wheels/*-*linux_*"$(uname -m)".whl | tr ' ' '\n' | grep -v musllinux)
  mapfile -t all < <(pythons)
  [ ${#all[@]} -gt 0 ] || fail "There is no Python from 3.9 on with venv."
  python_tests "${all[0]}" "$here"
  [ "$mode" != --quick ] || return 0
  [ ${#all[@]} -eq 1 ] || python_tests "${all[-1]}" "$here"
  distributed_tests "$here"
}

# distributed_tests WHEEL: examples/distributed, with dask.
distributed_tests() {
  step "examples/distributed"
  ensure_venv "$out/distributed" -r "$root/examples/distributed/requirements.txt"
  "$out/distributed/bin/pip" install --quiet --disable-pip-version-check --force-reinstall --no-deps "$1"
  local program
  for program in example distributed_bloom_test; do
    (cd examples/distributed && PYTHONDONTWRITEBYTECODE=1 DASK_TEMPORARY_DIRECTORY=$out/dask \
      "$out/distributed/bin/python" $program.py)
  done
}

# --- Node

# node_module PLATFORM [TRIPLE]: adds PLATFORM=LIBRARY to $modules; for a TRIPLE by zig, or mingw-w64.
node_module() {
  local triple=${2-} build=(build) folder=$target/binding library=libleveldb_bloom_node.so flags=${RUSTFLAGS-}
  if [ -n "$triple" ]; then
    rustup --quiet target add "$triple"
    folder=$target/$triple/binding
    build=(build --target "$triple")
    case $triple in
      *-linux-*)
        flags=$(zig_flags "$triple")
        # Without the option there are no libraries for musl.
        [[ $triple != *-musl ]] || flags+=' -Ctarget-feature=-crt-static'
        # The oldest glibc that a Node knows.
        build=(zigbuild --target "${triple/%-gnu/-gnu.2.17}")
        ;;
      *-windows-*)
        library=leveldb_bloom_node.dll
        # napi looks for this; nothing in it is needed, because all of Node-API is found at run time.
        export LIBNODE_PATH=$out
        ar rcs "$LIBNODE_PATH/libnode.dll"
        ;;
    esac
  fi
  RUSTFLAGS=$flags cargo "${build[@]}" --profile binding --locked --quiet -p leveldb-bloom-node
  modules+=("$1=$folder/$library")
}

# node_tests PLATFORM TESTS NODE...: with this Node, in a folder outside the tree.
node_tests() {
  local work file status=0
  step "$1: ${*:3}"
  work=$(mktemp -d)
  cp "$package"/tests/* "$package/README.md" "$work"
  cp README.md "$work/README.top.md"
  (
    cd "$work"
    # By force also what is for another machine.
    npm install --silent --no-audit --no-fund --force "$out/packages/leveldb-bloom-$version.tgz" \
      "$out/packages/leveldb-bloom-$1-$version.tgz" || exit 1
    for file in $2; do
      LEVELDB_BLOOM_VERSION=$version "${@:3}" --expose-gc "$file.test.js" </dev/null || exit 1
    done
    node node_modules/typescript/bin/tsc --strict --noEmit --module nodenext --target es2022 \
      --types node consumer.ts
  ) || status=$?
  rm -rf "$work"
  return $status
}

# node_release PLATFORM VERSION: where npm has put that Node.
node_release() {
  npm install --prefix "$out/node/$1-$2" --silent --no-audit --no-fund --force "node-$1@$2" >&2
  echo "$out/node/$1-$2/node_modules/node-$1/bin/node"
}

run_node() {
  ensure_node
  step "the Node package"
  lint
  version=$(cargo metadata --locked --no-deps --format-version 1 |
    node -p 'JSON.parse(fs.readFileSync(0)).packages.find(({ name }) => name === "leveldb-bloom").version')
  modules=()
  local cpu here tests='filter keys package'
  cpu=$(node -p process.arch)
  here=linux-$cpu-gnu
  if [ "$mode" = --packages ]; then
    ensure_wheel_tools
    ensure_cross_tools
    node_module linux-x64-gnu x86_64-unknown-linux-gnu
    node_module linux-x64-musl x86_64-unknown-linux-musl
    node_module linux-arm64-gnu aarch64-unknown-linux-gnu
    node_module linux-arm64-musl aarch64-unknown-linux-musl
    node_module win32-x64 x86_64-pc-windows-gnu
  else
    node_module "$here"
  fi
  rm -rf "$out/packages"
  mkdir -p "$out/packages"
  node "$package/pack.mjs" "$out/packages" "$version" "${modules[@]}"
  ls -s --block-size=1K "$out/packages"
  node_tests "$here" "$tests" node
  [ "$mode" != --quick ] || return 0
  local other
  for other in 18 latest; do
    node_tests "$here" "$tests" "$(node_release "linux-$cpu" $other)"
  done
  [ "$mode" = --packages ] || return 0
  if [ "$cpu" = x64 ]; then
    ensure_packages qemu-user libc6-arm64-cross libstdc++6-arm64-cross
    # Without the tests of the package: they start other processes.
    node_tests linux-arm64-gnu 'filter keys' \
      qemu-aarch64 -L /usr/aarch64-linux-gnu "$(node_release linux-arm64 20)"
  fi
  ensure_wine
  export NODE_SKIP_PLATFORM_CHECK=1
  # A newer Node needs a newer Windows than Debian 12's wine is.
  node_tests win32-x64 "$tests" wine "$(node_release win-x64 18).exe"
}

ensure_rust
ensure_packages build-essential python3 python3-venv
mkdir -p "$out"
export LEVELDB_BLOOM_GOLDEN=$out/golden.txt
/usr/bin/python3 scripts/ffi/golden.py ctest/harness/golden_values.h >"$LEVELDB_BLOOM_GOLDEN"
run_"$language"

#!/usr/bin/env bash
# Everything that is given away, in dist/; see --help.

set -e
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

usage() {
  cat <<'TEXT'
usage: scripts/release.sh [--again] [--help] [PART...]

Makes dist/ from the last commit, installs each file into something empty, and uses it there:

  source      leveldb-bloom-VERSION.tar.gz
  crates      what `cargo publish --workspace` uploads, without a warning
  python      wheels for Linux (glibc from 2.17 on and musl, x86-64 and aarch64) and Windows
  node        the npm package, and one with the native module for each of these systems
  debian      the packages for Debian 12
  systems     the C library for Linux (glibc from 2.17 on, musl; x86-64, aarch64) and Windows, with the
              command in those for musl, where it is static, and for Windows
  sbom        what each of them contains (CycloneDX)

and SHA256SUMS, of all of them. The same commit gives the same bytes, with the same tools.

  --again   makes all a second time, in another folder, and compares

What is for aarch64 runs under qemu, what is for Windows under wine. As root on Debian it installs what is
missing. LEVELDB_BLOOM_HOMEPAGE, the project's public address, goes into the packages; without it
they name none.
TEXT
}

all=(source crates python node debian systems sbom)
parts=()
again=
for argument in "$@"; do
  case $argument in
    -h | --help)
      usage
      exit 0
      ;;
    --again) again=1 ;;
    *)
      [[ " ${all[*]} " == *" $argument "* ]] || fail "scripts/release.sh: unknown argument $argument; see --help"
      parts+=("$argument")
      ;;
  esac
done
[ ${#parts[@]} -gt 0 ] || parts=("${all[@]}")

ensure_rust
ensure_packages build-essential git python3 python3-venv
version=$(sed -n 's/^version = "\(.*\)"$/\1/p' Cargo.toml | head -1)
name=leveldb-bloom-$version
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
# No file's bytes depend on who makes them, and when.
export SOURCE_DATE_EPOCH LC_ALL=C TZ=UTC
umask 022
[ -z "$(git status --porcelain)" ] || echo "There are changes that are not committed. They are left out."

# The sources as others get them: each part below is made from these.
unpack_sources() {
  rm -rf "$source"
  mkdir -p "$source"
  git archive HEAD | tar -x -C "$source"
  cd "$source"
  local home=${LEVELDB_BLOOM_HOMEPAGE-}
  [ -n "$home" ] || return 0
  sed -i "s|^documentation = .*|&\nrepository = \"$home\"|" Cargo.toml table/Cargo.toml inspector/Cargo.toml
  sed -i "s|^  \"license\"|  \"homepage\": \"$home\",\n&|" bindings/node/package.json
  printf '\n[project.urls]\nHomepage = "%s"\n' "$home" >>bindings/python/pyproject.toml
  sed -i "s|^project(leveldb_bloom |&HOMEPAGE_URL \"$home\" |" CMakeLists.txt
}

# archive NAME FOLDER: dist/NAME, of a folder's contents in a folder of the name.
archive() {
  tar --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$SOURCE_DATE_EPOCH" --format=gnu \
    --transform "s,^\.,${1%.tar.gz}," -C "$2" -c . | gzip -9n >"$dist/$1"
}

make_source() {
  archive "$name.tar.gz" "$source"
}

make_crates() {
  local log=$work/crates.log warnings unpacked=$work/crates
  rm -rf "$target"/package
  cargo publish --workspace --locked --dry-run 2>"$log" || fail "$(cat "$log")"
  warnings=$(grep '^warning' "$log" | grep -v 'aborting upload due to dry run') || :
  [ -z "$warnings" ] || fail "$warnings"
  cargo package --locked --quiet --no-verify -p leveldb-bloom -p leveldb-bloom-table -p leveldb-bloom-inspector
  cp "$target"/package/*.crate "$dist"
  # As in a registry: each depends on the others by version.
  rm -rf "$unpacked"
  mkdir -p "$unpacked"
  cat "$dist"/*.crate | tar -xzi -C "$unpacked"
  printf '[workspace]\nmembers = ["leveldb-bloom*"]\nresolver = "3"\n[patch.crates-io]\n' >"$unpacked/Cargo.toml"
  local crate
  for crate in leveldb-bloom leveldb-bloom-table; do
    printf '%s = { path = "%s-%s" }\n' $crate $crate "$version" >>"$unpacked/Cargo.toml"
  done
  (
    cd "$unpacked"
    run() { cargo run --quiet --target-dir target -p "$@"; }
    [[ $(run leveldb-bloom --example ordered_keys) == *ribbon* ]]
    [[ $(run leveldb-bloom-inspector -- size --keys 1000) == *"1,000 keys"* ]]
  )
}

make_python() {
  scripts/bindings.sh python --wheels
  cp "$target"/bindings/python/wheels/*.whl "$dist"
}

make_node() {
  scripts/bindings.sh node --packages
  cp "$target"/bindings/node/packages/*.tgz "$dist"
}

make_debian() {
  scripts/packages.sh debian
  cp "$target"/packages/debian/*.deb "$dist"
}

make_systems() {
  local names=(linux-x86_64 linux-aarch64 musl-x86_64 musl-aarch64 windows-x86_64) system tree
  ensure_packages zip
  scripts/systems.sh "${names[@]}"
  for system in "${names[@]}"; do
    tree=$target/systems/$system/tree
    cp LICENSE README.md CHANGELOG.md "$tree"
    if [[ $system == windows-* ]]; then
      # The same bytes whoever packs it: one order, one time.
      find "$tree" -exec touch -d "@$SOURCE_DATE_EPOCH" {} +
      rm -f "$dist/$name-$system.zip"
      (cd "$tree" && find . -type f | sort | zip -q -X -9 "$dist/$name-$system.zip" -@)
    else
      archive "$name-$system.tar.gz" "$tree"
    fi
  done
}

make_sbom() {
  cargo_tool cargo-cyclonedx 0.5.9
  local product manifest
  for product in library:capi/shared command:inspector python:bindings/python node:bindings/node; do
    manifest=${product#*:}/Cargo.toml
    [ -e "$manifest" ] || continue
    quietly cargo cyclonedx --manifest-path "$manifest" --format json --spec-version 1.5 \
      --override-filename "${product%:*}.cdx"
    # The folder in which it was built says nothing.
    sed "s,$source,.,g" "${product#*:}/${product%:*}.cdx.json" >"$dist/$name-${product%:*}.cdx.json"
  done
}

# make_all WORK: all parts, into WORK/dist.
make_all() {
  work=$1 source=$1/source dist=$1/dist target=$1/target
  local cargo_home=${CARGO_HOME:-$HOME/.cargo} part flags=() from
  export CARGO_TARGET_DIR=$target
  for from in "$cargo_home:cargo" "$target:target" "$source:leveldb-bloom"; do
    flags+=("${from%:*}=/${from##*:}")
  done
  export RUSTFLAGS="${flags[*]/#/--remap-path-prefix=}" CFLAGS="${flags[*]/#/-ffile-prefix-map=}"
  rm -rf "$dist"
  mkdir -p "$dist"
  unpack_sources
  for part in "${parts[@]}"; do
    step "$part"
    make_"$part"
  done
  (cd "$dist" && sha256sum -- * >SHA256SUMS)
  cd "$root"
}

release=$target/release-files
if [ -n "$again" ]; then
  (make_all "$release/again")
fi
make_all "$release"
rm -rf "$root/dist"
cp -r "$dist" "$root/dist"
step "dist/"
cat dist/SHA256SUMS
[ -z "$again" ] || diff "$release/again/dist/SHA256SUMS" dist/SHA256SUMS ||
  fail "made again, some files differ"

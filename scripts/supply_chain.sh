#!/usr/bin/env bash
# What comes in and what goes out; see --help.

set -e
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

usage() {
  cat <<'TEXT'
usage: scripts/supply_chain.sh [--quick] [--write] [--help]

  lock file      committed, and what cargo would choose
  dependencies   the libraries need libc and nothing else at run time
  package        `cargo package --list` holds what belongs and nothing else; it builds and passes
                 its tests unpacked, on its own
  oldest Rust    the version that Cargo.toml states builds the core, the C libraries, the command
                 and the page, and the core's tests pass there
  other systems  the core builds for macOS, Windows, FreeBSD, Android, with musl and for machines
                 with no system, with the kernels that each should have, where rustup has their
                 standard libraries
  cargo-deny     licences, bans and sources of every dependency, the fuzz targets' too (deny.toml);
                 advisories where their database can be reached
  API            the public Rust API is the committed one (docs/public-api.txt): a change of it is
                 seen in review, and a removal is a major version

  --quick        all but the last two, which compile tools for minutes
  --write        writes docs/public-api.txt anew

Two minutes; the first time some minutes more, for the tools, which are built into target/tools.
TEXT
}

quick=
write=
for argument in "$@"; do
  case "$argument" in
    -h | --help)
      usage
      exit 0
      ;;
    --quick) quick=1 ;;
    --write) write=1 ;;
    *) fail "scripts/supply_chain.sh: unknown argument $argument; see --help" ;;
  esac
done
[ -z "$quick" ] || [ -z "$write" ] || fail "--quick leaves out what --write writes"

ensure_rust
command -v cc >/dev/null || ensure_packages build-essential
command -v git >/dev/null || ensure_packages git
libraries=(--package leveldb-bloom --package leveldb-bloom-shared --package leveldb-bloom-static)

step "lock file"
cargo metadata --locked --format-version 1 >/dev/null
if [ -e .git ]; then
  # Whoever owns it: a container's root is not who cloned it.
  git -c safe.directory="$root" ls-files --error-unmatch Cargo.lock
else
  echo "an unpacked archive: git cannot be asked whether Cargo.lock is committed"
fi

step "dependencies"
# Cargo prints the package itself first; for every target, not only this one.
needed=$(cargo tree --locked --edges normal --target all --prefix none --format '{p}' \
  "${libraries[@]}" | awk 'NF { print $1 }' | sort -u | grep -v '^leveldb-bloom' | xargs)
echo "at run time: $needed"
[ "$needed" = libc ] || fail "the libraries may need libc alone"

step "package"
# The version's state is what is packed, so uncommitted changes do not matter here.
log=$target/package.log
mkdir -p "$target"
listed=$(cargo package --locked --package leveldb-bloom --list --allow-dirty 2>"$log") ||
  fail "$(cat "$log")"
stranger=$(grep -vxE '\.cargo_vcs_info\.json|Cargo\.(toml|toml\.orig|lock)|build\.rs|(README|CHANGELOG)\.md|LICENSE|(src|tests|examples)/[a-z0-9_/]+\.rs' \
  <<<"$listed" || true)
[ -z "$stranger" ] || fail "what does this do in the package? $stranger"
for file in src/lib.rs src/probe.rs build.rs README.md LICENSE CHANGELOG.md; do
  grep -qx "$file" <<<"$listed" || fail "not in the package: $file"
done
wc -l <<<"$listed" | sed 's/$/ files/'
# Another version's would be found too.
rm -f "$target"/package/leveldb-bloom-[0-9]*.crate
cargo package --locked --quiet --package leveldb-bloom --allow-dirty --no-verify \
  2>"$log" || fail "$(cat "$log")"
unpacked=$target/unpacked
rm -rf "$unpacked"
mkdir -p "$unpacked"
# With the time of now: those in the package are all the same, and cargo would take the build of another
# version for this one's.
tar -xmzf "$target"/package/leveldb-bloom-[0-9]*.crate -C "$unpacked" --strip-components 1
# Not a part of ours.
printf '\n[workspace]\n' >>"$unpacked/Cargo.toml"
(cd "$unpacked" && CARGO_TARGET_DIR=$target/unpacked-build cargo test --quiet)

step "oldest Rust"
oldest=$(sed -n 's/^rust-version = "\(.*\)"$/\1/p' Cargo.toml)
# Rustup's, Debian's, or the only one there is.
rustup_has() { rustup run "$oldest.0" rustc --version; }
compiler=
if command -v rustup >/dev/null && { rustup_has >/dev/null 2>&1 ||
  rustup toolchain install "$oldest.0" --profile minimal; }; then
  compiler=$(rustup run "$oldest.0" rustc --print sysroot)/bin/rustc
else
  for candidate in /usr/bin/rustc "$(command -v rustc)"; do
    [[ $("$candidate" --version 2>/dev/null) != "rustc $oldest."* ]] || compiler=$candidate
  done
fi
[ -n "$compiler" ] || fail "This needs Rust $oldest: \`rustup toolchain install $oldest.0\`,
or Debian's package rustc-web of that version."
"$compiler" --version
RUSTC=$compiler cargo build --locked --quiet --release --target-dir "$target/oldest" \
  "${libraries[@]}"
RUSTC=$compiler cargo test --locked --quiet --target-dir "$target/oldest" \
  --package leveldb-bloom --lib --tests
# With the tests, which `test.sh --quick` runs with older Rusts than this one's.
RUSTC=$compiler cargo check --locked --quiet --target-dir "$target/oldest" --all-targets \
  --package leveldb-bloom-table --package leveldb-bloom-inspector --package leveldb-bloom-page

step "other systems"
# The last two may not touch the vector registers.
while read -r other expected; do
  if command -v rustup >/dev/null && rustup --quiet target add "$other"; then
    messages=$(RUSTFLAGS=-Dwarnings cargo check --locked --quiet --package leveldb-bloom \
      --target "$other" --message-format json) || fail "$other: does not build"
    # AVX-512 is built beside AVX2 by every compiler but old ones.
    kernels=$(sed -n '/"build-script-executed".*leveldb-bloom/p' <<<"$messages" | tr '"' '\n' |
      sed -n -E 's/^leveldb_bloom_(avx2|neon)$/\1/p' | xargs)
    echo "$other: builds, with ${kernels:-no} vector kernels"
    [ "$kernels" = "$expected" ] || fail "$other should have ${expected:-no} vector kernels"
  else
    echo "$other: not checked, its standard library cannot be had"
  fi
done <<'TARGETS'
x86_64-apple-darwin avx2
x86_64-pc-windows-gnu avx2
x86_64-unknown-freebsd avx2
aarch64-linux-android neon
x86_64-unknown-linux-musl avx2
x86_64-unknown-none
aarch64-unknown-none-softfloat
TARGETS
[ -z "$quick" ] || exit 0

# tool NAME VERSION
tool() {
  [ -x "$target/tools/bin/$1" ] && [[ $("$target/tools/bin/$1" --version 2>&1) == *"$2"* ]] && return
  cargo install --locked --quiet --root "$target/tools" "$1" --version "$2"
}

step "cargo-deny"
tool cargo-deny 0.20.2
deny() { "$target/tools/bin/cargo-deny" --locked --workspace check --hide-inclusion-graph "$@"; }
deny licenses bans sources
# A workspace of its own.
deny_fuzz() { (cd fuzz && "$target/tools/bin/cargo-deny" --locked --config ../deny.toml check "$@"); }
deny_fuzz licenses bans sources
if git ls-remote https://github.com/rustsec/advisory-db HEAD >/dev/null 2>&1; then
  deny advisories
else
  echo "advisories: not checked, their database on github.com cannot be reached"
fi

step "API"
tool cargo-public-api 0.52.0
api=$target/public-api.txt
# What rustdoc says in JSON is no stable output, and the tool would call for a nightly compiler.
if command -v rustup >/dev/null; then
  RUSTUP_TOOLCHAIN=$(rustup show active-toolchain | cut -d' ' -f1)
  export RUSTUP_TOOLCHAIN
fi
RUSTC_BOOTSTRAP=1 "$target/tools/bin/cargo-public-api" public-api --package leveldb-bloom --omit blanket-impls \
  --color never >"$api" 2>"$target/public-api.log" || {
  cat "$target/public-api.log"
  fail "the API could not be listed"
}
[ -z "$write" ] || cp "$api" docs/public-api.txt
diff -u docs/public-api.txt "$api" ||
  fail "the public Rust API changed; if that is meant, \`scripts/supply_chain.sh --write\`"
wc -l <"$api" | sed 's/$/ lines, as committed/'

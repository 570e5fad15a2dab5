#!/usr/bin/env bash
# What comes in and what goes out; see --help.

set -e
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

usage() {
  cat <<'TEXT'
usage: scripts/supply_chain.sh [--quick] [--write] [--help]

  dependencies   Cargo.lock is what cargo would choose; the libraries need libc and xxhash-rust alone
  package        `cargo package` builds and passes its tests on its own
  oldest Rust    the version that Cargo.toml names builds everything users get, and passes the core's
                 tests
  other systems  the core builds for macOS, Windows, FreeBSD, Android and machines without a system
  cargo-deny     licences, sources and advisories of every dependency (deny.toml)
  API            the public Rust API is packaging/public-api.txt, so that a change is seen in review

  --quick        all but the last two, whose tools take minutes to build
  --write        writes packaging/public-api.txt
TEXT
}

quick=
write=
for argument in "$@"; do
  case $argument in
    -h | --help)
      usage
      exit 0
      ;;
    --quick) quick=1 ;;
    --write) write=1 ;;
    *) fail "scripts/supply_chain.sh: unknown argument $argument; see --help" ;;
  esac
done
ensure_rust
ensure_packages build-essential
libraries=(-p leveldb-bloom -p leveldb-bloom-shared -p leveldb-bloom-static)

step "dependencies"
needed=$(cargo tree --locked --edges normal --target all --prefix none --format '{p}' "${libraries[@]}" |
  awk 'NF { print $1 }' | sort -u | grep -v '^leveldb-bloom' | xargs)
[ "$needed" = "libc xxhash-rust" ] || fail "the libraries need more than libc and xxhash-rust: $needed"

step "package"
rm -rf "$target/unpacked" "$target"/package/leveldb-bloom-[0-9]*.crate
cargo package --locked --quiet -p leveldb-bloom --allow-dirty --no-verify
mkdir -p "$target/unpacked"
tar -xmzf "$target"/package/leveldb-bloom-[0-9]*.crate -C "$target/unpacked" --strip-components 1
# Not a part of this workspace.
printf '\n[workspace]\n' >>"$target/unpacked/Cargo.toml"
(cd "$target/unpacked" && CARGO_TARGET_DIR=$target/unpacked-build cargo test --quiet)

step "oldest Rust"
oldest=$(sed -n 's/^rust-version = "\(.*\)"$/\1/p' Cargo.toml).0
rustup run "$oldest" rustc --version 2>/dev/null || rustup toolchain install "$oldest" --profile minimal
old() { rustup run "$oldest" cargo "$1" --locked --quiet --target-dir "$target/oldest" "${@:2}"; }
old build --release "${libraries[@]}"
old test -p leveldb-bloom --lib --tests
old check --all-targets -p leveldb-bloom-table -p leveldb-bloom-inspector -p leveldb-bloom-page

step "other systems"
for other in x86_64-apple-darwin x86_64-pc-windows-gnu x86_64-unknown-freebsd aarch64-linux-android \
  x86_64-unknown-linux-musl x86_64-unknown-none aarch64-unknown-none-softfloat; do
  rustup --quiet target add "$other"
  RUSTFLAGS=-Dwarnings cargo check --locked --quiet -p leveldb-bloom --target "$other"
done
[ -z "$quick" ] || exit 0

step "cargo-deny"
cargo_tool cargo-deny 0.20.2
advisories=advisories
git ls-remote https://github.com/rustsec/advisory-db HEAD >/dev/null 2>&1 || {
  advisories=
  echo "advisories: not checked, their database cannot be reached"
}
cargo deny --locked --workspace check --hide-inclusion-graph licenses bans sources $advisories
cargo deny --locked --manifest-path fuzz/Cargo.toml --config deny.toml check licenses bans sources

step "API"
cargo_tool cargo-public-api 0.52.0
RUSTUP_TOOLCHAIN=$(rustup show active-toolchain | cut -d' ' -f1) RUSTC_BOOTSTRAP=1 cargo public-api \
  -p leveldb-bloom --omit blanket-impls --color never >"$target/public-api.txt"
[ -z "$write" ] || cp "$target/public-api.txt" packaging/public-api.txt
diff -u packaging/public-api.txt "$target/public-api.txt" ||
  fail "The public Rust API changed. If that is meant: scripts/supply_chain.sh --write"

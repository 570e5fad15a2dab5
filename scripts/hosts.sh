#!/usr/bin/env bash
# Other people's programs, with the library preloaded; see --help.

set -e
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

usage() {
  cat <<'TEXT'
usage: scripts/hosts.sh [--help] [HOST...]

Runs programs that use LevelDB with the library preloaded (scripts/hosts/test_hosts.py, by pytest):

  litecoin        Debian's Litecoin Core: a node and wallet with three databases
  ceph            Debian 12's Ceph: a monitor told to use LevelDB with filters (later ones have no
                  LevelDB)
  bitcoinkernel   Bitcoin Core's engine, from PyPI's py-bitcoinkernel
  bedrock         Minecraft's LevelDB, from PyPI's amulet-leveldb, built so that a library in front is
                  seen (-Wl,-Bno-symbolic)

Our policies must have made filters and found keys absent, all answers must be those without us, and the
command leveldb-bloom must find every key in its filter.
TEXT
}

case ${1-} in
  -h | --help)
    usage
    exit 0
    ;;
esac
hosts=("$@")
if [ $# -eq 0 ]; then
  hosts=(litecoin bitcoinkernel bedrock)
  if grep -q '^VERSION_ID="12"' /etc/os-release; then
    hosts+=(ceph)
  else
    echo "ceph is left out: this is not Debian 12"
  fi
fi
packages=(build-essential python3-dev python3-pytest zlib1g-dev)
for host in "${hosts[@]}"; do
  case $host in
    litecoin) packages+=(litecoind) ;;
    ceph) packages+=(ceph-mon ceph-common) ;;
    bitcoinkernel | bedrock) ;;
    *) fail "scripts/hosts.sh: what is $host? See --help." ;;
  esac
done

ensure_rust
ensure_packages "${packages[@]}"
# Debian's Python would link with -Bsymbolic-functions.
LDFLAGS=-Wl,-Bno-symbolic ensure_venv "$target/hosts" py-bitcoinkernel==0.1.0a5 amulet-leveldb==1.0.7
cargo build --locked --quiet --release -p leveldb-bloom-shared
cargo build --locked --quiet --profile test -p leveldb-bloom-inspector
names=${hosts[*]}
LIBRARY=$target/release/libleveldb_bloom.so INSPECTOR=$target/debug/leveldb-bloom \
  PYTHON=$target/hosts/bin/python /usr/bin/python3 -B -m pytest -q -p no:cacheprovider \
  scripts/hosts -k "${names// / or }"

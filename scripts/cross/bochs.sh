#!/usr/bin/env bash
# A program of this machine on an emulated Ice Lake; see --help.

set -e
. "$(dirname "${BASH_SOURCE[0]}")/../common.sh"

usage() {
  cat <<'TEXT'
usage: scripts/cross/bochs.sh PROGRAM [ARGUMENT...]
       scripts/cross/bochs.sh --set-up

Runs a program on a processor with AVX-512, which bochs emulates whole: Debian's kernel starts from
a disc that holds the program, the shared libraries it needs and nothing else. Its output and its
exit status are the program's; its input is empty. Some ten seconds pass before the program starts,
and it runs about a hundred times slower than here.

  --set-up     only installs bochs and gets the kernel (some 30 MB)

Builds in target/cross/bochs. BOCHS_SECONDS (600) is how long a run may take.
TEXT
}

case "${1:-}" in
  "" | -h | --help)
    usage
    exit 0
    ;;
esac

work=$target/cross/bochs
mkdir -p "$work"

set_up() {
  ensure_packages binutils bochs bochs-term busybox-static cpio isolinux syslinux-common xorriso
  [ ! -e "$work/vmlinuz" ] || return 0
  local package dir=$work/kernel
  rm -rf "$dir"
  mkdir "$dir"
  package=$(apt-cache depends linux-image-cloud-amd64 | sed -n 's/.*Depends: \(linux-image-\)/\1/p')
  # Downloaded and unpacked, not installed: this machine keeps its own.
  (cd "$dir" && apt-get -qq -o APT::Sandbox::User=root download "$package" >&2)
  dpkg-deb -x "$dir"/*.deb "$dir"
  mv "$dir"/boot/vmlinuz-* "$work/vmlinuz"
  rm -r "$dir"
}

# What is printed is the program's alone.
set_up >&2
[ "$1" != --set-up ] || exit 0

run=$(mktemp -d "$work/run.XXXXXX")
trap 'rm -rf "$run"' EXIT
mkdir -p "$run"/{disc/isolinux,files/{bin,dev,proc,tmp}}

program=$(realpath "$1")
shift
cp /bin/busybox "$run/files/bin/"
# What is to be loaded is read a byte at a time, so nothing that is not needed.
strip --strip-debug -o "$run/files/program" "$program"
for library in $(ldd "$program" | grep -o '/[^ ]*'); do
  cp -L --parents "$library" "$run/files"
done
cat >"$run/files/init" <<INIT
#!/bin/busybox sh
/bin/busybox mount -t proc proc /proc
/bin/busybox mount -t devtmpfs dev /dev
${LEVELDB_BLOOM_KERNEL:+export LEVELDB_BLOOM_KERNEL=$LEVELDB_BLOOM_KERNEL}
echo "program starts"
/program ${*@Q} </dev/null
printf '\nprogram exits: %s\n' \$?
# Waits until all of it has left, which switching the power off does not.
/bin/busybox stty -onlcr
/bin/busybox poweroff -f
INIT
chmod +x "$run/files/init"
(cd "$run/files" && find . | cpio --quiet -o -H newc) >"$run/disc/initrd"

# clearcpuid: features that bochs 2.7 does not tell of as a processor would. It has sizes of its own
# for the state that xsavec, xsaves and pku concern, and "fast short rep mov" without "enhanced
# rep movsb", with which the kernel's memmove writes past its end. AVX-512 is not among them.
# transparent_hugepage: filters of 2^32 bits, of which little is touched, are to fit into the memory.
cat >"$run/disc/isolinux/isolinux.cfg" <<'BOOT'
default linux
prompt 0
label linux
  kernel /vmlinuz
  append initrd=/initrd console=ttyS0,115200 quiet loglevel=1 panic=-1 mitigations=off nokaslr lpj=80000 tsc=reliable cryptomgr.notests transparent_hugepage=never clearcpuid=xsavec,xsaves,pku,fsrm
BOOT
cp "$work/vmlinuz" "$run/disc/"
cp /usr/lib/ISOLINUX/isolinux.bin /usr/lib/syslinux/modules/bios/ldlinux.c32 "$run/disc/isolinux/"
xorriso -as mkisofs -quiet -o "$run/disc.iso" -b isolinux/isolinux.bin -c isolinux/boot.cat \
  -no-emul-boot -boot-load-size 4 -boot-info-table "$run/disc" 2>/dev/null

cat >"$run/bochsrc" <<BOCHS
cpu: model=corei7_icelake_u, ips=20000000
memory: guest=1024, host=1024
romimage: file=/usr/share/bochs/BIOS-bochs-latest
vgaromimage: file=/usr/share/vgabios/vgabios.bin
ata0-master: type=cdrom, path=$run/disc.iso, status=inserted
boot: cdrom
com1: enabled=1, mode=file, dev=$run/serial
clock: sync=none
display_library: term
log: $run/log
panic: action=fatal
error: action=ignore
BOCHS
# Debian's bochs has its debugger built in, which asks what to do first: to continue.
echo c >"$run/commands"
# The display needs a terminal.
TERM=vt100 timeout "${BOCHS_SECONDS:-600}" script -qec \
  "bochs -q -f '$run/bochsrc' -rc '$run/commands'" /dev/null </dev/null >"$run/screen" 2>&1 || true

tr -d '\r' <"$run/serial" >"$run/output"
status=$(sed -n 's/^program exits: //p' "$run/output")
if [ -z "$status" ]; then
  cat "$run/output" >&2
  tail -n 20 "$run/log" >&2
  fail "scripts/cross/bochs.sh: the program did not end"
fi
sed -e '0,/^program starts$/d' -e '/^program exits: /,$d' "$run/output" | sed '${/^$/d}'
exit "$status"

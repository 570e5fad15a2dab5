# sh with_kernel.sh KERNEL C_TEST TEST
#
# Runs TEST with that kernel. Where the machine has not got it, by the word of C_TEST, the status is 77,
# which skips the test.
export LEVELDB_BLOOM_KERNEL="$1"
[ "$("$2" --kernel)" = "$1" ] && exec "$3"
case $1 in
  # This one is everywhere, and of the other the processor can be asked, too.
  portable) exit 1 ;;
  avx2) ! grep -qw avx2 /proc/cpuinfo || exit 1 ;;
esac
exit 77

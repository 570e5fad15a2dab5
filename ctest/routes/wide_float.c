/* Arithmetic that a compiler leaves to its support library, which Rust brings too: a part of
 * another program, run before its main. */

#ifdef __SIZEOF_FLOAT128__
typedef __float128 wide_float;
#else
typedef long double wide_float;
#endif

static volatile wide_float value = 3;

__attribute__((constructor)) static void square(void) { value = value * value / (value + 1); }

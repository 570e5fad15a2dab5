/* Refers to the C++ library as this library does: by names that may be missing. */
extern const char name[] __asm__("_ZTVN10__cxxabiv117__class_type_infoE") __attribute__((weak));
const char *volatile address = name;
int main(void) { return 0; }

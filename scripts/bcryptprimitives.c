/* Rust's std takes its random numbers from this library of Windows 10, which Debian's wine 8 lacks. */
#include <windows.h>

#include <ntsecapi.h>

__declspec(dllexport) BOOL WINAPI ProcessPrng(PBYTE data, SIZE_T length) {
  return RtlGenRandom(data, (ULONG)length);
}

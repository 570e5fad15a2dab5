# Windows on x86-64, by Debian's g++-mingw-w64-x86-64-posix or the like.
set(CMAKE_SYSTEM_NAME Windows)
set(CMAKE_SYSTEM_PROCESSOR x86_64)
set(CMAKE_C_COMPILER x86_64-w64-mingw32-gcc)
set(CMAKE_CXX_COMPILER x86_64-w64-mingw32-g++)
set(CMAKE_RC_COMPILER x86_64-w64-mingw32-windres)
# Programs need none of mingw's libraries beside them.
set(CMAKE_EXE_LINKER_FLAGS_INIT -static)

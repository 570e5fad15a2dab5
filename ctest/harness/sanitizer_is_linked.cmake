# cmake -DNM=... -DPROGRAM=... -P sanitizer_is_linked.cmake
#
# A sanitizer that was never linked finds nothing: the program must contain calls of both, and what the
# second finds must end it.
execute_process(COMMAND ${NM} ${PROGRAM} OUTPUT_VARIABLE symbols COMMAND_ERROR_IS_FATAL ANY)
foreach(symbol __asan_init __asan_report_load "__ubsan_handle[a-z0-9_]*_abort")
  if(NOT symbols MATCHES "${symbol}")
    message(FATAL_ERROR "${PROGRAM} has no ${symbol}")
  endif()
endforeach()

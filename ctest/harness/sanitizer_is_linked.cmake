# cmake -DNM=... -DPROGRAM=... -P sanitizer_is_linked.cmake
#
# A sanitizer that was never linked finds nothing: the program must contain calls of both.
execute_process(COMMAND ${NM} ${PROGRAM} OUTPUT_VARIABLE symbols COMMAND_ERROR_IS_FATAL ANY)
foreach(symbol __asan_init __asan_report_load __ubsan_handle)
  if(NOT symbols MATCHES "${symbol}")
    message(FATAL_ERROR "${PROGRAM} has no ${symbol}")
  endif()
endforeach()

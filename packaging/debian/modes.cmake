# Makes the folders of a package what Debian's are, whatever the umask of who builds it.

execute_process(COMMAND find "${CPACK_TEMPORARY_DIRECTORY}" -type d -exec chmod 755 {} +
  RESULT_VARIABLE result)
if(result)
  message(FATAL_ERROR "chmod: ${result}")
endif()

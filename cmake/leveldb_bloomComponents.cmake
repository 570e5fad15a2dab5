# The end of every leveldb_bloomConfig.cmake: the targets, and which of the components are there.
# cargo-c can install one library without the other; a project that has us as a part of it, and looks
# for us nevertheless, will have built all of them.

include("${CMAKE_CURRENT_LIST_DIR}/leveldb_bloomTargets.cmake")

set(leveldb_bloom_components)
foreach(_leveldb_bloom_kind shared static)
  get_target_property(_leveldb_bloom_library leveldb_bloom::${_leveldb_bloom_kind}
    IMPORTED_LOCATION)
  if(TARGET leveldb_bloom_libraries OR EXISTS "${_leveldb_bloom_library}")
    list(APPEND leveldb_bloom_components ${_leveldb_bloom_kind})
  endif()
endforeach()
get_target_property(_leveldb_bloom_kind leveldb_bloom::leveldb_bloom INTERFACE_LINK_LIBRARIES)
string(REPLACE "leveldb_bloom::" "" _leveldb_bloom_kind "${_leveldb_bloom_kind}")
if(TARGET leveldb_bloom::override AND _leveldb_bloom_kind IN_LIST leveldb_bloom_components)
  list(APPEND leveldb_bloom_components override)
endif()
if("static" IN_LIST leveldb_bloom_components)
  list(APPEND leveldb_bloom_components source)
endif()

foreach(_leveldb_bloom_component IN LISTS leveldb_bloom_components)
  set(leveldb_bloom_${_leveldb_bloom_component}_FOUND TRUE)
endforeach()
foreach(_leveldb_bloom_component IN LISTS leveldb_bloom_FIND_COMPONENTS)
  if(leveldb_bloom_FIND_REQUIRED_${_leveldb_bloom_component}
      AND NOT leveldb_bloom_${_leveldb_bloom_component}_FOUND)
    list(JOIN leveldb_bloom_components " " _leveldb_bloom_has)
    list(JOIN leveldb_bloom_FIND_COMPONENTS " " _leveldb_bloom_wanted)
    set(leveldb_bloom_FOUND FALSE)
    set(leveldb_bloom_NOT_FOUND_MESSAGE "of the components asked for (${_leveldb_bloom_wanted}), \
leveldb_bloom has only: ${_leveldb_bloom_has}")
  endif()
endforeach()

# The targets may be those of another copy, which was there before: find_package has not seen whether
# their version is one that was asked for.
get_target_property(_leveldb_bloom_library leveldb_bloom::shared IMPORTED_LOCATION)
string(REGEX REPLACE "^.*\\.so\\." "" _leveldb_bloom_has "${_leveldb_bloom_library}")
set(_leveldb_bloom_wanted "${leveldb_bloom_FIND_VERSION}")
if(NOT _leveldb_bloom_wanted STREQUAL "" AND (_leveldb_bloom_has VERSION_LESS _leveldb_bloom_wanted
    OR NOT _leveldb_bloom_has MATCHES "^${leveldb_bloom_FIND_VERSION_MAJOR}\\."
    OR (leveldb_bloom_FIND_VERSION_EXACT
      AND NOT _leveldb_bloom_has VERSION_EQUAL _leveldb_bloom_wanted)))
  set(leveldb_bloom_FOUND FALSE)
  set(leveldb_bloom_NOT_FOUND_MESSAGE "version ${_leveldb_bloom_wanted} was asked for, and there are \
targets of version ${_leveldb_bloom_has} already: ${_leveldb_bloom_library}")
endif()

unset(_leveldb_bloom_kind)
unset(_leveldb_bloom_library)
unset(_leveldb_bloom_component)
unset(_leveldb_bloom_has)
unset(_leveldb_bloom_wanted)

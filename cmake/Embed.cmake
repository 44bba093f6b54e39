# whet_embed(target header name=path...): compiles the files into `target` as strings
# whet::embedded::<name>, which `header` declares. Rebuilt when a file changes.
function(whet_embed target header)
  set(paths "")
  foreach(entry IN LISTS ARGN)
    string(REGEX REPLACE "^[^=]*=" "" path "${entry}")
    list(APPEND paths "${path}")
  endforeach()
  string(REPLACE ";" "|" files "${ARGN}")
  set(out ${CMAKE_CURRENT_BINARY_DIR}/${target}_embedded.cpp)
  add_custom_command(
    OUTPUT ${out}
    COMMAND ${CMAKE_COMMAND} "-DFILES=${files}" -DHEADER=${header} -DOUT=${out}
      -P ${CMAKE_SOURCE_DIR}/cmake/EmbedScript.cmake
    DEPENDS ${paths} ${CMAKE_SOURCE_DIR}/cmake/EmbedScript.cmake
    VERBATIM)
  target_sources(${target} PRIVATE ${out})
endfunction()

# Finds LibTorch by WHET_TORCH (pip, system, off): sets WHET_TORCH_FOUND and, if it is true, defines
# whet::torch. find_package(Torch) is not used, as on a CUDA wheel it demands nvcc and the toolkit,
# and links libraries that a machine without a GPU cannot load.
set(WHET_TORCH_FOUND FALSE)

# Sets OUT to the folder of the torch that the interpreter would import, or to nothing. The spec is
# looked up, not imported: a torch installed for C++ only cannot be imported.
function(_whet_torch_folder_of python out)
  execute_process(
    COMMAND ${python} -c "import importlib.util as u; s = u.find_spec('torch'); \
print(s.submodule_search_locations[0] if s else '', end='')"
    OUTPUT_VARIABLE folder RESULT_VARIABLE failed ERROR_QUIET)
  if(failed OR NOT EXISTS "${folder}/lib/libtorch_cpu.so" OR NOT EXISTS "${folder}/lib/libc10.so"
     OR NOT EXISTS "${folder}/include/ATen/ATen.h")
    set(folder "")
  endif()
  set(${out} "${folder}" PARENT_SCOPE)
endfunction()

if(WHET_TORCH STREQUAL "pip")
  foreach(_python IN ITEMS ${CMAKE_CURRENT_LIST_DIR}/../.venv/bin/python3 python3)
    _whet_torch_folder_of(${_python} _folder)
    if(_folder)
      break()
    endif()
  endforeach()
  set(_torch_cpu ${_folder}/lib/libtorch_cpu.so)
  set(_c10 ${_folder}/lib/libc10.so)
  set(_include ${_folder}/include)
elseif(WHET_TORCH STREQUAL "system")
  find_library(_torch_cpu torch_cpu NO_CACHE)
  find_library(_c10 c10 NO_CACHE)
  find_path(_include ATen/ATen.h NO_CACHE)
elseif(NOT WHET_TORCH STREQUAL "off")
  message(FATAL_ERROR "WHET_TORCH: expected pip, system or off, found '${WHET_TORCH}'")
endif()

if(NOT WHET_TORCH STREQUAL "off")
  if(EXISTS "${_torch_cpu}" AND EXISTS "${_c10}" AND EXISTS "${_include}/ATen/ATen.h")
    set(WHET_TORCH_FOUND TRUE)
  else()
    message(WARNING "LibTorch (WHET_TORCH=${WHET_TORCH}) was not found, so whet-reference is not "
      "built and nothing can be validated. Run scripts/setup.sh, or say WHET_TORCH=off.")
  endif()
endif()

if(WHET_TORCH_FOUND AND NOT TARGET whet::torch)
  get_filename_component(_lib_folder "${_torch_cpu}" DIRECTORY)
  add_library(whet::torch INTERFACE IMPORTED GLOBAL)
  # After the system's headers: a wheel brings an {fmt} of its own, which is not the one that we link.
  target_compile_options(whet::torch INTERFACE "SHELL:-idirafter ${_include}")
  target_link_libraries(whet::torch INTERFACE "${_torch_cpu}" "${_c10}")
  # CMake adds the folder to the rpath in the build tree only; a copied program needs it as well.
  target_link_options(whet::torch INTERFACE "LINKER:-rpath,${_lib_folder}")
  message(STATUS "LibTorch: ${_lib_folder}")
endif()

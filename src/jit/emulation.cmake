# The machine that runs emitted CUDA text on the CPU, and its Executor: a library of its own, since
# nothing else needs Boost.Context.
find_package(Boost REQUIRED COMPONENTS context)
add_library(whet_emulation STATIC
  ${CMAKE_CURRENT_LIST_DIR}/argument_block.cpp
  ${CMAKE_CURRENT_LIST_DIR}/emulation_access.cpp
  ${CMAKE_CURRENT_LIST_DIR}/emulation_compile.cpp
  ${CMAKE_CURRENT_LIST_DIR}/emulation_executor.cpp
  ${CMAKE_CURRENT_LIST_DIR}/emulation_fibers.cpp
  ${CMAKE_CURRENT_LIST_DIR}/emulation_hooks.cpp
  ${CMAKE_CURRENT_LIST_DIR}/emulation_machine.cpp
  ${CMAKE_CURRENT_LIST_DIR}/emulation_memory.cpp
  ${CMAKE_CURRENT_LIST_DIR}/emulation_order.cpp)
add_library(whet::emulation ALIAS whet_emulation)
target_link_libraries(whet_emulation
  PUBLIC whet::base
  PRIVATE Boost::context ${CMAKE_DL_LIBS})

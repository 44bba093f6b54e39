# The conversation between whet and its child programs, the children that make and run candidates, and
# the parent's side.
add_library(whet_protocol STATIC
  child_program.cpp
  messages.cpp
  process_tree.cpp
  protocol.cpp)
add_library(whet::protocol ALIAS whet_protocol)
target_link_libraries(whet_protocol
  PUBLIC whet::evaluation whet::artifact whet::ir whet::timing
  PRIVATE Threads::Threads)

add_library(whet_worker_parts STATIC
  bundle_cache.cpp
  candidate_timeline.cpp
  candidate_timing.cpp
  candidate_validation.cpp
  resident_candidate.cpp
  stamped_launches.cpp
  strided_layout.cpp)
add_library(whet::worker_parts ALIAS whet_worker_parts)
target_link_libraries(whet_worker_parts PUBLIC whet::protocol whet::harness whet::jit whet::stats)

add_library(whet_compile_parts STATIC compile_candidate.cpp)
add_library(whet::compile_parts ALIAS whet_compile_parts)
target_link_libraries(whet_compile_parts PUBLIC whet::protocol whet::codegen whet::jit)

add_library(whet_probe_parts STATIC probes.cpp)
add_library(whet::probe_parts ALIAS whet_probe_parts)
target_link_libraries(whet_probe_parts PUBLIC whet::codegen whet::jit)

add_executable(whet-worker worker_main.cpp)
target_link_libraries(whet-worker PRIVATE whet::worker_parts)
add_executable(whet-compile compile_main.cpp)
target_link_libraries(whet-compile PRIVATE whet::compile_parts)
add_executable(whet-calibrate calibrate_main.cpp)
target_link_libraries(whet-calibrate PRIVATE whet::probe_parts whet::protocol)

add_library(whet_evaluator STATIC
  child_process.cpp
  compile_pool.cpp
  evaluator.cpp
  interleaved_measurement.cpp
  reference_client.cpp
  worker_client.cpp)
add_library(whet::evaluator ALIAS whet_evaluator)
target_link_libraries(whet_evaluator
  PUBLIC whet::protocol whet::harness
  PRIVATE Threads::Threads)

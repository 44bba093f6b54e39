// whet-compile: makes one artifact a request, so that a bug of the generator or a compiler costs a
// child and not the run. Requests and answers: harness/messages.hpp.

#include <cstdio>
#include <optional>

#include "base/error.hpp"
#include "harness/child_program.hpp"
#include "harness/compile_candidate.hpp"
#include "harness/messages.hpp"
#include "ir/workload.hpp"

namespace {

#ifdef __SANITIZE_ADDRESS__
constexpr bool kLimitMemory = false;  // the sanitizer's shadow alone exceeds any limit
#else
constexpr bool kLimitMemory = true;
#endif

/// Most requests of a session are for one workload: it is parsed once.
class CompileServer {
 public:
  whet::Message handle(const whet::Message& message) {
    const auto request = whet::decode<whet::CompileRequest>(message);
    return whet::encode(whet::compile_candidate(workload(request.workload), request));
  }

 private:
  const whet::Workload& workload(const whet::WorkloadSource& source) {
    if (!source_ || *source_ != source) {
      workload_ = whet::parse_workload(source.text, source.name, source.dims);
      source_ = source;
    }
    return workload_;
  }

  std::optional<whet::WorkloadSource> source_;
  whet::Workload workload_;
};

}  // namespace

int main() {
  try {
    whet::end_descendants_on_termination();
    whet::limit_resources(kLimitMemory);
    CompileServer server;
    return whet::serve_requests("whet-compile", [&server](const whet::Message& message) {
      return server.handle(message);
    });
  } catch (const whet::Error& error) {
    std::fprintf(stderr, "whet-compile: %s\n", error.what());
    return error.exit_code();
  }
}

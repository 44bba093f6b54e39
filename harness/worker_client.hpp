#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "harness/child_process.hpp"
#include "harness/messages.hpp"

namespace whet {

/// How long a worker may take over each request. What lies between requests never counts.
struct WorkerDeadlines {
  std::chrono::milliseconds open{60'000};
  std::chrono::milliseconds load{60'000};
  std::chrono::milliseconds validate{120'000};
  std::chrono::milliseconds measure_block{20'000};  ///< for each block of a request
  std::chrono::milliseconds timeline{120'000};
};

/// One whet-worker process, seen from the parent: a worker that dies, hangs or writes garbage
/// becomes the outcome of the request. Throws what ends the command: an Error that the worker
/// reports, such as a device that is not there.
class WorkerClient {
 public:
  /// Starts the process and opens the device. Throws EnvironmentError when it ends before it
  /// answers.
  WorkerClient(
      const std::vector<std::string>& command,
      const OpenRequest& request,
      const WorkerDeadlines& deadlines
  );

  const std::string& device() const { return device_; }
  pid_t pid() const { return child_.pid(); }

  Outcome load(const LoadRequest& request);
  /// A candidate that compiled, under the number by which later requests name it.
  Outcome load(std::int64_t id, const CompileResponse& compiled);
  ValidateResponse validate(const ValidateRequest& request);
  MeasureResponse measure(const MeasureRequest& request);
  TimelineResponse timeline(const TimelineRequest& request);
  Outcome unload(std::int64_t id);

  /// False after a fault, or when the worker said that it must not be used again.
  bool is_usable() const { return is_usable_; }

 private:
  template <typename Answer, typename Request>
  Answer exchange(const Request& request, std::chrono::milliseconds timeout);

  WorkerDeadlines deadlines_;
  ChildProcess child_;
  std::string device_;
  bool is_usable_ = true;
};

}  // namespace whet

#pragma once

#include <cstddef>
#include <functional>
#include <vector>

namespace whet {

/// Fibers that run one at a time on the calling thread, on stacks kept from one run to the next.
/// A fiber that is never resumed again is abandoned: its frames are not unwound.
class Fibers {
 public:
  Fibers() = default;
  ~Fibers();
  Fibers(const Fibers&) = delete;
  Fibers& operator=(const Fibers&) = delete;

  /// Makes `num_fibers` new fibers, abandoning the old ones. Fiber i will run `body(i)`, which must
  /// not throw. Throws EnvironmentError when there is no memory for the stacks.
  void prepare(int num_fibers, std::function<void(int)> body);
  /// Runs a fiber until it suspends itself or ends; true if it ended. Not called on a fiber.
  bool resume(int fiber);
  /// Goes back to the caller of resume. Called on a fiber.
  void suspend();
  /// Whether the address lies on a fiber's stack.
  bool owns(const void* address) const;

 private:
  friend struct FiberStart;
  struct Fiber {
    void* context = nullptr;
    bool ended = false;
  };
  void reserve_stacks(std::size_t num_stacks);
  void release_stacks() noexcept;

  std::function<void(int)> body_;
  std::vector<Fiber> fibers_;
  void* caller_ = nullptr;  ///< context of resume's caller while a fiber runs
  int current_ = -1;
  char* stacks_ = nullptr;
  std::size_t num_stacks_ = 0;
};

}  // namespace whet

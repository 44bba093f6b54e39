#pragma once

#include <functional>

#include "harness/protocol.hpp"

namespace whet {

/// Serves requests until the parent closes the pipe: each message on standard input is answered by
/// `handle`, or by an ErrorResponse when it throws. From here on what anybody prints goes to
/// standard error. Returns the program's exit code: 0, or 3 when the conversation broke.
int serve_requests(const char* program, const std::function<Message(const Message&)>& handle);

/// For a program that starts compilers: when its parent dies or sends SIGTERM, the processes below
/// it are ended first, then it ends. Call before any other thread starts.
void end_descendants_on_termination();

/// Limits that a compiler runs into before the machine suffers: no core dumps, files of at most
/// 1 GiB, and 8 GiB of address space a process unless `limit_memory` is false.
void limit_resources(bool limit_memory);

}  // namespace whet

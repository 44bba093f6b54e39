#pragma once

#include <string>

#include "cli/environment.hpp"

namespace whet {

/// `whet db check`: reads everything in the database.
struct DbCheckOptions {
  std::string database;
  bool json = false;
};

/// Prints what is there and each problem. Returns 0, or 1 if there is a problem.
int run_db_check(const DbCheckOptions& options, const Environment& environment);

}  // namespace whet

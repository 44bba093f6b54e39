#pragma once

#include <fmt/format.h>

#include <concepts>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>

#include "base/error.hpp"
#include "base/json.hpp"

namespace whet {

/// An object whose fields are read one by one; `where` stands for it in messages.
class FieldReader {
 public:
  FieldReader(const Json& json, std::string where) : json_(json), where_(std::move(where)) {
    if (!json.is_object()) {
      throw UserError(fmt::format("{}: expected an object, found {}", where_, json.type_name()));
    }
  }

  const Json& member(const char* name) const {
    const auto found = json_.find(name);
    if (found == json_.end()) {
      throw UserError(fmt::format("{}: field \"{}\" is missing", where_, name));
    }
    return *found;
  }

  [[noreturn]] void fail(const char* name, const std::string& expected) const {
    throw UserError(
        fmt::format("{}.{}: expected {}, found {}", where_, name, expected, member(name).dump())
    );
  }

  void read(std::string& out, const char* name) const {
    const Json& value = member(name);
    if (!value.is_string()) {
      fail(name, "a string");
    }
    out = value.get<std::string>();
  }

  void read(bool& out, const char* name) const {
    const Json& value = member(name);
    if (!value.is_boolean()) {
      fail(name, "true or false");
    }
    out = value.get<bool>();
  }

  template <std::integral T>
  void read(T& out, const char* name, T low) const {
    const Json& value = member(name);
    const bool fits = value.is_number_unsigned() ? std::in_range<T>(value.get<std::uint64_t>())
                                                 : value.is_number_integer() &&
                                                       std::in_range<T>(value.get<std::int64_t>());
    if (!fits || value.get<T>() < low) {
      fail(name, fmt::format("an integer in [{}, {}]", low, std::numeric_limits<T>::max()));
    }
    out = value.get<T>();
  }

 private:
  const Json& json_;
  std::string where_;
};

}  // namespace whet

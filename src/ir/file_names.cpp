#include "ir/file_names.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/suggestion.hpp"

namespace whet {

std::string read_name(const JsonCursor& cursor) {
  constexpr std::int64_t kMaxCharacters = 10'000;
  std::string name = cursor.as_string();
  const std::int64_t num_characters = std::count_if(name.begin(), name.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xc0u) != 0x80u;  // not inside a UTF-8 sequence
  });
  if (num_characters < 1 || num_characters > kMaxCharacters) {
    cursor.fail(
        fmt::format("a name of 1 to {} characters", kMaxCharacters),
        fmt::format("one of {}", num_characters)
    );
  }
  return name;
}

void NameTable::define(const JsonCursor& cursor, const std::string& name, ValueId value) {
  const auto [entry, is_new] = entries_.try_emplace(name, Entry{value, cursor.where()});
  if (!is_new) {
    cursor.fail(
        "a name that is not taken",
        fmt::format("{}, which {} defines", quoted_name(name), entry->second.where)
    );
  }
}

std::optional<ValueId> NameTable::find(const std::string& name) const {
  const auto entry = entries_.find(name);
  return entry == entries_.end() ? std::nullopt : std::optional(entry->second.value);
}

ValueId NameTable::resolve(const JsonCursor& cursor) const {
  const std::string name = cursor.as_string();
  const std::optional<ValueId> value = find(name);
  if (!value) {
    refuse_dangling(cursor, name);
  }
  return *value;
}

void NameTable::refuse_dangling(const JsonCursor& cursor, const std::string& name) const {
  std::vector<std::string_view> names;
  for (const auto& [known, entry] : entries_) {
    names.push_back(known);
  }
  std::sort(names.begin(), names.end());  // equal distances: always the same suggestion
  cursor.fail("a defined value", quoted_name(name) + suggestion(name, names));
}

}  // namespace whet

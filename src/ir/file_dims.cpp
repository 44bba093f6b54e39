#include "ir/file_dims.hpp"

#include "base/error.hpp"
#include "base/suggestion.hpp"
#include "ir/file_names.hpp"
#include "ir/infer.hpp"

namespace whet {
namespace {

std::string listed(const std::vector<std::string_view>& names) {
  std::string text;
  for (const std::string_view name : names) {
    text += (text.empty() ? "" : ", ") + quoted_name(std::string(name));
  }
  return text.empty() ? "none" : text;
}

}  // namespace

DimTable::DimTable(const JsonCursor& root, const DimOverrides& overrides) {
  const std::optional<JsonCursor> dims = root.find("dims");
  if (dims) {
    for (const auto& [name, size] : dims->members()) {
      if (name.empty()) {
        dims->fail("a name for each dimension", "an empty one");
      }
      sizes_.emplace(name, size.as_integer(0, kMaxDim));
    }
  }
  for (const auto& [name, size] : overrides) {
    const auto known = sizes_.find(name);
    if (known == sizes_.end()) {
      (dims ? *dims : root)
          .fail(
              fmt::format("a dimension of this file ({})", listed(names())),
              fmt::format("an override of {}{}", quoted_name(name), suggestion(name, names()))
          );
    }
    if (size < 0 || size > kMaxDim) {
      dims->fail(
          fmt::format("an override of {} with 0 to {}", quoted_name(name), kMaxDim),
          std::to_string(size)
      );
    }
    known->second = size;
  }
}

std::vector<std::string_view> DimTable::names() const {
  std::vector<std::string_view> names;
  for (const auto& [name, size] : sizes_) {
    names.push_back(name);
  }
  return names;
}

std::int64_t DimTable::named(const JsonCursor& name) const {
  const std::string text = name.as_string();
  const auto known = sizes_.find(text);
  if (known == sizes_.end()) {
    name.fail(
        fmt::format("the name of a dimension ({})", listed(names())),
        quoted_name(text) + suggestion(text, names())
    );
  }
  return known->second;
}

std::int64_t DimTable::size(const JsonCursor& entry) const {
  if (entry.is_string()) {
    return named(entry);
  }
  if (!entry.is_integer()) {
    entry.fail("an integer or the name of a dimension");
  }
  return entry.as_integer(0, kMaxDim);
}

std::vector<std::int64_t> DimTable::shape(const JsonCursor& list) const {
  std::vector<std::int64_t> shape;
  for (const JsonCursor& entry : list.items()) {
    shape.push_back(size(entry));
  }
  if (const std::optional<std::string> limit = exceeded_limit(shape)) {
    list.fail(*limit);
  }
  return shape;
}

std::vector<std::int64_t> DimTable::open_shape(const JsonCursor& list) const {
  std::vector<std::int64_t> shape;
  for (const JsonCursor& entry : list.items()) {
    shape.push_back(entry.is_integer() ? entry.as_integer(-1, kMaxDim) : size(entry));
  }
  return shape;
}

}  // namespace whet

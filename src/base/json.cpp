#include "base/json.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "base/error.hpp"
#include "base/files.hpp"
#include "base/json_parse.hpp"
#include "base/suggestion.hpp"

namespace whet {
namespace {

std::string in_quotes(std::string_view text) {
  constexpr std::size_t kMaxShown = 60;
  std::string shown(text.substr(0, kMaxShown));
  if (text.size() > kMaxShown) {
    shown += "...";
  }
  // The cut may fall inside a character, hence `replace`.
  return Json(shown).dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string describe(const Json& value) {
  switch (value.type()) {
    case Json::value_t::null:
      return "null";
    case Json::value_t::boolean:
    case Json::value_t::number_integer:
    case Json::value_t::number_unsigned:
    case Json::value_t::number_float:
      return value.dump();
    case Json::value_t::string:
      return "the string " + in_quotes(value.get_ref<const std::string&>());
    case Json::value_t::array:
      return fmt::format("an array of {}", value.size());
    case Json::value_t::object:
      return fmt::format("an object of {}", value.size());
    default:
      return value.type_name();
  }
}

std::string key_list(const Json& object) {
  constexpr std::size_t kMaxShown = 20;
  std::string list;
  std::size_t num_shown = 0;
  for (const auto& [key, value] : object.items()) {
    if (num_shown == kMaxShown) {
      return list + ", ...";
    }
    list += (num_shown++ == 0 ? "" : ", ") + in_quotes(key);
  }
  return list.empty() ? "no members" : "only " + list;
}

std::string describe_range(std::int64_t low, std::int64_t high) {
  const bool from_below = low > INT64_MIN;
  const bool from_above = high < INT64_MAX;
  if (from_below && from_above) {
    return fmt::format("an integer from {} to {}", low, high);
  }
  if (from_below) {
    return fmt::format("an integer of at least {}", low);
  }
  return from_above ? fmt::format("an integer of at most {}", high) : "a 64-bit signed integer";
}

}  // namespace

JsonCursor JsonCursor::parse_file(const std::filesystem::path& path) {
  std::string text;
  try {
    text = read_file(path, kMaxBytes);
  } catch (const EnvironmentError& error) {
    throw UserError(error.what());
  }
  return parse_text(text, path.string());
}

JsonCursor JsonCursor::parse_text(std::string_view text, const std::string& name) {
  auto root = std::make_shared<const Json>(parse_json(text, name));
  const Json* value = root.get();
  return JsonCursor(std::move(root), value, name, "$");
}

JsonCursor JsonCursor::at(const std::string& key) const {
  std::optional<JsonCursor> member = find(key);
  if (!member) {
    fail(fmt::format("a member {}", in_quotes(key)), key_list(*value_));
  }
  return *std::move(member);
}

std::optional<JsonCursor> JsonCursor::find(const std::string& key) const {
  if (!is_object()) {
    fail(fmt::format("an object with {}", in_quotes(key)));
  }
  const auto member = value_->find(key);
  if (member == value_->end()) {
    return std::nullopt;
  }
  return JsonCursor(root_, &*member, file_, member_path(path_, key));
}

std::vector<JsonCursor> JsonCursor::items() const {
  if (!is_array()) {
    fail("an array");
  }
  std::vector<JsonCursor> items;
  items.reserve(value_->size());
  for (const Json& element : *value_) {
    items.push_back(JsonCursor(root_, &element, file_, element_path(path_, items.size())));
  }
  return items;
}

std::vector<std::pair<std::string, JsonCursor>> JsonCursor::members() const {
  if (!is_object()) {
    fail("an object");
  }
  std::vector<std::pair<std::string, JsonCursor>> members;
  members.reserve(value_->size());
  for (const auto& [key, member] : value_->items()) {
    members.emplace_back(key, JsonCursor(root_, &member, file_, member_path(path_, key)));
  }
  return members;
}

void JsonCursor::allow_only(std::initializer_list<std::string_view> keys) const {
  if (!is_object()) {
    fail("an object");
  }
  for (const auto& [key, member] : value_->items()) {
    if (std::find(keys.begin(), keys.end(), key) != keys.end()) {
      continue;
    }
    std::string known;
    for (const std::string_view each : keys) {
      known += (known.empty() ? "" : ", ") + in_quotes(each);
    }
    fail(
        known.empty() ? "no members" : fmt::format("only the keys {}", known),
        fmt::format("{}{}", in_quotes(key), suggestion(key, {keys.begin(), keys.size()}))
    );
  }
}

bool JsonCursor::is_string() const { return value_->is_string(); }
bool JsonCursor::is_number() const { return value_->is_number(); }
bool JsonCursor::is_integer() const { return value_->is_number_integer(); }
bool JsonCursor::is_array() const { return value_->is_array(); }
bool JsonCursor::is_object() const { return value_->is_object(); }
bool JsonCursor::is_bool() const { return value_->is_boolean(); }

std::string JsonCursor::as_string() const {
  if (!is_string()) {
    fail("a string");
  }
  return value_->get<std::string>();
}

std::int64_t JsonCursor::as_integer(std::int64_t low, std::int64_t high) const {
  const bool fits =
      is_integer() && (!value_->is_number_unsigned() ||
                       value_->get<std::uint64_t>() <= static_cast<std::uint64_t>(INT64_MAX));
  if (!fits) {
    fail(describe_range(low, high));
  }
  const auto number = value_->get<std::int64_t>();
  if (number < low || number > high) {
    fail(describe_range(low, high));
  }
  return number;
}

double JsonCursor::as_number(bool allow_special) const {
  if (is_number()) {
    return value_->get<double>();
  }
  if (allow_special && is_string()) {
    const auto& text = value_->get_ref<const std::string&>();
    if (text == "inf" || text == "-inf") {
      return text == "inf" ? std::numeric_limits<double>::infinity()
                           : -std::numeric_limits<double>::infinity();
    }
    if (text == "nan") {
      return std::numeric_limits<double>::quiet_NaN();
    }
  }
  fail(allow_special ? R"(a number, "inf", "-inf" or "nan")" : "a number");
}

bool JsonCursor::as_bool() const {
  if (!is_bool()) {
    fail("true or false");
  }
  return value_->get<bool>();
}

void JsonCursor::fail(const std::string& expected, const std::string& found) const {
  throw UserError(fmt::format(
      "{}: expected {}, found {}", where(), expected, found.empty() ? describe(*value_) : found
  ));
}

std::string JsonCursor::where() const { return fmt::format("{}: {}", file_, path_); }

const Json& JsonCursor::value() const { return *value_; }

}  // namespace whet

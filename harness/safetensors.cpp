#include "harness/safetensors.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <optional>
#include <utility>

#include "base/error.hpp"
#include "base/json.hpp"

namespace whet {
namespace {

static_assert(std::endian::native == std::endian::little, "the format is little-endian");

constexpr std::size_t kLengthBytes = 8;
constexpr const char* kMetadataKey = "__metadata__";

constexpr std::array<std::pair<DType, std::string_view>, 7> kDTypeNames{{
    {DType::F64, "F64"},
    {DType::F32, "F32"},
    {DType::BF16, "BF16"},
    {DType::F16, "F16"},
    {DType::I64, "I64"},
    {DType::I32, "I32"},
    {DType::Bool, "BOOL"},
}};

std::string_view format_name(DType dtype) {
  for (const auto& [known, name] : kDTypeNames) {
    if (known == dtype) {
      return name;
    }
  }
  throw InternalError("unknown dtype");
}

std::optional<DType> parse_format_name(std::string_view name) {
  for (const auto& [dtype, known] : kDTypeNames) {
    if (known == name) {
      return dtype;
    }
  }
  return std::nullopt;
}

[[noreturn]] void refuse(const std::string& file, const std::string& found) {
  throw EnvironmentError(fmt::format(
      "{}: expected a .safetensors file, found {}; delete it to have it made anew", file, found
  ));
}

/// A tensor of the header: where its bytes lie in the data.
struct Entry {
  std::string name;
  DType dtype = DType::F32;
  std::vector<std::int64_t> shape{};
  std::int64_t begin = 0;
  std::int64_t end = 0;
};

Entry parse_entry(const std::string& name, const JsonCursor& json) {
  json.allow_only({"dtype", "shape", "data_offsets"});
  Entry entry{.name = name};
  const JsonCursor dtype = json.at("dtype");
  const std::optional<DType> parsed = parse_format_name(dtype.as_string());
  if (!parsed) {
    dtype.fail("one of F64, F32, BF16, F16, I64, I32, BOOL");
  }
  entry.dtype = *parsed;
  for (const JsonCursor& size : json.at("shape").items()) {
    entry.shape.push_back(size.as_integer(0));
  }
  const JsonCursor offsets = json.at("data_offsets");
  const std::vector<JsonCursor> both = offsets.items();
  if (both.size() != 2) {
    offsets.fail("two offsets");
  }
  entry.begin = both[0].as_integer(0);
  entry.end = both[1].as_integer(entry.begin);
  const std::int64_t bytes = dense_bytes(entry.dtype, entry.shape);
  if (entry.end - entry.begin != bytes) {
    offsets.fail(fmt::format("{} bytes by shape and dtype", bytes));
  }
  return entry;
}

std::vector<Entry> parse_header(
    std::string_view text, const std::string& file, std::map<std::string, std::string>& metadata
) {
  std::vector<Entry> entries;
  for (const auto& [name, json] : JsonCursor::parse_text(text, file).members()) {
    if (name == kMetadataKey) {
      for (const auto& [key, value] : json.members()) {
        metadata.emplace(key, value.as_string());
      }
    } else {
      entries.push_back(parse_entry(name, json));
    }
  }
  return entries;
}

/// The entries' bytes must follow each other and fill the data exactly.
void check_tiling(std::vector<Entry>& entries, std::size_t num_data, const std::string& file) {
  std::ranges::stable_sort(entries, [](const Entry& a, const Entry& b) {
    return std::pair(a.begin, a.end) < std::pair(b.begin, b.end);
  });
  std::int64_t next = 0;
  for (const Entry& entry : entries) {
    if (entry.begin != next) {
      refuse(
          file,
          fmt::format("tensor \"{}\" at byte {} where {} comes next", entry.name, entry.begin, next)
      );
    }
    next = entry.end;
  }
  if (static_cast<std::size_t>(next) != num_data) {
    refuse(file, fmt::format("{} bytes of data where its header says {}", num_data, next));
  }
}

}  // namespace

std::string encode_safetensors(
    const std::map<std::string, std::string>& metadata, const std::vector<NamedTensor>& tensors
) {
  std::vector<NamedTensor> ordered = tensors;
  std::ranges::stable_sort(ordered, [](const NamedTensor& a, const NamedTensor& b) {
    return dtype_bytes(a.tensor->dtype) > dtype_bytes(b.tensor->dtype);
  });
  Json header = Json::object();
  header[kMetadataKey] = metadata;
  std::size_t num_data = 0;
  for (const auto& [name, tensor] : ordered) {
    WHET_CHECK(!header.contains(name), "two tensors are called {}", name);
    const auto expected = static_cast<std::size_t>(dense_bytes(tensor->dtype, tensor->shape));
    WHET_CHECK(tensor->bytes.size() == expected, "{}: {} bytes", name, tensor->bytes.size());
    header[name] = {
        {"dtype", format_name(tensor->dtype)},
        {"shape", tensor->shape},
        {"data_offsets", {num_data, num_data + expected}},
    };
    num_data += expected;
  }
  std::string text = header.dump();
  // The data starts at a multiple of 8, the largest element.
  text.append((kLengthBytes - text.size() % kLengthBytes) % kLengthBytes, ' ');
  std::string bytes(kLengthBytes, '\0');
  bytes.reserve(kLengthBytes + text.size() + num_data);
  const std::uint64_t length = text.size();
  std::memcpy(bytes.data(), &length, kLengthBytes);
  bytes += text;
  for (const auto& [name, tensor] : ordered) {
    bytes.append(reinterpret_cast<const char*>(tensor->bytes.data()), tensor->bytes.size());
  }
  return bytes;
}

Safetensors decode_safetensors(std::string_view bytes, const std::string& file) {
  if (bytes.size() < kLengthBytes) {
    refuse(file, fmt::format("only {} bytes", bytes.size()));
  }
  std::uint64_t length = 0;
  std::memcpy(&length, bytes.data(), kLengthBytes);
  if (length > bytes.size() - kLengthBytes || length > JsonCursor::kMaxBytes) {
    refuse(file, fmt::format("a header of {} bytes in a file of {}", length, bytes.size()));
  }
  const std::string_view text = bytes.substr(kLengthBytes, length);
  const std::string_view data = bytes.substr(kLengthBytes + length);
  if (!text.starts_with('{')) {
    refuse(file, "a header that is not a JSON object");
  }
  Safetensors result;
  std::vector<Entry> entries;
  try {
    entries = parse_header(text, file, result.metadata);
  } catch (const UserError& error) {
    // No person wrote this header: the file is damaged.
    refuse(file, fmt::format("this header: {}", error.what()));
  }
  check_tiling(entries, data.size(), file);
  for (Entry& entry : entries) {
    const std::string_view part = data.substr(
        static_cast<std::size_t>(entry.begin), static_cast<std::size_t>(entry.end - entry.begin)
    );
    HostTensor tensor{.dtype = entry.dtype, .shape = std::move(entry.shape), .bytes = {}};
    tensor.bytes.assign(part.begin(), part.end());
    result.tensors.emplace(std::move(entry.name), std::move(tensor));
  }
  return result;
}

}  // namespace whet

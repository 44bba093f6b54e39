#include "schedule/hazards.hpp"

#include <cstdint>

namespace whet {
namespace {

using Index = std::size_t;

std::pair<std::int64_t, std::int64_t> bytes_of(const Buffer& buffer) {
  const std::int64_t size = buffer.num_elements * dtype_bytes(buffer.dtype);
  return {buffer.offset_bytes, buffer.offset_bytes + buffer.slot_bytes + size};
}

}  // namespace

std::string Hazards::name_of(ValueId v) const {
  const bool named = v >= 0 && Index(v) < program_.values.size();
  return named ? program_.value(v).name : fmt::format("partial sum {}", v);
}

const std::string& Hazards::symbol(int buffer) const {
  return schedule_.buffers[Index(buffer)].symbol;
}

bool Hazards::overlap(int a, int b) const {
  const Buffer& x = schedule_.buffers[Index(a)];
  const Buffer& y = schedule_.buffers[Index(b)];
  if (a == b) {
    return true;
  }
  const bool in_shared = is_in_shared(x) && is_in_shared(y);
  if (!in_shared && (x.storage == Storage::Argument || x.storage != y.storage)) {
    return false;
  }
  const auto [x_begin, x_end] = bytes_of(x);
  const auto [y_begin, y_end] = bytes_of(y);
  return x_begin < y_end && y_begin < x_end;
}

}  // namespace whet

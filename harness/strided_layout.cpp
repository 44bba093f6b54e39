#include "harness/strided_layout.hpp"

#include <algorithm>
#include <cstring>
#include <vector>

#include "base/error.hpp"

namespace whet {
namespace {

/// Calls visit(i, offset) for the i-th element in row-major order, at `offset` elements of storage.
template <typename Visit>
void for_each_element(const TensorDesc& desc, const Visit& visit) {
  const std::int64_t count = num_elements(desc.shape);
  std::vector<std::int64_t> index(desc.shape.size(), 0);
  std::int64_t offset = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    visit(i, offset);
    for (std::size_t dim = index.size(); dim-- > 0;) {
      offset += desc.strides[dim];
      if (++index[dim] < desc.shape[dim]) {
        break;
      }
      offset -= desc.strides[dim] * desc.shape[dim];
      index[dim] = 0;
    }
  }
}

void check_fits(std::size_t storage_bytes, const TensorDesc& desc) {
  const std::int64_t needed = storage_extent(desc) * dtype_bytes(desc.dtype);
  WHET_CHECK(
      static_cast<std::int64_t>(storage_bytes) >= needed,
      "{} needs {} bytes of storage, there are {}",
      describe(desc),
      needed,
      storage_bytes
  );
}

}  // namespace

void scatter(const HostTensor& dense, const TensorDesc& desc, std::span<std::uint8_t> storage) {
  WHET_CHECK(
      dense.dtype == desc.dtype && dense.shape == desc.shape,
      "values of another shape or dtype than {} '{}'",
      describe(desc),
      desc.name
  );
  check_fits(storage.size(), desc);
  if (is_contiguous(desc)) {
    std::copy(dense.bytes.begin(), dense.bytes.end(), storage.begin());
    return;
  }
  const auto size = static_cast<std::size_t>(dtype_bytes(desc.dtype));
  for_each_element(desc, [&](std::int64_t i, std::int64_t offset) {
    std::memcpy(
        storage.data() + static_cast<std::size_t>(offset) * size,
        dense.bytes.data() + static_cast<std::size_t>(i) * size,
        size
    );
  });
}

HostTensor gather(std::span<const std::uint8_t> storage, const TensorDesc& desc) {
  check_fits(storage.size(), desc);
  const auto size = static_cast<std::size_t>(dtype_bytes(desc.dtype));
  HostTensor dense{.dtype = desc.dtype, .shape = desc.shape, .bytes = {}};
  dense.bytes.resize(static_cast<std::size_t>(num_elements(desc.shape)) * size);
  for_each_element(desc, [&](std::int64_t i, std::int64_t offset) {
    std::memcpy(
        dense.bytes.data() + static_cast<std::size_t>(i) * size,
        storage.data() + static_cast<std::size_t>(offset) * size,
        size
    );
  });
  return dense;
}

}  // namespace whet

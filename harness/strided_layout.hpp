#pragma once

#include <cstdint>
#include <span>

#include "harness/host_tensor.hpp"
#include "ir/program.hpp"

namespace whet {

/// Writes a dense tensor's elements where `desc`'s strides put them; what lies between stays.
/// `storage` holds at least storage_extent(desc) elements.
void scatter(const HostTensor& dense, const TensorDesc& desc, std::span<std::uint8_t> storage);

/// The dense tensor that `desc`'s strides find in `storage`.
HostTensor gather(std::span<const std::uint8_t> storage, const TensorDesc& desc);

}  // namespace whet

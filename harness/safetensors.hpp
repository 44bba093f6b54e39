#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "harness/host_tensor.hpp"

namespace whet {

/// A tensor of a file to be written; it must outlive the call.
struct NamedTensor {
  std::string name;
  const HostTensor* tensor = nullptr;
};

/// What a .safetensors file holds.
struct Safetensors {
  std::map<std::string, std::string> metadata;
  std::map<std::string, HostTensor> tensors;
};

/// The file's bytes: tensors by falling element size, so that each is aligned to its own, and else
/// in the given order. Names must differ. Source: the format's description in the README of
/// huggingface/safetensors.
std::string encode_safetensors(
    const std::map<std::string, std::string>& metadata, const std::vector<NamedTensor>& tensors
);

/// Reads strictly: every byte of the data belongs to exactly one tensor, sizes are what shape and
/// dtype say, no key is unknown or given twice. Throws EnvironmentError, naming `file`, for
/// anything else: a torn or foreign file.
Safetensors decode_safetensors(std::string_view bytes, const std::string& file);

}  // namespace whet

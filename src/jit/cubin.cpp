#include "jit/cubin.hpp"

#include <elf.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <type_traits>
#include <vector>

#include "base/error.hpp"

namespace whet {
namespace {

// Attributes of `.nv.info` sections.
constexpr unsigned kMaxThreads = 0x05;
constexpr unsigned kParameterBytes = 0x19;
constexpr unsigned kRegisterCount = 0x2f;

struct Section {
  std::string_view name;
  Elf64_Shdr header{};
};

/// The bytes of an ELF file, each access checked.
class Elf {
 public:
  explicit Elf(std::string_view bytes) : bytes_(bytes), header_(at<Elf64_Ehdr>(0)) {
    if (std::memcmp(header_.e_ident, ELFMAG, SELFMAG) != 0 ||
        header_.e_ident[EI_CLASS] != ELFCLASS64 || header_.e_machine != EM_CUDA) {
      throw EnvironmentError("not a cubin: no 64-bit ELF header of a CUDA machine");
    }
    if (header_.e_shentsize != sizeof(Elf64_Shdr)) {
      throw EnvironmentError(
          fmt::format("not a cubin: section headers of {} bytes", header_.e_shentsize)
      );
    }
    const auto section_header = [&](std::size_t index) {
      return at<Elf64_Shdr>(header_.e_shoff + index * sizeof(Elf64_Shdr));
    };
    const Elf64_Shdr names = section_header(header_.e_shstrndx);
    for (std::size_t i = 0; i < header_.e_shnum; ++i) {
      const Elf64_Shdr section = section_header(i);
      sections_.push_back({text_at(names.sh_offset + section.sh_name), section});
    }
  }

  unsigned sm_version() const { return (header_.e_flags >> 8) & 0xffu; }

  const Section* find(std::string_view name) const {
    for (const Section& section : sections_) {
      if (section.name == name) {
        return &section;
      }
    }
    return nullptr;
  }

  std::string_view content(const Section& section) const {
    return slice(section.header.sh_offset, section.header.sh_size);
  }

  /// Index in `.symtab` of the symbol `name`.
  std::optional<std::uint32_t> symbol_index(std::string_view name) const {
    const Section* table = find(".symtab");
    if (table == nullptr || table->header.sh_link >= sections_.size()) {
      return std::nullopt;
    }
    const std::size_t strings = sections_[table->header.sh_link].header.sh_offset;
    for (std::size_t i = 0; i < table->header.sh_size / sizeof(Elf64_Sym); ++i) {
      const auto symbol = at<Elf64_Sym>(table->header.sh_offset + i * sizeof(Elf64_Sym));
      if (text_at(strings + symbol.st_name) == name) {
        return static_cast<std::uint32_t>(i);
      }
    }
    return std::nullopt;
  }

 private:
  std::string_view slice(std::size_t offset, std::size_t size) const {
    if (offset > bytes_.size() || size > bytes_.size() - offset) {
      throw EnvironmentError(
          fmt::format("not a whole cubin: {} bytes at offset {} of {}", size, offset, bytes_.size())
      );
    }
    return bytes_.substr(offset, size);
  }

  template <typename T>
  T at(std::size_t offset) const {
    static_assert(std::is_trivially_copyable_v<T>);
    T value;
    std::memcpy(&value, slice(offset, sizeof(T)).data(), sizeof(T));
    return value;
  }

  std::string_view text_at(std::size_t offset) const {
    const std::string_view rest = slice(offset, bytes_.size() - std::min(offset, bytes_.size()));
    return rest.substr(0, rest.find('\0'));
  }

  std::string_view bytes_;
  Elf64_Ehdr header_;
  std::vector<Section> sections_;
};

/// One attribute of an `.nv.info` section: a 16-bit value, or a payload of that many bytes.
struct Attribute {
  unsigned id = 0;
  std::uint16_t value = 0;
  std::string_view payload;

  std::optional<std::uint32_t> word(std::size_t index) const {
    if (payload.size() < (index + 1) * sizeof(std::uint32_t)) {
      return std::nullopt;
    }
    std::uint32_t word = 0;
    std::memcpy(&word, payload.data() + index * sizeof(word), sizeof(word));
    return word;
  }
};

std::vector<Attribute> parse_info(std::string_view info) {
  constexpr unsigned kHasPayload = 4;
  constexpr std::size_t kHeadBytes = 4;
  std::vector<Attribute> attributes;
  while (info.size() >= kHeadBytes) {
    Attribute attribute;
    attribute.id = static_cast<unsigned char>(info[1]);
    std::memcpy(&attribute.value, info.data() + 2, sizeof(attribute.value));
    const bool has_payload = static_cast<unsigned char>(info[0]) == kHasPayload;
    info.remove_prefix(kHeadBytes);
    if (has_payload) {
      attribute.payload = info.substr(0, attribute.value);
      info.remove_prefix(std::min<std::size_t>(attribute.value, info.size()));
    }
    attributes.push_back(attribute);
  }
  return attributes;
}

std::optional<std::int64_t> register_count(const Elf& elf, std::uint32_t symbol) {
  const Section* section = elf.find(".nv.info");
  if (section == nullptr) {
    return std::nullopt;
  }
  for (const Attribute& attribute : parse_info(elf.content(*section))) {
    if (attribute.id == kRegisterCount && attribute.word(0) == symbol) {
      return attribute.word(1);
    }
  }
  return std::nullopt;
}

}  // namespace

CubinKernel read_cubin(std::string_view bytes, std::string_view entry) {
  const Elf elf(bytes);
  const Section* code = elf.find(fmt::format(".text.{}", entry));
  const Section* info = elf.find(fmt::format(".nv.info.{}", entry));
  const std::optional<std::uint32_t> symbol = elf.symbol_index(entry);
  if (code == nullptr || info == nullptr || !symbol) {
    throw EnvironmentError(fmt::format("the cubin holds no kernel {}", entry));
  }
  const std::optional<std::int64_t> registers = register_count(elf, *symbol);
  if (!registers) {
    throw EnvironmentError(fmt::format("the cubin does not say how many registers {} uses", entry));
  }
  CubinKernel kernel;
  kernel.registers = *registers;
  kernel.code_bytes = static_cast<std::int64_t>(code->header.sh_size);
  for (const Attribute& attribute : parse_info(elf.content(*info))) {
    if (attribute.id == kMaxThreads) {
      kernel.max_threads = attribute.word(0).value_or(0);
    } else if (attribute.id == kParameterBytes) {
      kernel.parameter_bytes = attribute.value;
    }
  }
  if (const Section* shared = elf.find(fmt::format(".nv.shared.{}", entry))) {
    constexpr std::int64_t kReservedFromSm90 = 1024;
    kernel.static_shared_bytes = static_cast<std::int64_t>(shared->header.sh_size) -
                                 (elf.sm_version() >= 90 ? kReservedFromSm90 : 0);
  }
  return kernel;
}

}  // namespace whet

#pragma once

#include <memory>
#include <optional>
#include <string>

namespace whet {

/// Owns a handle of a shared library, loaded with RTLD_NOW | RTLD_LOCAL.
class SharedLibrary {
 public:
  /// How long the code stays mapped: until the last handle goes, or for the process's life, which
  /// libraries with state of their own (drivers, compilers) want.
  enum class Lifetime { Handle, Process };

  /// `name` is a path, or a name that the loader searches. Nothing when it cannot be loaded;
  /// `error` then holds the loader's text.
  static std::optional<SharedLibrary> open(
      const std::string& name, Lifetime lifetime, std::string& error
  );
  /// A library of that name that this process has loaded already, by whatever path.
  static std::optional<SharedLibrary> find_loaded(const std::string& name);

  /// Null if there is none.
  void* symbol(const char* name) const noexcept;
  /// Sets a function pointer. False if there is no such symbol.
  template <typename Function>
  bool find(const char* name, Function*& function) const noexcept {
    function = reinterpret_cast<Function*>(symbol(name));
    return function != nullptr;
  }

 private:
  struct Close {
    void operator()(void* handle) const noexcept;
  };
  explicit SharedLibrary(void* handle) : handle_(handle) {}

  std::unique_ptr<void, Close> handle_;
};

/// The file that holds the code at `address`; "" if unknown.
std::string file_of_code(const void* address);

}  // namespace whet

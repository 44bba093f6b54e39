#include "jit/shared_library.hpp"

#include <dlfcn.h>

#include <cstdio>

namespace whet {

std::optional<SharedLibrary> SharedLibrary::open(
    const std::string& name, Lifetime lifetime, std::string& error
) {
  const int keep = lifetime == Lifetime::Process ? RTLD_NODELETE : 0;
  void* handle = ::dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL | keep);
  if (handle == nullptr) {
    const char* text = ::dlerror();
    error = text != nullptr ? text : "unknown error of the loader";
    return std::nullopt;
  }
  return SharedLibrary(handle);
}

std::optional<SharedLibrary> SharedLibrary::find_loaded(const std::string& name) {
  void* handle = ::dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD);
  if (handle == nullptr) {
    return std::nullopt;
  }
  return SharedLibrary(handle);
}

void* SharedLibrary::symbol(const char* name) const noexcept {
  return ::dlsym(handle_.get(), name);
}

void SharedLibrary::Close::operator()(void* handle) const noexcept {
  if (::dlclose(handle) != 0) {
    std::fprintf(stderr, "whet: cannot unload a library: %s\n", ::dlerror());
  }
}

std::string file_of_code(const void* address) {
  Dl_info info{};
  return ::dladdr(address, &info) != 0 && info.dli_fname != nullptr ? info.dli_fname : "";
}

}  // namespace whet

#include "jit/compile.hpp"

#include <chrono>
#include <optional>

#include "base/error.hpp"
#include "base/sha256.hpp"
#include "jit/cubin_cache.hpp"
#include "jit/emulation_compile.hpp"
#include "jit/host_compile.hpp"
#include "jit/nvrtc_compile.hpp"

namespace whet {
namespace {

using std::chrono::steady_clock;

/// Takes the artifact from the cache, or compiles it with `run` and publishes it.
template <typename Run>
CompileOutcome find_or_compile(
    const ArtifactIdentity& identity,
    const std::string& extension,
    const CompileOptions& options,
    Run run
) {
  CompileOutcome outcome;
  outcome.source_sha256 = identity.source_sha256;
  const CubinCache cache(options.cache_folder);
  const std::string key = artifact_key(identity);
  std::optional<CubinCache::Entry> entry = cache.find(key, extension);
  outcome.cache_hit = entry.has_value();
  if (!entry) {
    const auto start = steady_clock::now();
    CompiledCode code = run();
    outcome.compile_s = std::chrono::duration<double>(steady_clock::now() - start).count();
    if (code.status != Status::Ok) {
      outcome.status = code.status;
      outcome.detail = std::move(code.detail);
      return outcome;
    }
    entry = cache.store(key, extension, code.bytes, code.resources);
  }
  outcome.artifact = entry->artifact;
  outcome.resources = entry->resources;
  return outcome;
}

CompileOutcome compile_for_host(
    const KernelSource& source, std::vector<std::string> arguments, const CompileOptions& options
) {
  const auto deadline = steady_clock::now() + options.timeout;
  const std::string& compiler = options.host_compiler;
  const ArtifactIdentity identity{
      .target = target_name(source.plan.target),
      .compiler = host_compiler_identity(compiler, arguments, deadline).value_or(""),
      .arguments = std::move(arguments),
      .source_sha256 = sha256_hex(source.text),
  };
  if (identity.compiler.empty()) {
    CompileOutcome outcome;
    outcome.status = Status::CompileTimedOut;
    outcome.detail = fmt::format(
        "{} did not even state its version within {} ms", compiler, options.timeout.count()
    );
    outcome.source_sha256 = identity.source_sha256;
    return outcome;
  }
  return find_or_compile(identity, ".so", options, [&] {
    return compile_on_host(compiler, identity.arguments, source.text, deadline);
  });
}

CompileOutcome compile_for_cuda(const KernelSource& source, const CompileOptions& options) {
  const Nvrtc nvrtc = find_nvrtc(options.nvrtc_library);
  const ArtifactIdentity identity{
      .target = fmt::format("{} {}", target_name(source.plan.target), source.plan.arch),
      .compiler = fmt::format("NVRTC {}", nvrtc.version),
      .arguments = nvrtc_options(source.plan.arch),
      .source_sha256 = sha256_hex(source.text),
  };
  CompileOutcome outcome = find_or_compile(identity, ".cubin", options, [&] {
    return compile_with_nvrtc(nvrtc, source, options.timeout);
  });
  if (outcome.status == Status::Ok) {
    outcome.resources.dynamic_shared_bytes =
        static_cast<std::int64_t>(source.plan.dynamic_shared_bytes);
  }
  return outcome;
}

}  // namespace

CompileOutcome compile(const KernelSource& source, const CompileOptions& options) {
  switch (source.plan.target) {
    case Target::Cpu:
      return compile_for_host(source, host_compile_arguments(options.native), options);
    case Target::CudaEmulated:
      return compile_for_host(
          source, emulation_compile_arguments(options.emulation_checks), options
      );
    case Target::Cuda:
      return compile_for_cuda(source, options);
  }
  WHET_CHECK(false, "no such target");
}

}  // namespace whet

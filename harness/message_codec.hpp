#pragma once

#include <chrono>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "artifact/compile_options.hpp"
#include "artifact/launch_plan.hpp"
#include "base/error.hpp"
#include "evaluation/evaluation.hpp"
#include "ir/workload.hpp"
#include "schedule/configuration.hpp"

namespace whet {

// How a value of each type stands in a body: put() gives its JSON, get() reads it back and throws
// nlohmann's or whet's exception, which decode() describes.

template <typename T>
struct Codec;

template <typename T>
requires std::is_arithmetic_v<T>
struct Codec<T> {
  static Json put(T value) { return value; }
  static T get(const Json& json) { return json.get<T>(); }
};

/// An error norm may be infinite or no number, which JSON cannot say.
template <>
struct Codec<double> {
  static Json put(double value) {
    if (std::isnan(value)) {
      return "nan";
    }
    return std::isinf(value) ? Json(value > 0 ? "inf" : "-inf") : Json(value);
  }
  static double get(const Json& json) {
    if (!json.is_string()) {
      return json.get<double>();
    }
    const std::string text = json.get<std::string>();
    if (text == "nan") {
      return std::numeric_limits<double>::quiet_NaN();
    }
    if (text != "inf" && text != "-inf") {
      throw UserError(fmt::format("expected a number, found \"{}\"", text));
    }
    const double infinity = std::numeric_limits<double>::infinity();
    return text == "inf" ? infinity : -infinity;
  }
};

template <>
struct Codec<std::string> {
  static Json put(const std::string& value) { return value; }
  static std::string get(const Json& json) { return json.get<std::string>(); }
};

template <>
struct Codec<std::filesystem::path> {
  static Json put(const std::filesystem::path& value) { return value.string(); }
  static std::filesystem::path get(const Json& json) { return json.get<std::string>(); }
};

template <>
struct Codec<std::chrono::milliseconds> {
  static Json put(std::chrono::milliseconds value) { return value.count(); }
  static std::chrono::milliseconds get(const Json& json) {
    return std::chrono::milliseconds(json.get<std::int64_t>());
  }
};

template <>
struct Codec<Status> {
  static Json put(Status value) { return std::string(status_name(value)); }
  static Status get(const Json& json) {
    const std::string name = json.get<std::string>();
    const std::optional<Status> status = parse_status(name);
    if (!status) {
      throw UserError(fmt::format("expected a status, found \"{}\"", name));
    }
    return *status;
  }
};

template <>
struct Codec<Target> {
  static Json put(Target value) { return target_name(value); }
  static Target get(const Json& json) { return parse_target(json.get<std::string>()); }
};

template <>
struct Codec<AccessChecks> {
  static Json put(AccessChecks value) { return value == AccessChecks::All ? "all" : "of_helpers"; }
  static AccessChecks get(const Json& json) {
    const std::string name = json.get<std::string>();
    if (name != "all" && name != "of_helpers") {
      throw UserError(fmt::format("expected \"all\" or \"of_helpers\", found \"{}\"", name));
    }
    return name == "all" ? AccessChecks::All : AccessChecks::OfHelpers;
  }
};

template <>
struct Codec<LaunchPlan> {
  static Json put(const LaunchPlan& value) { return to_json(value); }
  static LaunchPlan get(const Json& json) { return launch_plan_from_json(json); }
};

template <>
struct Codec<Configuration> {
  static Json put(const Configuration& value) { return to_text(value); }
  static Configuration get(const Json& json) {
    return parse_configuration(json.get<std::string>());
  }
};

template <typename T>
struct Codec<std::vector<T>> {
  static Json put(const std::vector<T>& values) {
    Json json = Json::array();
    for (const T& value : values) {
      json.push_back(Codec<T>::put(value));
    }
    return json;
  }
  static std::vector<T> get(const Json& json) {
    std::vector<T> values;
    for (const Json& value : json) {
      values.push_back(Codec<T>::get(value));
    }
    return values;
  }
};

template <typename T>
struct Codec<std::optional<T>> {
  static Json put(const std::optional<T>& value) {
    return value ? Codec<T>::put(*value) : Json(nullptr);
  }
  static std::optional<T> get(const Json& json) {
    return json.is_null() ? std::nullopt : std::optional<T>(Codec<T>::get(json));
  }
};

template <>
struct Codec<DimOverrides> {
  static Json put(const DimOverrides& dims) {
    Json json = Json::object();
    for (const auto& [name, size] : dims) {
      json[name] = size;
    }
    return json;
  }
  static DimOverrides get(const Json& json) {
    DimOverrides dims;
    for (const auto& [name, size] : json.items()) {
      dims[name] = size.get<std::int64_t>();
    }
    return dims;
  }
};

/// Writes the fields of a struct into an object.
struct Writer {
  Json json = Json::object();

  template <typename T>
  void operator()(const char* name, const T& value) {
    json[name] = Codec<T>::put(value);
  }
};

/// Reads them back, naming the field that does not fit.
struct Reader {
  const Json& json;

  template <typename T>
  void operator()(const char* name, T& value) const {
    if (!json.is_object() || !json.contains(name)) {
      throw UserError(fmt::format("field '{}' is missing", name));
    }
    try {
      value = Codec<T>::get(json.at(name));
    } catch (const Json::exception& error) {
      throw UserError(fmt::format("field '{}': {}", name, error.what()));
    } catch (const UserError& error) {
      throw UserError(fmt::format("field '{}': {}", name, error.what()));
    }
  }
};

template <typename X, typename T>
concept Is = std::is_same_v<std::remove_const_t<X>, T>;

}  // namespace whet

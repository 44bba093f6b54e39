#include "store/rows.hpp"

#include <map>

#include "base/sha256.hpp"
#include "store/crc32.hpp"
#include "store/stored_json.hpp"

namespace whet {

std::string evaluation_text(const Evaluation& evaluation) {
  Json json = to_json(evaluation);
  json.erase("configuration");
  json.erase("blocks");
  return stored_text(json);
}

Evaluation evaluation_from_text(
    std::string_view text, const Configuration& configuration, const std::string& what
) {
  return decode_stored(text, what, [&](Json json) {
    json["configuration"] = configuration.values;
    json["blocks"] = Json::array();
    return evaluation_from_json(json);
  });
}

Configuration configuration_from_text(
    const std::string& knobs, const std::string& sha256, const std::string& what
) {
  if (sha256_hex(knobs) != sha256) {
    throw_damaged(what, "its SHA-256 is not the stored one");
  }
  return decode_stored(knobs, what, [](const Json& json) {
    try {
      return Configuration{.values = json.get<std::map<std::string, std::string>>()};
    } catch (const nlohmann::json::exception& error) {
      throw UserError(error.what());
    }
  });
}

const std::string& checked(const std::string& bytes, std::int64_t crc, const std::string& what) {
  if (std::int64_t{crc32(bytes)} != crc) {
    throw_damaged(what, "its CRC-32 is not the stored one");
  }
  return bytes;
}

Decision read_decision(
    const sqlite::Statement& statement, int first, const sqlite::Connection& connection
) {
  const std::string what =
      fmt::format("record store {}: decision {}", connection.name(), statement.integer(first));
  const std::string body = statement.bytes(first + 1);
  return decode_stored(checked(body, statement.integer(first + 2), what), what, decision_from_json);
}

std::string artifact_digest(const std::string& plan, const std::string& code) {
  Sha256 sha256;
  sha256.update(plan);
  sha256.update(std::string_view("\0", 1));
  sha256.update(code);
  return sha256.hex_digest();
}

}  // namespace whet

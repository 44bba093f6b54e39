#include "base/json.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "base/error.hpp"
#include "base/files.hpp"

namespace whet {
namespace {

JsonCursor parse(std::string_view text) { return JsonCursor::parse_text(text, "f.json"); }

/// The message with which `action` refuses.
template <typename Action>
std::string refusal(Action action) {
  try {
    action();
  } catch (const UserError& error) {
    return error.what();
  }
  return "no error";
}

std::string refusal_of_text(std::string_view text) {
  return refusal([&] { parse(text); });
}

TEST(Json, ReadsEveryKindOfValue) {
  const JsonCursor root =
      parse(R"({"s": "t", "i": -3, "u": 18446744073709551615, "d": 1.5, "b": true, "a": [1, 2]})");
  EXPECT_EQ(root.at("s").as_string(), "t");
  EXPECT_EQ(root.at("i").as_integer(), -3);
  EXPECT_EQ(root.at("u").as_number(), 18446744073709551615.0);
  EXPECT_EQ(root.at("d").as_number(), 1.5);
  EXPECT_EQ(root.at("i").as_number(), -3.0);
  EXPECT_TRUE(root.at("b").as_bool());
  ASSERT_EQ(root.at("a").items().size(), 2u);
  EXPECT_EQ(root.at("a").items()[1].as_integer(), 2);
  EXPECT_EQ(root.find("absent"), std::nullopt);
}

TEST(Json, KeepsTheOrderOfMembers) {
  std::string keys;
  for (const auto& [key, member] : parse(R"({"z": 1, "a": 2, "m": 3})").members()) {
    keys += key + std::to_string(member.as_integer());
  }
  EXPECT_EQ(keys, "z1a2m3");
}

TEST(Json, CursorsOutliveTheRoot) {
  const JsonCursor leaf = parse(R"({"a": {"b": ["deep"]}})").at("a").at("b").items()[0];
  EXPECT_EQ(leaf.as_string(), "deep");
  EXPECT_EQ(leaf.where(), "f.json: $.a.b[0]");
}

TEST(Json, QuotesKeysThatAreNoIdentifiersInPaths) {
  EXPECT_EQ(parse(R"({"grad:w1": 1})").at("grad:w1").where(), R"(f.json: $["grad:w1"])");
}

TEST(JsonParsing, RefusesDuplicateKeysWithTheirPath) {
  EXPECT_EQ(
      refusal_of_text(R"({"a": [1, {"b": 1, "c": 2, "b": 3}]})"),
      "f.json: $.a[1].b: expected each key once, found it a second time"
  );
  EXPECT_EQ(
      refusal_of_text(R"({"a": {}, "\u0061": 1})"),
      "f.json: $.a: expected each key once, found it a second time"
  );
}

TEST(JsonParsing, AllowsEqualKeysInDifferentObjects) {
  EXPECT_EQ(parse(R"({"a": {"a": [{"a": 1}, {"a": 2}]}})").where(), "f.json: $");
}

TEST(JsonParsing, NestsToTheLimitAndNoDeeper) {
  const auto nested = [](std::size_t depth) {
    return std::string(depth, '[') + std::string(depth, ']');
  };
  EXPECT_EQ(refusal_of_text(nested(64)), "no error");
  EXPECT_NE(
      refusal_of_text(nested(65)).find("[0]: expected at most 64 levels of nesting"),
      std::string::npos
  );
  EXPECT_NE(
      refusal_of_text(std::string(1'000'000, '[')).find("expected at most 64 levels of nesting"),
      std::string::npos
  );
}

TEST(JsonParsing, RefusesNumbersThatDoNotFit) {
  EXPECT_EQ(
      refusal_of_text("{\"a\": [0,\n 1e400]}"),
      "f.json: $.a[1]: expected a number that a double holds, found 1e400 (line 2, column 6)"
  );
  EXPECT_EQ(
      refusal_of_text(R"({"n": 18446744073709551616})"),
      "f.json: $.n: expected an integer of at most 64 bits, found 18446744073709551616"
  );
  EXPECT_EQ(
      refusal_of_text("-9223372036854775809"),
      "f.json: $: expected an integer of at most 64 bits, found -9223372036854775809"
  );
  EXPECT_EQ(parse("-9223372036854775808").as_integer(), INT64_MIN);
}

TEST(JsonParsing, NamesLineColumnAndReasonOfSyntaxErrors) {
  EXPECT_EQ(
      refusal_of_text("{\n  \"a\": }"),
      "f.json: line 2, column 8: syntax error while parsing value - unexpected '}'; expected '[', "
      "'{', or a literal"
  );
  EXPECT_EQ(
      refusal_of_text("[1, 2]\n\n  x"),
      "f.json: line 3, column 3: syntax error while parsing value - invalid literal; last read: "
      "'2]<U+000A><U+000A>  x'; expected end of input"
  );
  EXPECT_EQ(
      refusal_of_text(""),
      "f.json: line 1, column 1: syntax error while parsing value - unexpected end of input; "
      "expected '[', '{', or a literal"
  );
}

TEST(JsonParsing, RefusesWhatIsNotJson) {
  for (const char* text :
       {"{'a': 1}",
        "[1,]",
        "// c\n1",
        "NaN",
        "Infinity",
        "01",
        "\"\xff\"",
        "\"\t\"",
        "{\"a\" 1}",
        "[\"\\ud800\"]",
        "[1] [2]",
        "\"unterminated"}) {
    EXPECT_NE(refusal_of_text(text).find("f.json: line 1, column "), std::string::npos)
        << text << ": " << refusal_of_text(text);
  }
}

TEST(JsonParsing, RefusesDocumentsAboveTheSizeLimit) {
  const std::string spaces(JsonCursor::kMaxBytes + 1, ' ');
  EXPECT_EQ(refusal_of_text(spaces), "f.json: expected at most 67108864 bytes, found 67108865");
  EXPECT_EQ(
      refusal([] { JsonCursor::parse_file("/dev/zero"); }),
      "cannot read /dev/zero: larger than 67108864 bytes"
  );
}

TEST(JsonParsing, CopesWithManyMembers) {
  std::string text = "{";
  for (int i = 0; i < 100'000; ++i) {
    text += (i == 0 ? "\"k" : ",\"k") + std::to_string(i) + "\":" + std::to_string(i);
  }
  EXPECT_EQ(parse(text + "}").members().size(), 100'000u);
}

TEST(JsonParsing, NamesTheFileThatCannotBeRead) {
  EXPECT_EQ(
      refusal([] { JsonCursor::parse_file("/absent.json"); }),
      "cannot read /absent.json: No such file or directory"
  );
}

TEST(JsonParsing, NamesTheFileInMessages) {
  const TemporaryFolder folder("whet-test-");
  const std::filesystem::path path = folder.path() / "w.json";
  write_file_atomically(path, "[1]");
  EXPECT_EQ(
      refusal([&] { JsonCursor::parse_file(path).at("x"); }),
      path.string() + ": $: expected an object with \"x\", found an array of 1"
  );
}

TEST(JsonAccess, NamesTheKeysThereAreWhenOneIsMissing) {
  EXPECT_EQ(
      refusal([] { parse(R"({"a": {"b": 1, "c": 2}})").at("a").at("d"); }),
      R"(f.json: $.a: expected a member "d", found only "b", "c")"
  );
  EXPECT_EQ(
      refusal([] { parse("{}").at("d"); }), R"(f.json: $: expected a member "d", found no members)"
  );
}

TEST(JsonAccess, RefusesUnknownKeysAndSuggestsTheNearest) {
  const JsonCursor root = parse(R"({"shape": 1, "dtpye": 2})");
  EXPECT_EQ(
      refusal([&] {
        root.allow_only({"name", "shape", "dtype"});
      }),
      R"(f.json: $: expected only the keys "name", "shape", "dtype", found "dtpye" )"
      R"((did you mean "dtype"?))"
  );
  EXPECT_EQ(
      refusal([&] {
        root.allow_only({"shape", "fill"});
      }),
      R"(f.json: $: expected only the keys "shape", "fill", found "dtpye")"
  );
  EXPECT_EQ(refusal([&] { root.allow_only({"dtpye", "shape"}); }), "no error");
}

TEST(JsonAccess, SaysWhatItFoundInsteadOfTheTypeExpected) {
  const JsonCursor root = parse(R"({"s": "text", "d": 2.0, "n": null, "o": {"a": 1}, "b": false})");
  EXPECT_EQ(
      refusal([&] { root.at("d").as_integer(); }),
      "f.json: $.d: expected a 64-bit signed integer, found 2.0"
  );
  EXPECT_EQ(
      refusal([&] { root.at("s").as_number(); }),
      R"(f.json: $.s: expected a number, found the string "text")"
  );
  EXPECT_EQ(
      refusal([&] { root.at("n").as_string(); }), "f.json: $.n: expected a string, found null"
  );
  EXPECT_EQ(
      refusal([&] { root.at("o").items(); }), "f.json: $.o: expected an array, found an object of 1"
  );
  EXPECT_EQ(
      refusal([&] { root.at("b").members(); }), "f.json: $.b: expected an object, found false"
  );
  EXPECT_EQ(
      refusal([&] { root.at("d").as_bool(); }), "f.json: $.d: expected true or false, found 2.0"
  );
}

TEST(JsonAccess, HoldsIntegersToTheirRange) {
  const JsonCursor root = parse(R"({"n": 7, "big": 9223372036854775808})");
  EXPECT_EQ(root.at("n").as_integer(7, 7), 7);
  EXPECT_EQ(
      refusal([&] { root.at("n").as_integer(1, 6); }),
      "f.json: $.n: expected an integer from 1 to 6, found 7"
  );
  EXPECT_EQ(
      refusal([&] { root.at("n").as_integer(8); }),
      "f.json: $.n: expected an integer of at least 8, found 7"
  );
  EXPECT_EQ(
      refusal([&] { root.at("big").as_integer(); }),
      "f.json: $.big: expected a 64-bit signed integer, found 9223372036854775808"
  );
}

TEST(JsonAccess, TakesSpecialNumbersOnlyWhereAllowed) {
  const JsonCursor root = parse(R"(["inf", "-inf", "nan", "infinity"])");
  EXPECT_EQ(root.items()[0].as_number(true), HUGE_VAL);
  EXPECT_EQ(root.items()[1].as_number(true), -HUGE_VAL);
  EXPECT_TRUE(std::isnan(root.items()[2].as_number(true)));
  EXPECT_EQ(
      refusal([&] { root.items()[0].as_number(); }),
      R"(f.json: $[0]: expected a number, found the string "inf")"
  );
  EXPECT_EQ(
      refusal([&] { root.items()[3].as_number(true); }),
      R"(f.json: $[3]: expected a number, "inf", "-inf" or "nan", found the string "infinity")"
  );
}

TEST(JsonAccess, ShortensLongStringsInMessages) {
  const JsonCursor root = parse("\"" + std::string(1000, 'x') + "\"");
  EXPECT_EQ(
      refusal([&] { root.as_bool(); }),
      "f.json: $: expected true or false, found the string \"" + std::string(60, 'x') + "...\""
  );
}

}  // namespace
}  // namespace whet

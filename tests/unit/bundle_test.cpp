#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "base/files.hpp"
#include "base/philox.hpp"
#include "harness/reference_bundle.hpp"
#include "harness/safetensors.hpp"

namespace whet {
namespace {

TensorDesc desc(DType dtype, std::vector<std::int64_t> shape) {
  TensorDesc tensor{.name = "t", .shape = std::move(shape), .strides = {}, .dtype = dtype};
  tensor.strides = contiguous_strides(tensor.shape);
  return tensor;
}

/// y = x + w, with w as state that stays: enough to have every kind of tensor.
Workload make_workload() {
  Workload workload;
  workload.name = "test";
  Program& step = workload.step;
  step.values = {desc(DType::BF16, {2, 3}), desc(DType::F32, {}), desc(DType::BF16, {2, 3})};
  step.inputs = {{.value = 0}};
  step.scalars = {1};
  step.state = {{.before = 2, .after = -1}};
  const ValueId sum = append_op(step, OpKind::Add, {0, 2}, {}, "sum");
  const ValueId loss = append_op(step, OpKind::Sum, {sum}, {}, "loss");
  step.state[0].after = sum;
  step.outputs = {loss};
  step.loss = loss;
  workload.input_fills = {{}};
  workload.scalar_values = {0.25};
  workload.state_fills = {{}};
  workload.output_names = {"loss"};
  workload.num_batches = 2;
  workload.validation.num_steps = 5;
  workload.validation.num_replay_steps = 3;
  return workload;
}

Trajectory make_trajectory(const Workload& workload, bool is_reference) {
  Trajectory trajectory;
  trajectory.losses = {1.0, 2.0, std::nan(""), -INFINITY, 5.0};
  for (const int step : snapshot_steps(workload)) {
    Snapshot snapshot{.step = step, .state = {}, .outputs = {}, .previous_state = {}};
    snapshot.state = {fill_tensor({}, workload.step.value(2), 1, static_cast<std::uint64_t>(step))};
    snapshot.outputs = {from_doubles(DType::BF16, {}, {1.0 * step})};
    if (is_reference && step > 1) {
      snapshot.previous_state = snapshot.state;
    }
    trajectory.snapshots.push_back(snapshot);
  }
  return trajectory;
}

ReferenceBundle make_bundle(const Workload& workload) {
  ReferenceBundle bundle;
  bundle.workload_key = workload_key(workload.step);
  bundle.data_key = data_key(workload);
  bundle.seed = 9007199254740993;  // not a double
  bundle.libtorch_version = "2.11.0";
  bundle.flags = "threads=1";
  for (const std::uint64_t batch : {0, 1}) {
    bundle.inputs.push_back({fill_tensor({}, workload.step.value(0), bundle.seed, batch)});
  }
  bundle.scalars = {from_doubles(DType::F32, {}, {0.25})};
  bundle.initial_state = {fill_tensor({}, workload.step.value(2), bundle.seed, state_stream(0))};
  bundle.reference = make_trajectory(workload, true);
  bundle.native = make_trajectory(workload, false);
  bundle.orders = {make_trajectory(workload, false), make_trajectory(workload, false)};
  bundle.unrounded_change = {0.5};
  return bundle;
}

class BundleFile : public testing::Test {
 protected:
  std::string error_of_reading(const Workload& workload) const {
    try {
      read_bundle(path_, workload);
    } catch (const EnvironmentError& error) {
      return error.what();
    }
    return "";
  }

  TemporaryFolder folder_{"whet-bundle-test-"};
  std::filesystem::path path_ = folder_.path() / "bundle.safetensors";
  Workload workload_ = make_workload();
  ReferenceBundle bundle_ = make_bundle(workload_);
};

TEST_F(BundleFile, ComesBackAsItWasWritten) {
  write_bundle(bundle_, path_);

  ReferenceBundle read = read_bundle(path_, workload_);

  // NaN is unequal to itself: compare the losses apart.
  const auto take_losses = [](ReferenceBundle& bundle) {
    std::vector<double> losses;
    for (Trajectory* trajectory :
         {&bundle.reference, &bundle.native, &bundle.orders[0], &bundle.orders[1]}) {
      losses.insert(losses.end(), trajectory->losses.begin(), trajectory->losses.end());
      trajectory->losses.clear();
    }
    return losses;
  };
  const std::vector<double> expected = take_losses(bundle_);
  const std::vector<double> got = take_losses(read);
  ASSERT_EQ(got.size(), expected.size());
  EXPECT_EQ(std::memcmp(got.data(), expected.data(), got.size() * sizeof(double)), 0);
  EXPECT_EQ(read, bundle_);
}

TEST_F(BundleFile, RefusesTheBundleOfAnotherProgram) {
  write_bundle(bundle_, path_);
  workload_.step.ops[0].kind = OpKind::Mul;

  EXPECT_NE(error_of_reading(workload_).find("workload_key"), std::string::npos);
}

TEST_F(BundleFile, RefusesTheBundleOfOtherData) {
  write_bundle(bundle_, path_);
  workload_.state_fills[0].scale = 0.5;

  EXPECT_NE(error_of_reading(workload_).find("data_key"), std::string::npos);
}

TEST_F(BundleFile, RefusesEveryTornFile) {
  write_bundle(bundle_, path_);
  const std::string bytes = read_file(path_);
  for (const std::size_t length :
       {std::size_t{0},
        std::size_t{7},
        std::size_t{8},
        std::size_t{100},
        bytes.size() / 2,
        bytes.size() - 1}) {
    write_file_atomically(path_, bytes.substr(0, length));

    EXPECT_NE(error_of_reading(workload_), "") << length << " of " << bytes.size() << " bytes";
  }
}

TEST_F(BundleFile, RefusesBytesBehindTheData) {
  write_bundle(bundle_, path_);
  write_file_atomically(path_, read_file(path_) + "x");

  EXPECT_NE(error_of_reading(workload_).find("bytes of data"), std::string::npos);
}

TEST_F(BundleFile, IsRefusedWhereThereIsNoRoom) {
  EXPECT_THROW(check_bundle_fits(kMaxBundleBytes + 1, path_), EnvironmentError);
  EXPECT_NO_THROW(check_bundle_fits(1, path_));
}

TEST_F(BundleFile, SizeIsKnownBeforeItIsComputed) {
  write_bundle(bundle_, path_);

  const auto in_file = static_cast<std::int64_t>(std::filesystem::file_size(path_));
  EXPECT_LT(bundle_bytes(workload_), in_file);
  EXPECT_GT(bundle_bytes(workload_), in_file / 100);
}

TEST_F(BundleFile, ComparesAtStepOneReplayAndEnd) {
  EXPECT_EQ(snapshot_steps(workload_), (std::vector<int>{1, 3, 5}));
  workload_.validation.num_steps = 1;
  EXPECT_EQ(snapshot_steps(workload_), std::vector<int>{1});
}

/// A file with this header and this many bytes of data.
std::string file_of(const std::string& header, std::size_t num_data) {
  std::string bytes(8, '\0');
  const std::uint64_t length = header.size();
  std::memcpy(bytes.data(), &length, sizeof length);
  return bytes + header + std::string(num_data, '\1');
}

TEST(Safetensors, ReadsAPlainFile) {
  const Safetensors content = decode_safetensors(
      file_of(
          R"({"__metadata__":{"k":"v"},"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}}  )", 8
      ),
      "f"
  );

  EXPECT_EQ(content.metadata.at("k"), "v");
  EXPECT_EQ(content.tensors.at("a").shape, std::vector<std::int64_t>{2});
  EXPECT_EQ(content.tensors.at("a").bytes, std::vector<std::uint8_t>(8, 1));
}

TEST(Safetensors, AlignsEachTensorToItsElements) {
  const HostTensor flag = from_doubles(DType::Bool, {3}, {1, 0, 1});
  const HostTensor number = from_doubles(DType::F64, {}, {2.5});

  const std::string bytes = encode_safetensors(
      {}, {{.name = "flag", .tensor = &flag}, {.name = "number", .tensor = &number}}
  );

  double stored = 0.0;
  std::memcpy(&stored, bytes.data() + bytes.size() - 3 - sizeof stored, sizeof stored);
  EXPECT_EQ(stored, 2.5);
  EXPECT_EQ((bytes.size() - 3) % 8, 0U);
  EXPECT_EQ(decode_safetensors(bytes, "f").tensors.at("flag"), flag);
}

TEST(Safetensors, RefusesEveryForeignHeader) {
  const std::string good = R"("a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]})";
  const std::vector<std::pair<std::string, std::size_t>> foreign{
      {"[]", 0},
      {"{", 0},
      {"\x89PNG", 0},
      {R"({"a":{"dtype":"F32","shape":[2]}})", 8},
      {R"({"a":{"dtype":"F4","shape":[2],"data_offsets":[0,8]}})", 8},
      {R"({"a":{"dtype":"F32","shape":[3],"data_offsets":[0,8]}})", 8},
      {R"({"a":{"dtype":"F32","shape":[-2],"data_offsets":[0,8]}})", 8},
      {R"({"a":{"dtype":"F32","shape":[2.5],"data_offsets":[0,8]}})", 8},
      {R"({"a":{"dtype":"F32","shape":[4611686018427387904,4],"data_offsets":[0,8]}})", 8},
      {R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[8,0]}})", 8},
      {R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[4,12]}})", 12},
      {R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8],"extra":1}})", 8},
      {"{" + good + "," + good + "}", 8},
      {"{" + good + R"(,"b":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})", 8},
      {"{" + good + R"(,"b":{"dtype":"F32","shape":[2],"data_offsets":[4,12]}})", 12},
      {"{" + good + "}", 9},
      {"{" + good + "}", 7},
      {R"({"__metadata__":{"k":1}})", 0},
  };
  for (const auto& [header, num_data] : foreign) {
    EXPECT_THROW(decode_safetensors(file_of(header, num_data), "f"), EnvironmentError) << header;
  }
}

TEST(Safetensors, RefusesAHeaderLongerThanTheFile) {
  EXPECT_THROW(decode_safetensors(std::string(8, '\xff') + "{}", "f"), EnvironmentError);
}

struct Moments {
  double mean = 0.0;
  double deviation = 0.0;
};

Moments moments_of(const HostTensor& tensor) {
  const std::vector<double> values = to_doubles(tensor);
  const auto count = static_cast<double>(values.size());
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) / count;
  double squares = 0.0;
  for (const double value : values) {
    squares += (value - mean) * (value - mean);
  }
  return {.mean = mean, .deviation = std::sqrt(squares / count)};
}

Fill fill_of(Fill::Kind kind, double scale = 1.0, std::int64_t low = 0, std::int64_t high = 1) {
  return {.kind = kind, .scale = scale, .low = low, .high = high};
}

// 100000 draws: four standard errors of a mean are 0.0127 deviations.
constexpr std::int64_t kMany = 100'000;
constexpr double kFourErrors = 0.0127;

TEST(Fill, NormalHasItsMoments) {
  const Moments moments =
      moments_of(fill_tensor(fill_of(Fill::Kind::Normal, 0.5), desc(DType::F32, {kMany}), 101, 3));

  EXPECT_NEAR(moments.mean, 0.0, 0.5 * kFourErrors);
  EXPECT_NEAR(moments.deviation, 0.5, 0.5 * kFourErrors);
}

TEST(Fill, UniformHasItsMomentsAndBounds) {
  const HostTensor tensor =
      fill_tensor(fill_of(Fill::Kind::Uniform, 2.0), desc(DType::F64, {kMany}), 101, 4);

  for (const double value : to_doubles(tensor)) {
    ASSERT_LT(std::abs(value), 2.0);
  }
  const Moments moments = moments_of(tensor);
  const double deviation = 2.0 / std::sqrt(3.0);
  EXPECT_NEAR(moments.mean, 0.0, deviation * kFourErrors);
  EXPECT_NEAR(moments.deviation, deviation, deviation * kFourErrors);
}

TEST(Fill, ElementsAreTheStreamsDraws) {
  const Philox random(211, 7);

  const auto normal =
      to_doubles(fill_tensor(fill_of(Fill::Kind::Normal, 0.25), desc(DType::F64, {2, 3}), 211, 7));
  const auto uniform =
      to_doubles(fill_tensor(fill_of(Fill::Kind::Uniform, 3.0), desc(DType::F64, {6}), 211, 7));

  for (std::size_t i = 0; i < 6; ++i) {
    EXPECT_EQ(normal[i], 0.25 * random.normal(i));
    EXPECT_EQ(uniform[i], 3.0 * (2.0 * random.uniform(i) - 1.0));
  }
}

TEST(Fill, LayoutDoesNotCount) {
  TensorDesc transposed = desc(DType::F32, {4, 5});
  transposed.strides = {1, 4};

  EXPECT_EQ(fill_tensor({}, transposed, 1, 2), fill_tensor({}, desc(DType::F32, {4, 5}), 1, 2));
}

TEST(Fill, LowPrecisionIsTheF32DrawRounded) {
  const auto f32 = to_doubles(fill_tensor({}, desc(DType::F32, {1000}), 307, 0));

  for (const DType dtype : {DType::BF16, DType::F16}) {
    EXPECT_EQ(fill_tensor({}, desc(dtype, {1000}), 307, 0), from_doubles(dtype, {1000}, f32));
  }
}

TEST(Fill, IntegersReachBothEndsAndNoFurther) {
  std::vector<int> counts(5);
  for (const double value : to_doubles(
           fill_tensor(fill_of(Fill::Kind::Integers, 1.0, -2, 3), desc(DType::I64, {kMany}), 5, 0)
       )) {
    ASSERT_GE(value, -2.0);
    ASSERT_LE(value, 2.0);
    ++counts[static_cast<std::size_t>(value + 2.0)];
  }
  for (const int count : counts) {
    EXPECT_NEAR(count, kMany / 5, 600);  // four and a half standard errors
  }
}

TEST(Fill, OneHotHasOneOneARow) {
  const auto values =
      to_doubles(fill_tensor(fill_of(Fill::Kind::OneHot), desc(DType::BF16, {64, 10}), 5, 0));

  for (std::size_t row = 0; row < 64; ++row) {
    const auto begin = values.begin() + static_cast<std::ptrdiff_t>(row * 10);
    EXPECT_EQ(std::count(begin, begin + 10, 1.0), 1);
    EXPECT_EQ(std::count(begin, begin + 10, 0.0), 9);
  }
}

TEST(Fill, ZerosOnesAndEmptyTensors) {
  EXPECT_EQ(
      to_doubles(fill_tensor(fill_of(Fill::Kind::Ones), desc(DType::F16, {2}), 1, 0)),
      (std::vector<double>{1, 1})
  );
  EXPECT_EQ(
      to_doubles(fill_tensor(fill_of(Fill::Kind::Zeros), desc(DType::I32, {2}), 1, 0)),
      (std::vector<double>{0, 0})
  );
  for (const auto kind : {Fill::Kind::Normal, Fill::Kind::OneHot, Fill::Kind::Ones}) {
    EXPECT_TRUE(fill_tensor(fill_of(kind), desc(DType::F32, {3, 0}), 1, 0).bytes.empty());
  }
}

TEST(Fill, RefusesFractionsForIntegers) {
  EXPECT_THROW(fill_tensor({}, desc(DType::I64, {2}), 1, 0), UserError);
  EXPECT_THROW(
      fill_tensor(fill_of(Fill::Kind::Integers, 1.0, 3, 3), desc(DType::I64, {2}), 1, 0), UserError
  );
}

// The table of LibTorch's conversions: a double goes through f32.
TEST(HostTensor, RoundsADoubleAsLibTorchDoes) {
  const auto round = [](DType dtype, double value) {
    return to_doubles(from_doubles(dtype, {}, {value}))[0];
  };
  EXPECT_EQ(round(DType::BF16, 1.003906251), 1.0);
  EXPECT_EQ(round(DType::BF16, static_cast<double>(0.26914088F)), 0.26953125);
  EXPECT_EQ(round(DType::BF16, 16842753.0), 16777216.0);
  EXPECT_EQ(round(DType::BF16, 3.4e38), INFINITY);
  EXPECT_EQ(round(DType::F16, 65519.0), 65504.0);
  EXPECT_EQ(round(DType::F16, 65520.0), INFINITY);
}

TEST(HostTensor, RefusesSizesThatOverflow) {
  EXPECT_THROW(dense_bytes(DType::F32, {INT64_MAX, 2}), UserError);
  EXPECT_EQ(dense_bytes(DType::F32, {INT64_MAX, 2, 0}), 0);
  EXPECT_EQ(dense_bytes(DType::BF16, {3, 4}), 24);
}

}  // namespace
}  // namespace whet

#include "harness/messages.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace whet {
namespace {

/// A message after its way through a pipe.
template <typename T>
T through_a_frame(const T& value) {
  const std::string bytes = encode_frame(encode(value));
  return decode<T>(std::get<Message>(decode_payload(bytes.substr(4))));
}

CompileResponse compiled() {
  CompileResponse response;
  response.artifact = "/cache/a b.so";
  response.plan.blocks = 7;
  response.plan.arguments = {
      {.role = KernelArgument::Role::State, .index = 2, .extent_elements = 9}};
  response.source_sha256 = "abc";
  response.resources.registers = 128;
  response.paths = {
      {.task = "mm1", .ops = "mm", .engine = "mma", .path = "direct", .slower = {"K"}}};
  response.compile_s = 1.25;
  response.cache_hit = true;
  return response;
}

TEST(Messages, KeepACompileRequest) {
  CompileRequest request;
  request.workload = {.text = "{}", .name = "w.json", .dims = {{"batch", 4}}};
  request.limits.target = Target::CudaEmulated;
  request.limits.arch = "sm_80";
  request.configuration.values = {{"blocks", "8"}, {"mm1.fwd/tile_m", "32"}};
  request.options.cache_folder = "/tmp/cache";
  request.options.timeout = std::chrono::milliseconds(1234);
  request.options.emulation_checks = AccessChecks::OfHelpers;
  request.profile = true;
  const CompileRequest got = through_a_frame(request);
  EXPECT_EQ(got.workload, request.workload);
  EXPECT_EQ(got.limits, request.limits);
  EXPECT_EQ(got.configuration, request.configuration);
  EXPECT_EQ(got.options.cache_folder, request.options.cache_folder);
  EXPECT_EQ(got.options.timeout, request.options.timeout);
  EXPECT_EQ(got.options.emulation_checks, request.options.emulation_checks);
  EXPECT_EQ(got.profile, request.profile);
}

TEST(Messages, KeepACompileResponse) { EXPECT_EQ(through_a_frame(compiled()), compiled()); }

TEST(Messages, KeepTheWorkersRequests) {
  const OpenRequest open{
      .target = Target::Cuda,
      .device = "GPU-1",
      .num_threads = 3,
      .workload = {.text = "x", .name = "y", .dims = {}},
      .tolerances = "t.json"};
  EXPECT_EQ(through_a_frame(open), open);
  EXPECT_EQ(through_a_frame(DescribeRequest{}), DescribeRequest{});
  const LoadRequest load{.id = 5, .artifact = "a.so", .plan = compiled().plan};
  EXPECT_EQ(through_a_frame(load), load);
  const ValidateRequest validate{.id = 5, .bundles = {"b1", "b2"}};
  EXPECT_EQ(through_a_frame(validate), validate);
  MeasureRequest measure{.order = {5, 6, 6, 5}, .bundle = "b1", .num_steps = 12, .plan = {}};
  measure.plan.steady.window = 9;
  EXPECT_EQ(through_a_frame(measure), measure);
  EXPECT_EQ(through_a_frame(UnloadRequest{.id = 6}), UnloadRequest{.id = 6});
  const TimelineRequest timeline{.id = 5, .bundle = "b1", .num_steps = 12, .num_launches = 3};
  EXPECT_EQ(through_a_frame(timeline), timeline);
}

TEST(Messages, KeepTheWorkersAnswers) {
  const Outcome outcome{.status = Status::BarrierHang, .detail = "at 3", .must_restart = true};
  EXPECT_EQ(through_a_frame(outcome), outcome);
  const DescribeResponse description{.device = "EPYC", .loaded = {1, 2}};
  EXPECT_EQ(through_a_frame(description), description);
  ValidateResponse validated{.outcome = outcome, .deterministic = true, .worst = {}};
  EXPECT_EQ(through_a_frame(validated), validated);
  validated.worst = TensorError{
      .tensor = "w1", .when = "step 1", .error = 0.5, .limit = 0.1, .seed = 18446744073709551615u};
  EXPECT_EQ(through_a_frame(validated), validated);
  const MeasureResponse measured{
      .outcome = {},
      .fault_id = -1,
      .blocks = {
          {.id = 5,
           .num_steps = 20,
           .num_dropped = 1,
           .steady = false,
           .samples = {{.time_ns = 12.5, .clock_mhz = 1980, .throttled = true}}}}};
  EXPECT_EQ(through_a_frame(measured), measured);
  const TimelineResponse timelined{
      .outcome = outcome,
      .timeline = {
          .phases = {{.tasks = {"mm1.fwd"}, .edge = "launch", .has_teams = true}},
          .blocks = {{.processor = 3, .enter_ns = 1.5, .phases = {{1.0, 2.0, 3.0, 4.0}}}},
          .num_launches = 15,
          .alignment = "one clock",
          .step_time_ns = 9000.5,
          .has_time = false}};
  EXPECT_EQ(through_a_frame(timelined), timelined);
}

TEST(Messages, KeepErrorsThatAreNoNumbers) {
  ValidateResponse response;
  response.worst.emplace();
  response.worst->error = std::numeric_limits<double>::infinity();
  EXPECT_EQ(through_a_frame(response), response);
  response.worst->error = std::numeric_limits<double>::quiet_NaN();
  EXPECT_TRUE(std::isnan(through_a_frame(response).worst->error));
}

TEST(Messages, NameTheFieldThatIsMissing) {
  Message message = encode(Outcome{});
  message.body.erase("detail");
  try {
    decode<Outcome>(message);
    FAIL();
  } catch (const EnvironmentError& error) {
    EXPECT_STREQ(error.what(), "message 'outcome': field 'detail' is missing");
  }
}

TEST(Messages, NameTheFieldThatIsWrong) {
  Message message = encode(Outcome{});
  message.body["status"] = "Fine";
  try {
    decode<Outcome>(message);
    FAIL();
  } catch (const EnvironmentError& error) {
    EXPECT_STREQ(
        error.what(), "message 'outcome': field 'status': expected a status, found \"Fine\""
    );
  }
}

TEST(Messages, NameBothKindsWhenTheyDiffer) {
  try {
    decode<DescribeResponse>(encode(Outcome{}));
    FAIL();
  } catch (const EnvironmentError& error) {
    EXPECT_STREQ(error.what(), "expected a 'described' message, found 'outcome'");
  }
}

TEST(Messages, RaiseTheErrorThatAChildReports) {
  EXPECT_THROW(raise({.exit_code = 2, .text = "file"}), UserError);
  EXPECT_THROW(raise({.exit_code = 3, .text = "no compiler"}), EnvironmentError);
  EXPECT_THROW(raise({.exit_code = 70, .text = "bug"}), InternalError);
}

}  // namespace
}  // namespace whet

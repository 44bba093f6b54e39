// Kernels that compute something else, each caught by the validation against LibTorch's bundle on
// the CPU target, which passes the kernel they were made of. Most are made by changing expressions
// of a Schedule, which find_hazards rightly lets pass: it proves order, not arithmetic.
#include <gtest/gtest.h>

#include <string>

#include "emulated/validated_kernel.hpp"
#include "support/text_edit.hpp"

namespace whet {
namespace {

using Index = std::size_t;

class ArithmeticMutation : public ValidatedKernel {};

constexpr const char* kBlock = "partition=block";

TEST_F(ArithmeticMutation, UpdateOfNothingIsCaughtByValidation) {
  expect_caught(kBlock, scaled_update(0.0), "step 1");
}

TEST_F(ArithmeticMutation, UpdateOfAllButOneStateIsCaughtByValidation) {
  for (const std::string name : {"w1", "b1", "w2", "b2"}) {
    expect_caught(kBlock, scaled_update(0.0, name), name + " at step 1");
  }
}

TEST_F(ArithmeticMutation, UpdateWithHalfTheGradientIsCaughtByValidation) {
  for (const std::string name : {"", "w1", "b1", "w2", "b2"}) {
    expect_caught(kBlock, scaled_update(0.5, name), name + " at step 1");
  }
}

TEST_F(ArithmeticMutation, HalfTheGradientInF32IsCaughtByValidation) {
  use("mlp_f32.json", {{"batch", 9}, {"in", 33}, {"hidden", 21}, {"out", 7}});
  expect_caught(kBlock, scaled_update(0.5), "step 1");
}

TEST_F(ArithmeticMutation, UnwrittenOutputIsCaughtByValidation) {
  expect_caught(
      kBlock,
      [this](Schedule& schedule) {
        return testing::change_tasks(schedule, [&](Task& task) {
          return std::erase_if(task.stores, [&](const Store& store) {
                   return testing::is_output(program(), schedule, store.access);
                 }) > 0;
        });
      },
      "loss"
  );
}

// One sample of the batch less, in a weight's gradient and in a bias's.
TEST_F(ArithmeticMutation, OmittedSampleIsCaughtByValidation) {
  expect_caught(
      kBlock,
      of_updates(
          program(),
          [](Task& task, const Store&, ExprNode&) { return task.gemm && --task.gemm->k > 0; }
      ),
      "step 1"
  );
  expect_caught(
      kBlock,
      of_updates(
          program(),
          [](Task& task, const Store&, ExprNode&) {
            return task.reduce && --task.domain.back() > 0;
          }
      ),
      "step 1"
  );
}

/// y = (x W) W^T: the gradient of W is the sum of two terms.
constexpr const char* kTied = R"({
  "schema": "whet.workload/1", "name": "tied",
  "inputs": [{"name": "x", "shape": [12, 24], "dtype": "f32", "fill": {"kind": "normal"}}],
  "scalars": [{"name": "lr", "dtype": "f32", "value": 0.01}],
  "state": [{"name": "w", "shape": [24, 40], "dtype": "f32",
             "fill": {"kind": "normal", "scale": 0.2}}],
  "forward": [
    {"op": "mm", "in": ["x", "w"], "out": "up"},
    {"op": "transpose", "in": ["w"], "dims": [0, 1], "out": "turned"},
    {"op": "mm", "in": ["up", "turned"], "out": "y"},
    {"op": "mse_loss", "in": ["y", "x"], "out": "loss"}],
  "loss": "loss", "optimizer": {"kind": "sgd", "lr": "lr"}, "outputs": ["loss"]
})";

TEST_F(ArithmeticMutation, OmittedGradientTermIsCaughtByValidation) {
  use_text(kTied);
  for (const Index omitted : {0, 1}) {
    expect_caught(
        kBlock,
        [omitted](Schedule& schedule) {
          return testing::change_tasks(schedule, [&](Task& task) {
            bool changed = false;
            for (ExprNode& node : task.nodes) {
              if (node.kind == ExprNode::Kind::Apply && node.op == OpKind::Add) {
                node.operands[omitted] = node.operands[1 - omitted];
                node.attributes.alpha = 0.0;
                changed = true;
              }
            }
            return changed;
          });
        },
        "w at step 1"
    );
  }
}

// The derivative of relu taken for 1.
TEST_F(ArithmeticMutation, OmittedMaskOfTheActivationIsCaughtByValidation) {
  expect_caught(
      kBlock,
      [](Schedule& schedule) {
        return testing::change_tasks(schedule, [](Task& task) {
          bool changed = false;
          for (ExprNode& node : task.nodes) {
            if (node.op == OpKind::ThresholdBackward) {
              node.attributes.other = -1.0;  // no activation is below
              changed = true;
            }
          }
          return changed;
        });
      },
      "w1 at step 1"
  );
}

TEST_F(ArithmeticMutation, DroppedRoundingOfAWeightGradientIsCaughtByValidation) {
  for (const std::string name : {"w1", "w2"}) {
    const Program& step = program();
    expect_caught(
        kBlock,
        of_updates(
            step,
            [&step, &name](Task& task, const Store& store, ExprNode&) {
              bool changed = false;
              for (ExprNode& node : task.nodes) {
                if (step.value(store.value).name == "after:" + name &&
                    node.kind == ExprNode::Kind::Apply && node.dtype == DType::BF16) {
                  node.dtype = DType::F32;
                  changed = true;
                }
              }
              return changed;
            }
        ),
        name + " at step 1"
    );
  }
}

/// Keeps what ThresholdBackward gives, dH, in f32 up to the products and sums that read it.
bool keep_hidden_gradient_wide(Schedule& schedule) {
  int wide = -1;
  testing::change_tasks(schedule, [&wide](Task& task) {
    for (const Store& store : task.stores) {
      ExprNode& node = task.nodes[Index(store.node)];
      if (node.op == OpKind::ThresholdBackward) {
        wide = store.access.buffer;
        node.dtype = DType::F32;
        task.nodes[Index(node.operands[0])].dtype = DType::F32;
      }
    }
    return true;
  });
  if (wide < 0) {
    return false;
  }
  Buffer& buffer = schedule.buffers[Index(wide)];
  buffer.dtype = DType::F32;
  std::int64_t& arena =
      buffer.storage == Storage::Shared ? schedule.shared_arena_bytes : schedule.arena_bytes;
  buffer.offset_bytes = arena;
  arena += buffer.num_elements * dtype_bytes(DType::F32);
  return testing::change_tasks(schedule, [wide](Task& task) {
    bool reads = false;
    for (ExprNode& node : task.nodes) {
      if (node.kind == ExprNode::Kind::Load && node.access.buffer == wide) {
        node.dtype = DType::F32;
        reads = true;
      }
    }
    if (task.gemm) {
      for (GemmOperand* operand : {&task.gemm->a, &task.gemm->b}) {
        if (operand->access.buffer == wide) {
          operand->stored = DType::F32;
          task.gemm->dtype = DType::F32;
          reads = true;
        }
      }
    }
    return reads;
  });
}

TEST_F(ArithmeticMutation, DroppedRoundingOfTheHiddenGradientIsCaughtByValidation) {
  expect_caught(kBlock, keep_hidden_gradient_wide, "w1 at step 1");
}

// Which of the resident batches a step reads follows from the step's number.
TEST_F(ArithmeticMutation, WrongStepParityIsCaughtByValidation) {
  const auto batch = [](const std::string& instead) {
    return [instead](const std::string& text) {
      return testing::edited(
          text, "_step(args, step, batch)", "_step(args, step, " + instead + ")"
      );
    };
  };
  const std::string of_four = "partition=block steps_per_launch=4";
  expect_edit_caught(kBlock, batch("args.first_batch ^ 1u"), "loss at step 1");
  expect_edit_caught(kBlock, batch("args.first_batch & 1u"), "w1 at replay");
  expect_edit_caught(of_four, batch("args.first_batch"), "w1 at replay");
  expect_edit_caught(
      of_four,
      batch("(args.first_batch + (static_cast<u32>(step) ^ 1u)) % args.ring_length"),
      "loss of step 1"
  );
}

// Ragged: what lies behind the tail is a neighbour's, or the guard of the tensor.
TEST_F(ArithmeticMutation, SkippedTailMaskIsCaughtByValidation) {
  use("mlp_f32.json", {{"batch", 9}, {"in", 33}, {"hidden", 21}, {"out", 7}});
  const std::string configuration = "partition=block tile_m=16 tile_n=16";
  expect_edit_caught(
      configuration,
      [](const std::string& text) {
        return testing::edited(
            text, "const i64 rows = least(16, 33 - m0);", "const i64 rows = 16;"
        );
      },
      "the kernel wrote past the end of state 'w1'"
  );
  expect_edit_caught(
      configuration,
      [](const std::string& text) {
        return testing::edited(
            text, "const i64 columns = least(16, 21 - n0);", "const i64 columns = 16;"
        );
      },
      "the kernel wrote past the end of state 'w1'"
  );
}

}  // namespace
}  // namespace whet

// Stamps of a profile build: when the first thread of a block gets where. StampPlan says where they
// lie; the clocks are the target's. They cost that thread a read of the clock and a store each.

enum class Stamp { kBegin, kWait, kReady, kEnd };

class Stamps {
 public:
  /// `is_first` of one thread a block.
  WHET_MEMBER Stamps(char* first_word, i64 block, int num_phases, bool is_first)
      : words_(reinterpret_cast<u64*>(first_word) + block * (3 + 4 * num_phases)),
        is_first_(is_first) {}

  /// The block turns to a step. Written before the launch before has ended, where the two overlap:
  /// it wrote its own before it let this one start, and lets it be.
  WHET_MEMBER void enter() const {
    if (is_first_) {
      words_[0] = wall_ns();
      words_[1] = clock_ticks();
      words_[2] = processor_index();
    }
  }
  WHET_MEMBER void at(int phase, Stamp stamp) const {
    if (is_first_) words_[3 + 4 * phase + static_cast<int>(stamp)] = clock_ticks();
  }

 private:
  u64* words_;
  bool is_first_;
};

/// An edge that tiles wait for themselves, with stamps around a thread's first wait.
template <class Edge>
class StampedEdge {
 public:
  WHET_MEMBER StampedEdge(Edge& edge, const Stamps& stamps, int phase)
      : edge_(edge), stamps_(stamps), phase_(phase) {}

  WHET_MEMBER bool wait() {
    if (!waits_) return edge_.wait();
    waits_ = false;
    stamps_.at(phase_, Stamp::kWait);
    const bool goes_on = edge_.wait();
    stamps_.at(phase_, Stamp::kReady);
    return goes_on;
  }

 private:
  Edge& edge_;
  const Stamps& stamps_;
  int phase_;
  bool waits_ = true;
};

// What orders a phase behind the one before it.

/// Waits for all threads of the grid; what they wrote before is visible after. Returns false, to
/// all threads of the block, when the kernel is to end: see wait_for_grid.
WHET_DEVICE bool grid_barrier(u32* control, u32 num_blocks, u32 place, u32 spin_limit) {
  return wait_for_grid(control, arrive_at_grid(control, num_blocks), place, spin_limit);
}

/// The same for the threads of a cluster, which all come.
WHET_DEVICE void cluster_barrier() {
  arrive_at_cluster();
  wait_for_cluster();
}

/// All that a tile reads is there.
struct NoEdge {
  WHET_MEMBER static bool wait() { return true; }
};

/// In front of a launch's first phase, which may read early what is stable.
class LaunchEdge {
 public:
  WHET_MEMBER bool wait() {
    if (waits_) {
      waits_ = false;
      wait_for_previous_launch();
    }
    return true;
  }

 private:
  bool waits_ = true;
};

/// The same barrier around what a tile reads early: what the phase before does not write. Whoever
/// needs the rest waits; each wait but a thread's first returns what the first one did. All threads
/// of a block wait at least once, wherever their teams are.
class GridEdge {
 public:
  WHET_MEMBER GridEdge(u32* control, u32 num_blocks, u32 place, u32 spin_limit)
      : control_(control),
        arrival_(arrive_at_grid(control, num_blocks)),
        place_(place),
        spin_limit_(spin_limit) {}

  WHET_MEMBER bool wait() {
    if (waits_) {
      waits_ = false;
      goes_on_ = wait_for_grid(control_, arrival_, place_, spin_limit_);
    }
    return goes_on_;
  }

 private:
  u32* control_;
  GridArrival arrival_;
  u32 place_;
  u32 spin_limit_;
  bool waits_ = true;
  bool goes_on_ = true;
};

/// A GridEdge whose blocks are one cluster.
class ClusterEdge {
 public:
  WHET_MEMBER ClusterEdge() { arrive_at_cluster(); }

  WHET_MEMBER bool wait() {
    if (waits_) {
      waits_ = false;
      wait_for_cluster();
    }
    return true;
  }

 private:
  bool waits_ = true;
};

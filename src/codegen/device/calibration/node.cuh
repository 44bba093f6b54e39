// A load and a store a thread: what the next kernel of a graph may wait for.
WHET_DEVICE u32 repeat(const StepArguments& args, u32) {
  return static_cast<const u32*>(args.tensors[0])[block_index() * kThreads + thread_index()];
}

// What probes are given. Word i of the buffer holds the place of the word to read after it.
struct StepArguments {
  void* tensors[2];  ///< the buffer of kBufferBytes, and a word for each thread's result
  void* workspace;
  u32 ring_length;  ///< repetitions
  u32 first_batch;
  u32 spin_limit;
  u32 refresh;
};

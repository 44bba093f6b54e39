// What a launch does before its first phase.

/// Has the launch's arguments at hand from here on: the first touch of each line of constants takes
/// as long as one of memory.
template <class Buffers>
WHET_DEVICE void need(const Buffers& b) {
  const auto* const words = reinterpret_cast<const u64*>(&b);
#pragma unroll
  for (int i = 0; i < static_cast<int>(sizeof(Buffers) / 8); ++i) need_word(words[i]);
}

/// Fetches global memory into the L1 of a block of kSize threads, a sector a thread at a time.
/// Called for one range after the other with what it returned: `sector` is the thread's next.
template <int kSize>
WHET_DEVICE int warm(int sector, const void* from, int bytes) {
  const int num_sectors = (bytes + 31) / 32;
#pragma unroll 1
  for (; sector < num_sectors; sector += kSize) {
    ask_for<kSize>(static_cast<const char*>(from) + sector * 32);
  }
  return sector - num_sectors;
}

/// Copies kBytes, 16 of them at once, by a block of kSize threads. Both sides are aligned to 16.
template <int kSize, int kBytes>
WHET_DEVICE void copy_bytes(void* to, const void* from) {
  constexpr int kWords = kBytes / 16;
  // All of a thread's loads are under way before its first store.
  constexpr int kBatch = 8;
#pragma unroll 1
  for (int first = thread_index(); first < kWords; first += kBatch * kSize) {
    u32x4 words[kBatch];
#pragma unroll
    for (int i = 0; i < kBatch; ++i) {
      const int word = first + i * kSize;
      if (word < kWords) words[i] = static_cast<const u32x4*>(from)[word];
    }
#pragma unroll
    for (int i = 0; i < kBatch; ++i) {
      const int word = first + i * kSize;
      if (word < kWords) static_cast<u32x4*>(to)[word] = words[i];
    }
  }
  const int rest = kWords * 16 + thread_index();
  if (kBytes % 16 != 0 && rest < kBytes) {
    static_cast<char*>(to)[rest] = static_cast<const char*>(from)[rest];
  }
}

/// Asks for kRows rows of kRowBytes, which follow each other from `global` on, to be copied to rows
/// kPitchBytes apart, by a block of kSize threads. Both sides and the pitch are aligned to 16.
template <int kSize, int kRows, int kRowBytes, int kPitchBytes>
WHET_DEVICE void copy_rows(char* shared, const char* global) {
  constexpr int kWords = kRowBytes / 16;
  static_assert(kRowBytes % 4 == 0 && (kRows == 1 || kRowBytes % 16 == 0));
#pragma unroll 1
  for (int word = thread_index(); word < kRows * kWords; word += kSize) {
    cp_async_16(shared + word / kWords * kPitchBytes + word % kWords * 16, global + word * 16, true);
  }
  const int rest = kWords * 16 + thread_index() * 4;
  if (kRowBytes % 16 != 0 && rest < kRowBytes) cp_async_4(shared + rest, global + rest, true);
}

/// Makes the copy `shadow` of dense `state` again, by a grid of kBlocks blocks of kSize threads.
template <int kBlocks, int kSize, class To>
WHET_DEVICE void refresh(To* shadow, const float* state, i64 num_elements) {
#pragma unroll 1
  for (i64 i = i64{block_index()} * kSize + thread_index(); i < num_elements;
       i += i64{kBlocks} * kSize) {
    shadow[i] = from_f32<To>(state[i]);
  }
}

// A kernel that calls every device helper, behind types.hpp and cuda.cuh or their twin. One block
// of 64 threads; its results depend on no order. `out` holds 64 words for each letter below.
struct StepArguments {
  void* tensors[3];  ///< bf16 in[1024], f32 values[64], u32 out[16 * 64]
  void* workspace;
  u32 ring_length, first_batch, spin_limit, reserved;
};

template <class T>
WHET_DEVICE void multiply(const char* rows, u32* out) {
  u32 a[4];
  u32 b[2];
  ldmatrix_x4(a, rows + 16 * lane_index());
  ldmatrix_x2(b, rows + 16 * lane_index());
  float c[4] = {1.0f, 2.0f, 3.0f, 4.0f};
  mma_m16n8k16(c, a, b, T{});
  for (int i = 0; i < 4; ++i) {
    out[64 * i + thread_index()] = bits_of(c[i]);
  }
}

extern "C" __global__ void __launch_bounds__(64, 1)
    whet_step(const __grid_constant__ StepArguments arguments) {
  u32* control = static_cast<u32*>(arguments.workspace);
  const bf16* in = static_cast<const bf16*>(arguments.tensors[0]);
  const float* values = static_cast<const float*>(arguments.tensors[1]);
  u32* out = static_cast<u32*>(arguments.tensors[2]);
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
  LaunchEdge start;
  start.wait();
#endif
  need(arguments);
  warm<64>(warm<64>(thread_index(), in, 512), values, 100);
  const int thread = block_index() * 64 + thread_index();
  char* shared = shared_memory();
  cp_async_16(shared + 16 * thread, in + 8 * thread, true);
  cp_async_4(shared + 1024 + 4 * thread, values + thread, thread != 5);
  cp_async_commit();
  cp_async_wait<0>();
  block_barrier();

  const float value = reinterpret_cast<const float*>(shared + 1024)[thread];
  u32* a = out;
  a[thread] = bits_of(warp_sum(value)) + bits_of(shuffle_xor(value, 3));
  u32* b = out + 64;
  b[thread] = pack2<bf16>(value, -value) ^ pack2<f16>(value, 0.5f * value);
  u32* c = out + 128;
  c[thread] = bits_of(round_bf16(value) + round_f16(value)) + bits_of(fma(value, value, 1.0f));
  u32* d = out + 192;
  d[thread] = bits_of(relu(value) + threshold_backward(value, value, 0.25f)) +
              bits_of(power(value, 3.0f) + power(value, -2.0f) + power(value * value, -0.5f)) +
              bits_of(to_f32(from_f32<f16>(value)) + to_f32(from_f32<float>(value)));

  u32 four[4];
  u32 two[2];
  ldmatrix_x4_trans(four, shared + 16 * thread % 512);
  ldmatrix_x2_trans(two, shared + 16 * thread);
  u32* e = out + 256;
  e[thread] = four[0] + 3 * four[1] + 5 * four[2] + 7 * four[3];
  u32* f = out + 320;
  f[thread] = two[0] + 3 * two[1] + 5 * movmatrix(two[0]);
  multiply<bf16>(shared + 512 * warp_index(), out + 384);
  multiply<f16>(shared + 512 * warp_index(), out + 640);

  warp_barrier();
  if (!grid_barrier(control, 1, 3, arguments.spin_limit)) {
    return;
  }
  GridEdge edge(control, 1, 4, arguments.spin_limit);
  if (warp_index() == 0 && !edge.wait()) {
    return;
  }
  if (!edge.wait() || !NoEdge::wait()) {
    return;
  }
  const u32x4 quad = load_16(in + 8 * thread);
  if (thread < 16) {
    store_16(out + 896 + 4 * thread, quad);
  }
  u32* g = out + 960;
  g[thread] = poll_acquire(control + 1) + bits_of(power(value * value, 1.7f) * 0.0f);
}

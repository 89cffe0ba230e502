// Runs CUDA kernels on a CPU, one fibre per thread: enough of the language for robomorph's kernels.
//
// Include this before a kernel's source and call robomorph_host::launch. All fibres of a block run in
// turn, forwards or backwards, each until it reaches a barrier or its end. A kernel whose result depends
// on that order has a race. A block whose threads do not all reach the same barrier is stopped.
#pragma once

#include <ucontext.h>

#include <cmath>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <vector>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/common_interface_defs.h>
#endif

#define __global__
#define __device__
#define __shared__
#define __noinline__ __attribute__((noinline))
#define __launch_bounds__(threads)
#define __syncthreads() robomorph_host::barrier()

struct uint2 {
  unsigned x, y;
};
struct Index {
  unsigned x = 0;
};
inline Index threadIdx, blockIdx;

namespace robomorph_host {

constexpr std::size_t kStackBytes = 512 * 1024;

struct Fibre {
  ucontext_t context;
  std::unique_ptr<char[]> stack{new char[kStackBytes]};
  void* fake_stack = nullptr;  // AddressSanitizer's
  bool finished = false;
};

struct Scheduler {
  ucontext_t home;
  void* home_fake_stack = nullptr;
  const void* home_bottom = nullptr;
  std::size_t home_size = 0;
  Fibre* running = nullptr;
  const std::function<void()>* body = nullptr;
};
inline Scheduler scheduler;

inline void leave_to_fibre(Fibre& fibre) {
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_start_switch_fiber(&scheduler.home_fake_stack, fibre.stack.get(), kStackBytes);
#endif
  scheduler.running = &fibre;
  swapcontext(&scheduler.home, &fibre.context);
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_finish_switch_fiber(scheduler.home_fake_stack, nullptr, nullptr);
#endif
}

inline void return_home(Fibre& fibre) {
#if defined(__SANITIZE_ADDRESS__)
  void** keep = fibre.finished ? nullptr : &fibre.fake_stack;
  __sanitizer_start_switch_fiber(keep, scheduler.home_bottom, scheduler.home_size);
#endif
  swapcontext(&fibre.context, &scheduler.home);
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_finish_switch_fiber(fibre.fake_stack, &scheduler.home_bottom, &scheduler.home_size);
#endif
}

inline void barrier() { return_home(*scheduler.running); }

inline void fibre_main() {
  Fibre& self = *scheduler.running;
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_finish_switch_fiber(nullptr, &scheduler.home_bottom, &scheduler.home_size);
#endif
  (*scheduler.body)();
  self.finished = true;
  return_home(self);
}

__attribute__((noinline)) inline void prepare(Fibre& fibre) {
  getcontext(&fibre.context);
  fibre.context.uc_stack.ss_sp = fibre.stack.get();
  fibre.context.uc_stack.ss_size = kStackBytes;
  fibre.context.uc_link = nullptr;
  makecontext(&fibre.context, fibre_main, 0);
}

inline void run_block(unsigned threads, bool backwards) {
  std::vector<Fibre> fibres(threads);
  for (Fibre& fibre : fibres) prepare(fibre);
  for (unsigned finished = 0; finished == 0;) {
    for (unsigned k = 0; k < threads; ++k) {
      const unsigned thread = backwards ? threads - 1 - k : k;
      threadIdx.x = thread;
      leave_to_fibre(fibres[thread]);
      finished += fibres[thread].finished;
    }
    if (finished != 0 && finished != threads) {
      std::fprintf(stderr, "block %u: %u of %u threads did not reach a barrier\n", blockIdx.x, finished, threads);
      std::exit(3);
    }
  }
}

// Runs `body` for every thread of every block.
inline void launch(unsigned blocks, unsigned threads, bool backwards, const std::function<void()>& body) {
  scheduler.body = &body;
  for (unsigned k = 0; k < blocks; ++k) {
    blockIdx.x = backwards ? blocks - 1 - k : k;
    run_block(threads, backwards);
  }
}

}  // namespace robomorph_host

#include <atomic>
#include <cstdint>
#include <cstring>
#include <set>
#include <thread>
#include <vector>

#include "core/scratch.h"
#include "tests/check.h"

using namespace robomorph;

TEST_CASE(scratch_rounds, "scratch: sizes round up to whole cache lines") {
  CHECK_EQUAL(round_up(0), std::size_t{0});
  for (std::size_t bytes = 1; bytes <= 200; ++bytes) {
    CHECK_EQUAL(round_up(bytes) % kScratchAlignment, std::size_t{0});
    CHECK(round_up(bytes) >= bytes && round_up(bytes) < bytes + kScratchAlignment);
  }
}

TEST_CASE(scratch_grows, "scratch: aligned, writable to the last byte, and kept unless it must grow") {
  char* before = nullptr;
  std::size_t largest = 0;
  for (const std::size_t bytes : {0, 1, 4096, 100, 4097, 5000, 100000, 64, 99999, 1 << 20, 8}) {
    char* memory = thread_scratch(bytes);
    CHECK(memory != nullptr);
    if (memory == nullptr) return;
    CHECK_EQUAL(reinterpret_cast<std::uintptr_t>(memory) % kScratchAlignment, std::uintptr_t{0});
    std::memset(memory, 7, bytes);
    if (before != nullptr && bytes <= largest) CHECK_EQUAL(static_cast<void*>(memory), static_cast<void*>(before));
    largest = bytes > largest ? bytes : largest;
    before = memory;
  }
}

TEST_CASE(scratch_threads, "scratch: every thread has its own, freed with it") {
  constexpr int kThreads = 4;
  std::vector<char*> found(kThreads, nullptr);
  std::vector<std::thread> threads;
  std::atomic<int> ready{0};
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&found, &ready, t] {
      found[t] = thread_scratch(10000);
      std::memset(found[t], t, 10000);
      ++ready;
      while (ready < kThreads) std::this_thread::yield();  // all alive at once
      for (int i = 0; i < 10000; ++i) {
        if (found[t][i] != t) return tests::report_failure(__FILE__, __LINE__, "another thread wrote here");
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK_EQUAL((std::set<char*>(found.begin(), found.end()).size()), static_cast<std::size_t>(kThreads));
}

TEST_CASE(scratch_out_of_memory, "scratch: nullptr when memory is out, and usable after that") {
  CHECK(thread_scratch(std::size_t{1} << 60) == nullptr);
  char* memory = thread_scratch(100);
  CHECK(memory != nullptr);
  if (memory != nullptr) std::memset(memory, 1, 100);
}

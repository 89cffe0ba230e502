// Memory of results: used again where it fits, bounded, nobody else's while it is in use.
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstring>
#include <thread>
#include <vector>

#include "core/buffers.h"
#include "core/threadpool.h"
#include "tests/check.h"

using namespace robomorph;

namespace {

constexpr std::size_t kMiB = std::size_t{1} << 20;

bool holds(const void* buffer, std::size_t bytes, unsigned char value) {
  const auto* at = static_cast<const unsigned char*>(buffer);
  for (std::size_t i = 0; i < bytes; ++i) {
    if (at[i] != value) return false;
  }
  return true;
}

}  // namespace

TEST_CASE(buffers_reuse, "buffers: what was given back is used again, the newest first, and nothing that is too small") {
  BufferPool pool(8 * kMiB);
  void* a = pool.take(kMiB);
  void* b = pool.take(kMiB);
  CHECK(a != nullptr && b != nullptr && a != b);
  CHECK_EQUAL(reinterpret_cast<std::uintptr_t>(a) % 64, std::uintptr_t{0});
  pool.give(a);
  pool.give(b);
  CHECK(pool.waiting() >= 2 * kMiB);
  CHECK(pool.take(kMiB) == b);
  CHECK(pool.take(kMiB - 100000) == a);  // somewhat smaller
  pool.give(a);
  void* larger = pool.take(kMiB + kMiB / 8);
  void* smaller = pool.take(kMiB / 2);
  CHECK(larger != a && smaller != a);
  std::memset(larger, 1, kMiB + kMiB / 8);
  std::memset(smaller, 2, kMiB / 2);
  CHECK(pool.take(kMiB) == a);
  for (void* buffer : {a, b, larger, smaller}) pool.give(buffer);
  pool.give(nullptr);
}

TEST_CASE(buffers_bounds, "buffers: no more bytes and buffers wait than allowed, and the oldest leave") {
  BufferPool pool(4 * kMiB);
  std::vector<void*> taken;
  for (int i = 0; i < 10; ++i) taken.push_back(pool.take(kMiB));
  for (void* buffer : taken) {
    pool.give(buffer);
    CHECK(pool.waiting() <= 4 * kMiB);
  }
  CHECK(pool.take(kMiB) == taken[9]);
  CHECK(pool.take(kMiB) == taken[8]);
  CHECK(pool.take(kMiB) == taken[7]);
  CHECK_EQUAL(pool.waiting(), std::size_t{0});  // a page more than 1 MiB each: three of them waited
  for (int i = 7; i < 10; ++i) pool.give(taken[i]);
  pool.drop();
  CHECK_EQUAL(pool.waiting(), std::size_t{0});
  void* huge = pool.take(5 * kMiB);
  pool.give(huge);
  CHECK_EQUAL(pool.waiting(), std::size_t{0});

  std::vector<void*> small;
  for (std::size_t i = 0; i < 2 * BufferPool::kMostBuffers; ++i) small.push_back(pool.take(100));
  for (void* buffer : small) pool.give(buffer);
  CHECK(pool.waiting() <= BufferPool::kMostBuffers * 4096);
  CHECK(pool.waiting() > 0);
}

TEST_CASE(buffers_resize, "buffers: another size keeps the contents") {
  BufferPool pool(8 * kMiB);
  void* at = pool.take(kMiB);
  std::memset(at, 7, kMiB);
  at = pool.resize(at, 3 * kMiB);
  CHECK(holds(at, kMiB, 7));
  std::memset(at, 8, 3 * kMiB);
  at = pool.resize(at, 100);
  CHECK(holds(at, 100, 8));
  at = pool.resize(at, 200);
  CHECK(holds(at, 100, 8));
  CHECK(pool.resize(at, ~std::size_t{0} - 5) == nullptr);
  CHECK(holds(at, 100, 8));
  pool.give(at);
  void* fresh = pool.resize(nullptr, 10);
  CHECK(fresh != nullptr);
  pool.give(fresh);
}

TEST_CASE(buffers_no_memory, "buffers: more memory than there is is said") {
  BufferPool pool(8 * kMiB);
  pool.give(pool.take(kMiB));
  CHECK(pool.take(std::size_t{1} << 60) == nullptr);
  CHECK(pool.take(~std::size_t{0} - 10) == nullptr);
  CHECK_EQUAL(pool.waiting(), std::size_t{0});  // what waited might have been what was missing
}

TEST_CASE(buffers_threads, "buffers: threads never get the same buffer") {
  static BufferPool pool(2 * kMiB);
  run_on_new_threads(4, [](void*, std::size_t part, std::size_t) {
    const auto mark = static_cast<unsigned char>(part + 1);
    std::vector<void*> mine;
    for (std::size_t i = 0; i < 2000; ++i) {
      const std::size_t bytes = 1000 + 37 * ((i * 13 + part) % 200);
      void* buffer = pool.take(bytes);
      CHECK(buffer != nullptr);
      std::memset(buffer, mark, 1000);
      mine.push_back(buffer);
      if (mine.size() < 5) continue;
      CHECK(holds(mine.front(), 1000, mark));
      pool.give(mine.front());
      mine.erase(mine.begin());
    }
    for (void* buffer : mine) pool.give(buffer);
  }, nullptr);
  CHECK(pool.waiting() <= 2 * kMiB);
  pool.drop();
}

#if !defined(__SANITIZE_THREAD__)
TEST_CASE(buffers_fork, "buffers: a child forked while threads use the pool can use its own") {
  static std::atomic<bool> stop;
  stop = false;
  result_buffers();  // made before anything forks, as the module does when it is imported
  std::thread busy([] {
    while (!stop) result_buffers().give(result_buffers().take(100000));
  });
  for (int i = 0; i < 50; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      alarm(20);  // a lock that nobody opens ends here
      void* buffer = result_buffers().take(100000);
      std::memset(buffer, 1, 100000);
      result_buffers().give(buffer);
      _exit(0);
    }
    int status = -1;
    waitpid(child, &status, 0);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  }
  stop = true;
  busy.join();
}
#endif

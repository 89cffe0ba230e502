#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <thread>
#include <vector>

#include "core/threadpool.h"
#include "tests/check.h"

using namespace robomorph;

namespace {

constexpr std::size_t kMostParts = 64;

// How often each part of a job was done. Plain numbers where the pool promises that nobody else touches them.
struct Count {
  std::size_t parts[kMostParts] = {};
  std::size_t told[kMostParts] = {};  // the number of parts that each was told of
};

void count_part(void* context, std::size_t part, std::size_t parts) {
  Count& count = *static_cast<Count*>(context);
  ++count.parts[part];
  count.told[part] = parts;
}

// Every part once, and all agree on how many there are; returns that.
std::size_t check_once(const Count& count, std::size_t wanted) {
  const std::size_t parts = count.told[0];
  CHECK(parts >= 1 && parts <= wanted);
  for (std::size_t i = 0; i < kMostParts; ++i) {
    CHECK_EQUAL(count.parts[i], std::size_t{i < parts});
    if (i < parts) CHECK_EQUAL(count.told[i], parts);
  }
  return parts;
}

void nap(int milliseconds) { std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds)); }

}  // namespace

TEST_CASE(pool_parts, "threadpool: every part of a job is done once, for every number of them") {
  ThreadPool pool;
  CHECK_EQUAL(pool.size(), std::size_t{0});
  std::size_t most = 1;
  for (const std::size_t wanted : {1, 2, 3, 8, 2, 5, 64, 1, 16}) {
    Count count;
    pool.run(wanted, count_part, &count);
    CHECK_EQUAL(check_once(count, wanted), wanted);
    most = wanted > most ? wanted : most;
    CHECK_EQUAL(pool.size(), most - 1);  // workers stay
  }
  CHECK(pool.shutdown());
}

TEST_CASE(pool_small_jobs, "threadpool: many small jobs of changing size, results there when run returns") {
  ThreadPool pool;
  for (std::size_t job = 0; job < 20000; ++job) {
    Count count;
    const std::size_t wanted = 1 + job % 5;
    pool.run(wanted, count_part, &count);
    if (check_once(count, wanted) != wanted) return CHECK(false);
  }
  CHECK(pool.shutdown());
}

TEST_CASE(pool_sleep, "threadpool: workers that have fallen asleep wake up, and so does the caller") {
  ThreadPool pool;
  const auto slow = [](void* context, std::size_t part, std::size_t parts) {
    if (part > 0) nap(2);
    count_part(context, part, parts);
  };
  for (int job = 0; job < 30; ++job) {
    Count count;
    pool.run(3, job % 2 ? static_cast<Task>(slow) : count_part, &count);
    check_once(count, 3);
    nap(job % 3);
  }
  CHECK(pool.shutdown());
}

TEST_CASE(pool_shutdown, "threadpool: shutdown ends all workers, and the next job starts new ones") {
  ThreadPool pool;
  for (int round = 0; round < 20; ++round) {
    Count count;
    pool.run(4, count_part, &count);
    CHECK_EQUAL(check_once(count, 4), std::size_t{4});
    if (round % 2) nap(1);  // they sleep, or spin
    CHECK(pool.shutdown());
    CHECK_EQUAL(pool.size(), std::size_t{0});
  }
  CHECK(pool.shutdown());  // nothing to end
}

TEST_CASE(pool_busy_shutdown, "threadpool: shutdown from a job does nothing and says so") {
  static ThreadPool pool;
  static std::atomic<int> refused;
  refused = 0;
  pool.run(3, [](void*, std::size_t, std::size_t) { refused += !pool.shutdown(); }, nullptr);
  CHECK_EQUAL(refused.load(), 3);
  CHECK_EQUAL(pool.size(), std::size_t{2});
  CHECK(pool.shutdown());
}

TEST_CASE(pool_nested, "threadpool: a job inside a job is done whole by whoever asks") {
  static ThreadPool pool;
  Count inner[4];
  pool.run(4, [](void* context, std::size_t part, std::size_t) {
    Count& mine = static_cast<Count*>(context)[part];
    pool.run(8, count_part, &mine);
  }, inner);
  for (const Count& count : inner) CHECK_EQUAL(check_once(count, 8), std::size_t{1});
  CHECK(pool.shutdown());
}

TEST_CASE(pool_callers, "threadpool: callers at the same time all get their jobs done") {
  ThreadPool pool;
  std::atomic<std::size_t> shared{0}, alone{0};
  std::vector<std::thread> callers;
  for (int c = 0; c < 4; ++c) {
    callers.emplace_back([&pool, &shared, &alone] {
      for (int job = 0; job < 2000; ++job) {
        Count count;
        pool.run(3, count_part, &count);
        ++(check_once(count, 3) > 1 ? shared : alone);
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
  CHECK_EQUAL(shared + alone, std::size_t{8000});
  CHECK(shared > 0);
  CHECK(pool.shutdown());
}

TEST_CASE(pool_late, "threadpool: parts whose workers are late are done by the caller") {
  ThreadPool pool;
  for (int job = 0; job < 200; ++job) {
    Count count;
    pool.run(kMostParts, count_part, &count);  // more than any CPU here lets run at once
    CHECK_EQUAL(check_once(count, kMostParts), kMostParts);
  }
  CHECK(pool.shutdown());
}

namespace {

struct Meeting {
  std::atomic<int> there{0};
  std::thread::id caller = std::this_thread::get_id();
  std::thread::id first;
  std::atomic<int> reachable{0};  // by signals
};

// Part 0 waits for the others, so that they run on threads of their own.
void meet(void* context, std::size_t part, std::size_t parts) {
  Meeting& meeting = *static_cast<Meeting*>(context);
  ++meeting.there;
  while (meeting.there < static_cast<int>(parts)) std::this_thread::yield();
  if (part == 0) {
    meeting.first = std::this_thread::get_id();
    return;
  }
  CHECK(std::this_thread::get_id() != meeting.caller);
  sigset_t mask;
  pthread_sigmask(SIG_SETMASK, nullptr, &mask);
  meeting.reachable += !sigismember(&mask, SIGINT) || !sigismember(&mask, SIGTERM);
}

void check_threads_of_workers(void (*run)(std::size_t, Task, void*)) {
  Meeting meeting;
  run(4, meet, &meeting);
  CHECK_EQUAL(meeting.there.load(), 4);
  CHECK(meeting.first == meeting.caller);
  CHECK_EQUAL(meeting.reachable.load(), 0);
  sigset_t mask;
  pthread_sigmask(SIG_SETMASK, nullptr, &mask);
  CHECK(!sigismember(&mask, SIGINT));  // the caller's own mask is as it was
}

}  // namespace

TEST_CASE(pool_threads, "threadpool: part 0 runs on the caller, the others where no signal arrives") {
  check_threads_of_workers([](std::size_t n, Task task, void* context) { global_pool().run(n, task, context); });
  check_threads_of_workers(run_on_new_threads);
}

TEST_CASE(pool_new_threads, "threadpool: every part is done once on threads of their own, too") {
  for (std::size_t wanted = 1; wanted <= 12; ++wanted) {
    Count count;
    run_on_new_threads(wanted, count_part, &count);
    CHECK_EQUAL(check_once(count, wanted), wanted);
  }
}

#if !defined(ROBOMORPH_THREAD_SANITIZER)
TEST_CASE(pool_fork, "threadpool: a forked child has an empty pool that works") {
  Meeting meeting;
  global_pool().run(4, meet, &meeting);  // all workers have begun: none is inside a sanitizer's own locks
  const pid_t child = fork();
  if (child == 0) {
    alarm(20);  // a lost worker would be waited for without end
    Count own;
    const bool empty = global_pool().size() == 0;
    global_pool().run(3, count_part, &own);
    _exit(empty && own.told[2] == 3 && global_pool().shutdown() ? 0 : 1);
  }
  int status = -1;
  CHECK_EQUAL(waitpid(child, &status, 0), child);
  CHECK_EQUAL(status, 0);
  Count after;
  global_pool().run(4, count_part, &after);
  CHECK_EQUAL(check_once(after, 4), std::size_t{4});
}
#endif

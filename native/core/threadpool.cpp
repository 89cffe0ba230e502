#include "core/threadpool.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>

#include <chrono>
#include <new>
#include <system_error>
#include <thread>

#include "core/cpus.h"

namespace robomorph {
namespace {

constexpr std::chrono::microseconds kSpinTime{50};

inline void pause() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

// Waits up to kSpinTime for ready(); gives the CPU away between looks when there are more threads than CPUs,
// since the thread we wait for may need this very CPU.
template <typename Ready>
bool spin_until(bool crowded, Ready ready) {
  const auto deadline = std::chrono::steady_clock::now() + kSpinTime;
  do {
    for (int i = 0; i < 32; ++i) {
      if (ready()) return true;
      pause();
    }
    if (crowded) sched_yield();
  } while (std::chrono::steady_clock::now() < deadline);
  return ready();
}

// New threads inherit the mask: signals must go on reaching Python's main thread.
class BlockSignals {
 public:
  BlockSignals() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &saved_);
  }
  ~BlockSignals() { pthread_sigmask(SIG_SETMASK, &saved_, nullptr); }
  BlockSignals(const BlockSignals&) = delete;
  BlockSignals& operator=(const BlockSignals&) = delete;

 private:
  sigset_t saved_;
};

// The pool, if nobody has it. Not a mutex: a job that asks for the pool it runs on must be refused, and a thread may
// not try a mutex that it holds.
class Ownership {
 public:
  explicit Ownership(std::atomic<bool>& owned) : owned_(owned), mine_(!owned.exchange(true, std::memory_order_acquire)) {}
  ~Ownership() {
    if (mine_) owned_.store(false, std::memory_order_release);
  }
  Ownership(const Ownership&) = delete;
  Ownership& operator=(const Ownership&) = delete;
  explicit operator bool() const { return mine_; }

 private:
  std::atomic<bool>& owned_;
  const bool mine_;
};

}  // namespace

struct alignas(64) ThreadPool::Worker {
  // Rises by one for each job this worker is asked to take part in.
  std::atomic<std::uint64_t> ticket{0};
  // The last ticket whose part somebody took: this worker, or the owner because the worker was late.
  std::atomic<std::uint64_t> taken{0};
  std::atomic<bool> sleeps{false};
  bool stop = false;
  // What to do; written by the owner before the ticket, so that both reach the worker in one cache line.
  Job job;
  std::size_t part = 0;
  std::mutex mutex;
  std::condition_variable wake;
  std::thread thread;

  // The store of the ticket and the load of `sleeps` are sequentially consistent, as are their mirror images in
  // await_ticket: either the worker sees the new ticket, or this sees that it must be woken.
  void issue_ticket() {
    ticket.fetch_add(1);
    if (sleeps.load()) {
      const std::lock_guard<std::mutex> lock(mutex);
      wake.notify_one();
    }
  }

  // True for exactly one of those who ask about a ticket.
  bool take(std::uint64_t issued) {
    std::uint64_t before = issued - 1;
    return taken.compare_exchange_strong(before, issued);
  }

  std::uint64_t await_ticket(std::uint64_t seen, bool crowded) {
    if (!spin_until(crowded, [&] { return ticket.load(std::memory_order_acquire) != seen; })) {
      std::unique_lock<std::mutex> lock(mutex);
      sleeps.store(true);
      wake.wait(lock, [&] { return ticket.load() != seen; });
      sleeps.store(false);
    }
    return ticket.load(std::memory_order_acquire);
  }
};

void ThreadPool::run(std::size_t wanted, Task task, void* context) {
  const Ownership owner(owned_);
  if (!owner || wanted <= 1) return task(context, 0, 1);
  if (workers_.size() + 1 < wanted) start_workers(wanted - 1);
  const std::size_t parts = workers_.size() + 1 < wanted ? workers_.size() + 1 : wanted;
  job_ = Job{task, context, parts, parts > available_cpus()};
  pending_.store(parts - 1, std::memory_order_relaxed);
  for (std::size_t i = 0; i + 1 < parts; ++i) {
    workers_[i]->job = job_;
    workers_[i]->issue_ticket();
  }
  task(context, 0, parts);
  take_over_late_parts();
  await_workers();
}

// A worker that the system has not let run yet (a busy machine) must not hold up the job: its part is done here.
void ThreadPool::take_over_late_parts() {
  for (std::size_t i = 0; i + 1 < job_.parts; ++i) {
    Worker& worker = *workers_[i];
    if (!worker.take(worker.ticket.load(std::memory_order_relaxed))) continue;
    job_.task(job_.context, worker.part, job_.parts);
    pending_.fetch_sub(1);
  }
}

void ThreadPool::start_workers(std::size_t count) {
  const BlockSignals blocked;
  try {
    workers_.reserve(count);
    while (workers_.size() < count) {
      Worker* worker = new Worker;
      worker->part = workers_.size() + 1;
      try {
        worker->thread = std::thread([this, worker] { serve(*worker); });
      } catch (...) {
        delete worker;
        throw;
      }
      workers_.push_back(worker);
    }
  } catch (const std::system_error&) {  // no more threads to be had: work with those there are
  } catch (const std::bad_alloc&) {
  }
  size_.store(workers_.size(), std::memory_order_relaxed);
}

void ThreadPool::serve(Worker& worker) {
  std::uint64_t seen = 0;
  bool crowded = false;
  while (true) {
    seen = worker.await_ticket(seen, crowded);
    if (!worker.take(seen)) continue;
    if (worker.stop) return;
    const Job job = worker.job;
    crowded = job.crowded;
    job.task(job.context, worker.part, job.parts);
    finish_part();
  }
}

void ThreadPool::finish_part() {
  if (pending_.fetch_sub(1) == 1 && owner_sleeps_.load()) {
    const std::lock_guard<std::mutex> lock(done_mutex_);
    done_.notify_one();
  }
}

void ThreadPool::await_workers() {
  if (spin_until(job_.crowded, [&] { return pending_.load(std::memory_order_acquire) == 0; })) return;
  std::unique_lock<std::mutex> lock(done_mutex_);
  owner_sleeps_.store(true);
  done_.wait(lock, [&] { return pending_.load() == 0; });
  owner_sleeps_.store(false);
}

bool ThreadPool::shutdown() {
  const Ownership owner(owned_);
  if (!owner) return false;
  for (Worker* worker : workers_) {
    worker->stop = true;
    worker->issue_ticket();
  }
  for (Worker* worker : workers_) {
    worker->thread.join();
    delete worker;
  }
  workers_.clear();
  size_.store(0, std::memory_order_relaxed);
  return true;
}

namespace {

// Never destroyed: a daemon thread may still be working while the process exits.
alignas(ThreadPool) unsigned char pool_storage[sizeof(ThreadPool)];

ThreadPool* make_pool() { return new (pool_storage) ThreadPool; }

// The workers do not exist in the child and the locks may be held by threads that do not either: start afresh in
// the same storage, leaving the old contents (a few hundred bytes a worker) behind.
void reset_after_fork() { make_pool(); }

}  // namespace

ThreadPool& global_pool() {
  static ThreadPool* const pool = [] {
    pthread_atfork(nullptr, nullptr, reset_after_fork);
    return make_pool();
  }();
  return *pool;
}

void run_on_new_threads(std::size_t wanted, Task task, void* context) {
  std::vector<std::thread> threads;
  std::size_t started = 1;
  try {
    const BlockSignals blocked;
    threads.reserve(wanted);
    for (; started < wanted; ++started) threads.emplace_back(task, context, started, wanted);
  } catch (const std::system_error&) {
  } catch (const std::bad_alloc&) {
  }
  task(context, 0, wanted);
  for (std::size_t part = started; part < wanted; ++part) task(context, part, wanted);
  for (std::thread& thread : threads) thread.join();
}

}  // namespace robomorph

// A process-wide pool of persistent threads for work that lasts microseconds.
//
// Workers spin for a short time after each job, so that the next one reaches them within about a microsecond, and
// then sleep. A part whose worker has not begun when the caller is done with its own is done by the caller, so a
// busy machine delays a job by little. One caller owns the pool at a time; whoever finds it taken runs its whole
// job itself, because waiting would cost more than the work.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

namespace robomorph {

// Does part `part` (0 <= part < parts) of a job; must not throw.
using Task = void (*)(void* context, std::size_t part, std::size_t parts);

class ThreadPool {
 public:
  // Runs every part of the job, part 0 on the calling thread, and returns when all are done. `wanted` is an upper
  // bound on the number of parts: fewer are made when the pool is taken or threads cannot be started.
  void run(std::size_t wanted, Task task, void* context);

  // Ends and joins all workers; the next run starts new ones. False, and nothing done, while a job is running.
  bool shutdown();

  // Workers alive, the calling thread not counted.
  std::size_t size() const { return size_.load(std::memory_order_relaxed); }

 private:
  struct Worker;

  void start_workers(std::size_t count);
  void serve(Worker& worker);
  void finish_part();
  void take_over_late_parts();
  void await_workers();

  std::atomic<bool> owned_{false};  // does a caller have the pool?
  std::vector<Worker*> workers_;
  std::atomic<std::size_t> size_{0};

  // The current job; every worker has a copy beside its ticket.
  struct Job {
    Task task = nullptr;
    void* context = nullptr;
    std::size_t parts = 0;
    bool crowded = false;
  };
  Job job_;

  alignas(64) std::atomic<std::size_t> pending_{0};
  alignas(64) std::atomic<bool> owner_sleeps_{false};
  std::mutex done_mutex_;
  std::condition_variable done_;
};

// The pool of this process; after a fork the child has a new, empty one.
ThreadPool& global_pool();

// Runs the job on threads started for this call alone: what the pool is measured against.
void run_on_new_threads(std::size_t wanted, Task task, void* context);

}  // namespace robomorph

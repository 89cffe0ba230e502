// Memory of large results, kept for the next ones: the C library gives it back to the system after each call, and a new
// page costs more to touch than a kernel to fill.
#pragma once

#include <cstddef>
#include <mutex>

namespace robomorph {

// Buffers, each with its size in front. Those that are free wait in a list of bounded length, from which the oldest
// leave. Any thread may call anything at any time; nothing is thrown.
class BufferPool {
 public:
  static constexpr std::size_t kMostBuffers = 64;

  explicit BufferPool(std::size_t most_bytes) : most_bytes_(most_bytes) {}
  ~BufferPool() { drop(); }
  BufferPool(const BufferPool&) = delete;
  BufferPool& operator=(const BufferPool&) = delete;

  // At least `bytes` bytes, aligned to 64, with any contents; nullptr when memory is out.
  void* take(std::size_t bytes);
  // Gives a buffer of `take` back; nullptr is none.
  void give(void* buffer);
  // A buffer of `take` with another size and the same contents; nullptr when memory is out: the old one stays.
  void* resize(void* buffer, std::size_t bytes);

  // Frees all buffers that wait.
  void drop();
  // Bytes that wait.
  std::size_t waiting() const;

  // Around a fork: the child must not find the lock held by a thread that it does not have.
  void lock() { mutex_.lock(); }
  void unlock() { mutex_.unlock(); }

 private:
  struct Block;

  Block* find(std::size_t bytes);
  std::size_t remove_oldest(std::size_t count, Block** removed);

  const std::size_t most_bytes_;
  mutable std::mutex mutex_;
  Block* free_[kMostBuffers];  // the oldest first
  std::size_t count_ = 0;
  std::size_t waiting_ = 0;
};

// The one for results; lives as long as the process. A forked child keeps what waits there as its own.
BufferPool& result_buffers();

}  // namespace robomorph

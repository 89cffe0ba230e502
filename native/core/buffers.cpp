#include "core/buffers.h"

#include <pthread.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>

namespace robomorph {
namespace {

constexpr std::size_t kHeader = 64;  // keeps what follows it aligned
constexpr std::size_t kPage = 4096;
constexpr std::size_t kHugeFrom = std::size_t{4} << 20;  // as NumPy
constexpr std::size_t kMostBytes = std::size_t{64} << 20;

}  // namespace

// What stands in front of a buffer.
struct BufferPool::Block {
  std::size_t size;  // of the whole block
  bool mapped;

  void* data() { return reinterpret_cast<char*>(this) + kHeader; }
  static Block* of(void* data) { return reinterpret_cast<Block*>(static_cast<char*>(data) - kHeader); }

  // Straight from the system, to which it goes back whole: what changes its size from call to call leaves no holes in
  // the heap. The system limits the number of such blocks, not so the C library.
  static Block* make(std::size_t bytes) {
    const std::size_t size = (bytes + kHeader + kPage - 1) / kPage * kPage;
    if (size < bytes) return nullptr;
    void* memory = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory != MAP_FAILED) {
#if defined(MADV_HUGEPAGE)
      if (size >= kHugeFrom) madvise(memory, size, MADV_HUGEPAGE);
#endif
      return new (memory) Block{size, true};
    }
    if (posix_memalign(&memory, kHeader, size) != 0) return nullptr;
    return new (memory) Block{size, false};
  }

  static void release(Block* block) {
    if (block->mapped) {
      munmap(block, block->size);
    } else {
      std::free(block);
    }
  }
};

// The newest that fits without wasting more than a quarter: its lines may still be in the cache.
BufferPool::Block* BufferPool::find(std::size_t bytes) {
  const std::lock_guard<std::mutex> guard(mutex_);
  for (std::size_t at = count_; at-- > 0;) {
    Block* block = free_[at];
    const std::size_t room = block->size - kHeader;
    if (room < bytes || room - bytes > bytes / 4 + kPage) continue;
    std::copy(free_ + at + 1, free_ + count_, free_ + at);
    --count_;
    waiting_ -= block->size;
    return block;
  }
  return nullptr;
}

// With the lock held; they are released without it.
std::size_t BufferPool::remove_oldest(std::size_t count, Block** removed) {
  for (std::size_t i = 0; i < count; ++i) {
    removed[i] = free_[i];
    waiting_ -= free_[i]->size;
  }
  std::copy(free_ + count, free_ + count_, free_);
  count_ -= count;
  return count;
}

void* BufferPool::take(std::size_t bytes) {
  Block* block = find(bytes);
  if (block == nullptr) block = Block::make(bytes);
  if (block == nullptr) {  // what waits may be what is missing
    drop();
    block = Block::make(bytes);
  }
  return block == nullptr ? nullptr : block->data();
}

void BufferPool::give(void* buffer) {
  if (buffer == nullptr) return;
  Block* block = Block::of(buffer);
  if (block->size > most_bytes_) return Block::release(block);
  Block* removed[kMostBuffers];
  std::size_t count = 0;
  {
    const std::lock_guard<std::mutex> guard(mutex_);
    std::size_t bytes = waiting_ + block->size;
    while (bytes > most_bytes_ || count_ - count >= kMostBuffers) bytes -= free_[count++]->size;
    remove_oldest(count, removed);
    free_[count_++] = block;
    waiting_ += block->size;
  }
  for (std::size_t i = 0; i < count; ++i) Block::release(removed[i]);
}

void* BufferPool::resize(void* buffer, std::size_t bytes) {
  if (buffer == nullptr) return take(bytes);
  const std::size_t room = Block::of(buffer)->size - kHeader;
  if (bytes <= room && bytes >= room / 2) return buffer;
  void* fresh = take(bytes);
  if (fresh == nullptr) return nullptr;
  std::memcpy(fresh, buffer, std::min(room, bytes));
  give(buffer);
  return fresh;
}

void BufferPool::drop() {
  Block* removed[kMostBuffers];
  std::size_t count = 0;
  {
    const std::lock_guard<std::mutex> guard(mutex_);
    count = remove_oldest(count_, removed);
  }
  for (std::size_t i = 0; i < count; ++i) Block::release(removed[i]);
}

std::size_t BufferPool::waiting() const {
  const std::lock_guard<std::mutex> guard(mutex_);
  return waiting_;
}

// Never destroyed: arrays may outlive everything else.
BufferPool& result_buffers() {
  static BufferPool* const pool = [] {
    auto* made = new BufferPool(kMostBytes);
    pthread_atfork([] { result_buffers().lock(); }, [] { result_buffers().unlock(); },
                   [] { result_buffers().unlock(); });
    return made;
  }();
  return *pool;
}

}  // namespace robomorph

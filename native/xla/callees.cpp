#include "xla/callees.h"

#include <atomic>
#include <cstring>

namespace robomorph::xla {
namespace {

constexpr std::size_t kBuckets = 1024;
std::atomic<const Callee*> heads[kBuckets];

std::size_t bucket_of(const char* name, std::size_t size) {
  std::uint64_t hash = 1469598103934665603u;  // FNV-1a
  for (std::size_t i = 0; i < size; ++i) hash = (hash ^ static_cast<unsigned char>(name[i])) * 1099511628211u;
  return static_cast<std::size_t>(hash % kBuckets);
}

}  // namespace

void add_callee(Callee* callee) {
  std::atomic<const Callee*>& head = heads[bucket_of(callee->name.data(), callee->name.size())];
  callee->next = head.load(std::memory_order_relaxed);
  while (!head.compare_exchange_weak(callee->next, callee, std::memory_order_release, std::memory_order_relaxed)) {
  }
}

const Callee* find_callee(const char* name, std::size_t size) {
  const Callee* callee = heads[bucket_of(name, size)].load(std::memory_order_acquire);
  while (callee != nullptr && (callee->name.size() != size || std::memcmp(callee->name.data(), name, size) != 0)) {
    callee = callee->next;
  }
  return callee;
}

}  // namespace robomorph::xla

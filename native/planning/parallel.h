// A loop over independent items on the process's threads.
#pragma once

#include <atomic>
#include <cstddef>

#include "core/threadpool.h"

namespace robomorph::planning {

// Calls work(part, item) for every item; a part is one thread, parts are fewer than `threads`. Items are taken as
// threads come free, so what an item does must not depend on its part but for scratch memory.
template <typename Work>
void for_each_item(std::size_t items, std::size_t threads, Work& work) {
  if (threads <= 1 || items <= 1) {
    for (std::size_t i = 0; i < items; ++i) work(std::size_t{0}, i);
    return;
  }
  struct Context {
    Work& work;
    const std::size_t items;
    std::atomic<std::size_t> next{0};
  } context{work, items};
  const auto task = [](void* opaque, std::size_t part, std::size_t) {
    Context& c = *static_cast<Context*>(opaque);
    for (std::size_t i; (i = c.next.fetch_add(1, std::memory_order_relaxed)) < c.items;) c.work(part, i);
  };
  global_pool().run(threads < items ? threads : items, task, &context);
}

}  // namespace robomorph::planning

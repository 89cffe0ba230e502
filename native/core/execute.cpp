#include "core/execute.h"

#include <algorithm>
#include <cstring>

#include "core/scratch.h"
#include "core/stream.h"
#include "core/threadpool.h"

namespace robomorph {
namespace {

// The arrays of a batch, advanced row by row or block by block.
struct Cursor {
  const void* in[kMaxArrays];
  void* out[kMaxArrays];

  Cursor(const Work& work, std::size_t row) {
    const Layout& layout = *work.layout;
    for (std::size_t i = 0; i < layout.n_in; ++i) in[i] = work.in[i] + row * layout.in_row[i];
    for (std::size_t j = 0; j < layout.n_out; ++j) out[j] = work.out[j] + row * layout.out_row[j];
  }

  void advance(const Layout& layout, std::size_t rows) {
    for (std::size_t i = 0; i < layout.n_in; ++i) in[i] = static_cast<const char*>(in[i]) + rows * layout.in_row[i];
    for (std::size_t j = 0; j < layout.n_out; ++j) out[j] = static_cast<char*>(out[j]) + rows * layout.out_row[j];
  }
};

// Copies `rows` rows and repeats the last one up to `lanes`: real values, so that no lane meets surprising numbers.
void copy_padded(char* to, const void* from, std::size_t row_bytes, std::size_t rows, std::size_t lanes) {
  std::memcpy(to, from, rows * row_bytes);
  const char* last = to + (rows - 1) * row_bytes;
  for (std::size_t row = rows; row < lanes; ++row) std::memcpy(to + row * row_bytes, last, row_bytes);
}

void pad_inputs(const Work& work, const Cursor& at, std::size_t rows, char* scratch, const void** in) {
  const Layout& layout = *work.layout;
  for (std::size_t i = 0; i < layout.n_in; ++i) {
    char* padded = scratch + layout.in_padded_at[i];
    copy_padded(padded, at.in[i], layout.in_row[i], rows, layout.lanes);
    in[i] = padded;
  }
}

// Fewer rows than lanes, at the end of the batch: the lane function must not touch memory beyond the arrays.
void run_tail(const Work& work, const Cursor& at, std::size_t rows, char* scratch) {
  const Layout& layout = *work.layout;
  const void* in[kMaxArrays];
  void* out[kMaxArrays];
  pad_inputs(work, at, rows, scratch, in);
  for (std::size_t j = 0; j < layout.n_out; ++j) out[j] = scratch + layout.out_padded_at[j];
  work.lane_fn(in, out, scratch + layout.workspace_at);
  for (std::size_t j = 0; j < layout.n_out; ++j) std::memcpy(at.out[j], out[j], rows * layout.out_row[j]);
}

// All rows through the thread's scratch, from where whole lines are written past the cache.
void run_streaming(const Work& work, Cursor& at, std::size_t rows, char* scratch) {
  const Layout& layout = *work.layout;
  Stream streams[kMaxArrays];
  void* out[kMaxArrays];
  for (std::size_t j = 0; j < layout.n_out; ++j) {
    streams[j].start(scratch + layout.out_padded_at[j], static_cast<char*>(at.out[j]));
  }
  const void* const* in = at.in;
  const void* padded[kMaxArrays];
  for (std::size_t count = 0; rows > 0; rows -= count, at.advance(layout, count)) {
    count = std::min(rows, layout.lanes);
    if (count < layout.lanes) {
      pad_inputs(work, at, count, scratch, padded);
      in = padded;
    }
    for (std::size_t j = 0; j < layout.n_out; ++j) out[j] = streams[j].piece();
    work.lane_fn(in, out, scratch + layout.workspace_at);
    for (std::size_t j = 0; j < layout.n_out; ++j) streams[j].push(count * layout.out_row[j]);
  }
  for (std::size_t j = 0; j < layout.n_out; ++j) streams[j].finish();
  fence_streams();
}

// Each part looks at its own rows: they are then in the cache of the core that needs them.
bool rows_finite(const Work& work, std::size_t first, std::size_t end) {
  const Layout& layout = *work.layout;
  for (std::size_t i = 0; i < layout.n_in; ++i) {
    const std::size_t count = (end - first) * layout.in_row[i] / work.element_size;
    if (!work.finite(work.in[i] + first * layout.in_row[i], count)) return false;
  }
  return true;
}

// A few entries of each row, which the scan above has just brought near.
bool rows_unit(const Work& work, std::size_t first, std::size_t end) {
  for (std::size_t k = 0; k < work.units->count; ++k) {
    const UnitPart& part = work.units->parts[k];
    const std::size_t row_bytes = work.layout->in_row[part.input];
    const char* rows = work.in[part.input] + first * row_bytes;
    if (!work.unit(rows, row_bytes / work.element_size, end - first, part, *work.units)) return false;
  }
  return true;
}

void run_rows(Work& work, std::size_t first, std::size_t end) {
  const Layout& layout = *work.layout;
  if (work.finite != nullptr && !(rows_finite(work, first, end) && rows_unit(work, first, end))) {
    work.bad_values.store(true, std::memory_order_relaxed);
    return;
  }
  char* scratch = thread_scratch(layout.workspace_at + work.workspace);
  if (scratch == nullptr) {
    work.out_of_memory.store(true, std::memory_order_relaxed);
    return;
  }
  char* workspace = scratch + layout.workspace_at;
  Cursor at(work, first);
  if (work.lane_fn == nullptr) {
    for (std::size_t row = first; row < end; ++row, at.advance(layout, 1)) work.single_fn(at.in, at.out, workspace);
    return;
  }
  if (work.streaming) return run_streaming(work, at, end - first, scratch);
  std::size_t row = first;
  if (work.blocks_fn != nullptr) {
    const std::size_t many = work.blocks * layout.lanes;
    for (; row + many <= end; row += many, at.advance(layout, many)) work.blocks_fn(at.in, at.out, workspace);
  }
  for (; row + layout.lanes <= end; row += layout.lanes, at.advance(layout, layout.lanes)) {
    work.lane_fn(at.in, at.out, workspace);
  }
  if (row < end) run_tail(work, at, end - row, scratch);
}

// Functions for several blocks are for code so long that its own time hides that of the stores.
bool worth_streaming(const Work& work) {
  if (work.lane_fn == nullptr || work.blocks_fn != nullptr) return false;
  std::size_t row_bytes = 0;
  for (std::size_t j = 0; j < work.layout->n_out; ++j) row_bytes += work.layout->out_row[j];
  return work.rows * row_bytes > stream_above();
}

std::size_t count_blocks(const Work& work) { return (work.rows + work.layout->lanes - 1) / work.layout->lanes; }

// Each part takes a contiguous range of blocks, so only the last one can meet the tail. The caller (part 0) takes the
// last range: a core's prefetcher runs past the end of its range and takes the first lines of the next one away,
// which costs the caller, who starts first, less than a worker.
void run_part(void* context, std::size_t part, std::size_t parts) {
  Work& work = *static_cast<Work*>(context);
  const std::size_t blocks = count_blocks(work);
  const std::size_t range = parts - 1 - part;
  const std::size_t first = blocks * range / parts * work.layout->lanes;
  const std::size_t end = blocks * (range + 1) / parts * work.layout->lanes;
  run_rows(work, first, std::min(end, work.rows));
}

}  // namespace

void plan_scratch(Layout& layout) {
  std::size_t at = 0;
  for (std::size_t i = 0; i < layout.n_in; ++i) {
    layout.in_padded_at[i] = at;
    at += round_up(layout.lanes * layout.in_row[i]);
  }
  for (std::size_t j = 0; j < layout.n_out; ++j) {
    layout.out_padded_at[j] = at;
    at += Stream::stage_bytes(layout.lanes * layout.out_row[j]);
  }
  layout.workspace_at = at;
}

Outcome execute(Work& work, const Split& split) {
  const std::size_t useful = count_blocks(work) / std::max<std::size_t>(split.min_blocks_per_thread, 1);
  const std::size_t parts = std::min(split.threads, useful);
  work.streaming = worth_streaming(work);
  if (parts <= 1) {
    run_rows(work, 0, work.rows);
  } else if (split.launch == Launch::kPool) {
    global_pool().run(parts, run_part, &work);
  } else {
    run_on_new_threads(parts, run_part, &work);
  }
  if (work.bad_values.load(std::memory_order_relaxed)) return Outcome::kBadValues;
  return work.out_of_memory.load(std::memory_order_relaxed) ? Outcome::kOutOfMemory : Outcome::kDone;
}

}  // namespace robomorph

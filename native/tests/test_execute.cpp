// A kernel written by hand over batches of all sizes. All arrays end where their last row ends, so that
// AddressSanitizer sees a lane that reads or writes beyond.
#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

#include "core/execute.h"
#include "core/finite_scan.h"
#include "core/scratch.h"
#include "core/threadpool.h"
#include "tests/check.h"

using namespace robomorph;

namespace {

constexpr std::size_t kWorkspace = 1000;
std::atomic<int> calls{0};

// (a (3), b ()) -> (s (2), r (3)) for `L` rows.
template <typename T, std::size_t L>
void kernel(const void* const* in, void* const* out, void* workspace) {
  ++calls;
  CHECK_EQUAL(reinterpret_cast<std::uintptr_t>(workspace) % kScratchAlignment, std::uintptr_t{0});
  std::memset(workspace, 0xff, kWorkspace);
  const T* a = static_cast<const T*>(in[0]);
  const T* b = static_cast<const T*>(in[1]);
  T* s = static_cast<T*>(out[0]);
  T* r = static_cast<T*>(out[1]);
  for (std::size_t l = 0; l < L; ++l) {
    CHECK(b[l] >= 1);  // lanes beyond the batch hold numbers of it
    s[2 * l] = a[3 * l] + b[l];
    s[2 * l + 1] = a[3 * l + 1] * b[l];
    for (int i = 0; i < 3; ++i) r[3 * l + i] = a[3 * l + 2 - i];
  }
}

template <typename T>
struct Batch {
  std::size_t rows;
  std::unique_ptr<T[]> a, b, s, r;
  Layout layout{};
  UnitPart part{0, 0, 2};
  UnitParts units{&part, 0, 0.99, 1.01};
  Work work{};

  Batch(std::size_t rows, std::size_t lanes, KernelFn lane_fn)
      : rows(rows), a(new T[3 * rows]), b(new T[rows]), s(new T[2 * rows]), r(new T[3 * rows]) {
    for (std::size_t i = 0; i < rows; ++i) {
      b[i] = T(1 + i);
      a[3 * i] = T(std::cos(double(i)));
      a[3 * i + 1] = T(std::sin(double(i)));
      a[3 * i + 2] = T(i) / 4;
    }
    layout.lanes = lanes;
    layout.n_in = layout.n_out = 2;
    layout.in_row[0] = 3 * sizeof(T);
    layout.in_row[1] = sizeof(T);
    layout.out_row[0] = 2 * sizeof(T);
    layout.out_row[1] = 3 * sizeof(T);
    plan_scratch(layout);
    work.layout = &layout;
    work.lane_fn = lane_fn;
    work.single_fn = kernel<T, 1>;
    work.rows = rows;
    work.workspace = kWorkspace;
    work.finite = sizeof(T) == sizeof(double) ? all_finite_doubles : all_finite_floats;
    work.unit = sizeof(T) == sizeof(double) ? all_unit_doubles : all_unit_floats;
    work.units = &units;
    work.element_size = sizeof(T);
    work.in[0] = reinterpret_cast<const char*>(a.get());
    work.in[1] = reinterpret_cast<const char*>(b.get());
    work.out[0] = reinterpret_cast<char*>(s.get());
    work.out[1] = reinterpret_cast<char*>(r.get());
    clear();
  }

  void clear() {
    std::fill_n(s.get(), 2 * rows, T(-7));
    std::fill_n(r.get(), 3 * rows, T(-7));
    work.bad_values = work.out_of_memory = false;
  }

  bool row_right(std::size_t i) const {
    return s[2 * i] == a[3 * i] + b[i] && s[2 * i + 1] == a[3 * i + 1] * b[i] && r[3 * i] == a[3 * i + 2] &&
           r[3 * i + 1] == a[3 * i + 1] && r[3 * i + 2] == a[3 * i];
  }

  bool row_untouched(std::size_t i) const {
    return s[2 * i] == T(-7) && s[2 * i + 1] == T(-7) && r[3 * i] == T(-7) && r[3 * i + 2] == T(-7);
  }
};

template <typename T, std::size_t L>
void check_batch(std::size_t rows, const Split& split, bool by_rows) {
  Batch<T> batch(rows, L, by_rows ? nullptr : kernel<T, L>);
  calls = 0;
  CHECK(execute(batch.work, split) == Outcome::kDone);
  CHECK_EQUAL(calls.load(), static_cast<int>(by_rows ? rows : (rows + L - 1) / L));  // no block twice
  for (std::size_t i = 0; i < rows; ++i) CHECK(batch.row_right(i));
}

// Several blocks at once as long as there are so many, then block by block; each thread for its own rows.
template <std::size_t L, std::size_t B>
void check_blocks(std::size_t rows, std::size_t threads) {
  Batch<double> batch(rows, L, kernel<double, L>);
  batch.work.blocks_fn = kernel<double, B * L>;
  batch.work.blocks = B;
  calls = 0;
  CHECK(execute(batch.work, {threads, 1, Launch::kPool}) == Outcome::kDone);
  if (threads == 1) {
    const std::size_t rest = rows % (B * L);
    CHECK_EQUAL(calls.load(), static_cast<int>(rows / (B * L) + (rest + L - 1) / L));
  }
  for (std::size_t i = 0; i < rows; ++i) CHECK(batch.row_right(i));
}

template <typename T, std::size_t L>
void check_lanes() {
  for (const std::size_t threads : {1, 2, 3, 8}) {
    for (const std::size_t least : {0, 1, 2}) {
      for (std::size_t rows = 1; rows <= 4 * L + 3; ++rows) {
        check_batch<T, L>(rows, {threads, least, Launch::kPool}, false);
        check_batch<T, L>(rows, {threads, least, Launch::kPool}, true);
      }
      check_batch<T, L>(1001, {threads, least, Launch::kPool}, false);
    }
    check_batch<T, L>(5 * L + 1, {threads, 1, Launch::kNewThreads}, false);
  }
}

}  // namespace

TEST_CASE(execute_doubles, "execute: doubles in batches of all sizes, one to eight lanes, on any number of threads") {
  check_lanes<double, 1>();
  check_lanes<double, 4>();
  check_lanes<double, 8>();
}

TEST_CASE(execute_blocks, "execute: a function for several blocks takes what it can, others the rest") {
  for (std::size_t rows = 1; rows <= 100; ++rows) {
    for (const std::size_t threads : {1, 2, 3}) {
      check_blocks<4, 2>(rows, threads);
      check_blocks<8, 4>(rows, threads);
    }
  }
}

TEST_CASE(execute_floats, "execute: floats in batches of all sizes, on any number of threads") {
  check_lanes<float, 3>();
  check_lanes<float, 16>();
}

TEST_CASE(execute_layout, "execute: what a thread's scratch holds is aligned and does not overlap") {
  Batch<float> batch(1, 5, kernel<float, 5>);
  const Layout& layout = batch.layout;
  const std::size_t at[] = {layout.in_padded_at[0], layout.in_padded_at[1], layout.out_padded_at[0],
                            layout.out_padded_at[1], layout.workspace_at};
  const std::size_t bytes[] = {5 * 12, 5 * 4, 5 * 8, 5 * 12};
  for (int i = 0; i < 5; ++i) CHECK_EQUAL(at[i] % kScratchAlignment, std::size_t{0});
  for (int i = 0; i < 4; ++i) CHECK(at[i] + bytes[i] <= at[i + 1]);
}

TEST_CASE(execute_bad_values, "execute: a bad number in any row is found, and nothing is written on one thread") {
  for (const std::size_t rows : {1, 7, 8, 21}) {
    for (std::size_t bad = 0; bad < rows; ++bad) {
      Batch<double> batch(rows, 4, kernel<double, 4>);
      double& value = bad % 2 ? batch.b[bad] : batch.a[3 * bad + 2];
      const double kept = value;
      value = bad % 3 ? NAN : -INFINITY;
      CHECK(execute(batch.work, {1, 1, Launch::kPool}) == Outcome::kBadValues);
      for (std::size_t i = 0; i < rows; ++i) CHECK(batch.row_untouched(i));
      batch.work.finite = nullptr;  // asked not to look
      batch.clear();
      value = bad % 2 ? HUGE_VAL : value;  // the kernel itself asks for b >= 1
      CHECK(execute(batch.work, {1, 1, Launch::kPool}) == Outcome::kDone);
      value = kept;
    }
  }
}

TEST_CASE(execute_units, "execute: a vector that is not of unit length is found in any row, if it is asked for") {
  for (std::size_t bad = 0; bad < 21; ++bad) {
    Batch<float> batch(21, 4, kernel<float, 4>);
    for (std::size_t i = 0; i < 2; ++i) batch.a[3 * bad + i] *= 1.2f;
    CHECK(execute(batch.work, {1, 1, Launch::kPool}) == Outcome::kDone);
    batch.clear();
    batch.units.count = 1;
    CHECK(execute(batch.work, {1, 1, Launch::kPool}) == Outcome::kBadValues);
    for (std::size_t i = 0; i < 21; ++i) CHECK(batch.row_untouched(i));
  }
}

TEST_CASE(execute_bad_part, "execute: on several threads only the part with the bad number is left out") {
  for (std::size_t bad = 0; bad < 40; ++bad) {
    Batch<double> batch(40, 4, kernel<double, 4>);
    batch.a[3 * bad] = NAN;
    CHECK(execute(batch.work, {2, 1, Launch::kNewThreads}) == Outcome::kBadValues);
    for (std::size_t i = 0; i < 40; ++i) CHECK(i / 20 == bad / 20 ? batch.row_untouched(i) : batch.row_right(i));
  }
}

TEST_CASE(execute_out_of_memory, "execute: no memory for the workspace is said") {
  Batch<double> batch(40, 4, kernel<double, 4>);
  batch.work.workspace = std::size_t{1} << 60;
  CHECK(execute(batch.work, {1, 1, Launch::kPool}) == Outcome::kOutOfMemory);
  batch.clear();
  CHECK(execute(batch.work, {3, 1, Launch::kPool}) == Outcome::kOutOfMemory);
  for (std::size_t i = 0; i < 40; ++i) CHECK(batch.row_untouched(i));
}

TEST_CASE(execute_callers, "execute: callers at the same time do not meet in their scratch") {
  run_on_new_threads(4, [](void*, std::size_t, std::size_t) {
    for (std::size_t rows = 1; rows < 120; ++rows) {
      Batch<double> batch(rows, 8, kernel<double, 8>);
      CHECK(execute(batch.work, {2, 1, Launch::kPool}) == Outcome::kDone);
      for (std::size_t i = 0; i < rows; ++i) CHECK(batch.row_right(i));
    }
  }, nullptr);
}

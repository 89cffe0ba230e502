// Results written past the cache are those that were made, wherever arrays begin and end, and nothing beside them is.
#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

#include "core/execute.h"
#include "core/stream.h"
#include "core/threadpool.h"
#include "tests/check.h"

using namespace robomorph;

namespace {

constexpr unsigned char kGuard = 0xa5;
constexpr std::size_t kAround = 3 * kLine;

// The threshold of a test, and the one before it afterwards.
struct Threshold {
  std::size_t before = stream_above();
  explicit Threshold(std::size_t bytes) { set_stream_above(bytes); }
  ~Threshold() { set_stream_above(before); }
};

// Bytes that begin at a chosen place in a line, with guards around them. The block ends where the guard does.
struct Guarded {
  std::unique_ptr<unsigned char[]> block;
  std::size_t size, count;
  unsigned char* data;

  Guarded(std::size_t count, std::size_t offset) : size(count + 2 * kAround + kLine), count(count) {
    block.reset(new unsigned char[size]);
    std::memset(block.get(), kGuard, size);
    const auto address = reinterpret_cast<std::uintptr_t>(block.get() + kAround);
    data = block.get() + kAround + (kLine - address % kLine) % kLine + offset;
  }

  bool guards_whole() const {
    for (const unsigned char* at = block.get(); at < block.get() + size; ++at) {
      if ((at < data || at >= data + count) && *at != kGuard) return false;
    }
    return true;
  }
};

// Never the guard's value, and different from line to line.
unsigned char expected(std::size_t i) { return static_cast<unsigned char>((i * 7 + i / 251) % 160); }

void check_pieces(std::size_t offset, std::size_t piece, std::size_t pieces, std::size_t last) {
  Guarded array(piece * pieces + last, offset);
  // Filled with rubbish: what was not made may not be written.
  const std::size_t room = Stream::stage_bytes(piece > last ? piece : last);
  std::vector<unsigned char> memory(room + 2 * kLine, 0xee);
  auto* stage = memory.data() + (kLine - reinterpret_cast<std::uintptr_t>(memory.data()) % kLine) % kLine;
  Stream stream;
  stream.start(reinterpret_cast<char*>(stage), reinterpret_cast<char*>(array.data));
  std::size_t at = 0;
  for (std::size_t p = 0; p <= pieces; ++p) {
    const std::size_t bytes = p < pieces ? piece : last;
    auto* made = reinterpret_cast<unsigned char*>(stream.piece());
    CHECK(made >= stage && made + bytes <= stage + room);
    for (std::size_t i = 0; i < bytes; ++i) made[i] = expected(at + i);
    stream.push(bytes);
    at += bytes;
  }
  stream.finish();
  fence_streams();
  for (std::size_t i = 0; i < array.count; ++i) CHECK_EQUAL(array.data[i], expected(i));
  CHECK(array.guards_whole());
}

// (a (), b (2)) -> (s (), r (5), z (0)) for `L` rows: rows that no line is a multiple of.
template <typename T, std::size_t L>
void kernel(const void* const* in, void* const* out, void*) {
  const T* a = static_cast<const T*>(in[0]);
  const T* b = static_cast<const T*>(in[1]);
  T* s = static_cast<T*>(out[0]);
  T* r = static_cast<T*>(out[1]);
  for (std::size_t l = 0; l < L; ++l) {
    s[l] = a[l] / b[2 * l];
    for (std::size_t i = 0; i < 5; ++i) r[5 * l + i] = a[l] * T(i) - b[2 * l + 1];
  }
}

template <typename T, std::size_t L>
Layout make_layout() {
  Layout layout{};
  layout.lanes = L;
  layout.n_in = 2;
  layout.n_out = 3;
  layout.in_row[0] = sizeof(T);
  layout.in_row[1] = 2 * sizeof(T);
  layout.out_row[0] = sizeof(T);
  layout.out_row[1] = 5 * sizeof(T);
  layout.out_row[2] = 0;
  plan_scratch(layout);
  return layout;
}

// What a batch gives with this threshold: the bytes of both results.
template <typename T, std::size_t L>
std::vector<unsigned char> run(std::size_t rows, std::size_t offset, const Split& split, std::size_t threshold) {
  const Threshold set(threshold);
  const Layout layout = make_layout<T, L>();
  const std::unique_ptr<T[]> a(new T[rows]), b(new T[2 * rows]);
  for (std::size_t i = 0; i < rows; ++i) {
    a[i] = T(i) / 3;
    b[2 * i] = T(i + 1) / 7;
    b[2 * i + 1] = T(1) / T(i + 2);
  }
  Guarded s(rows * layout.out_row[0], offset), r(rows * layout.out_row[1], (kLine - offset) % kLine);
  Work work{};
  work.layout = &layout;
  work.lane_fn = kernel<T, L>;
  work.single_fn = kernel<T, 1>;
  work.rows = rows;
  work.element_size = sizeof(T);
  work.in[0] = reinterpret_cast<const char*>(a.get());
  work.in[1] = reinterpret_cast<const char*>(b.get());
  work.out[0] = reinterpret_cast<char*>(s.data);
  work.out[1] = reinterpret_cast<char*>(r.data);
  work.out[2] = work.out[1] + rows * layout.out_row[1];
  CHECK(execute(work, split) == Outcome::kDone);
  CHECK_EQUAL(work.streaming, threshold != kNeverStream);
  CHECK(s.guards_whole());
  CHECK(r.guards_whole());
  std::vector<unsigned char> bytes(s.data, s.data + s.count);
  bytes.insert(bytes.end(), r.data, r.data + r.count);
  return bytes;
}

template <typename T, std::size_t L>
void check_batches() {
  const std::size_t sizes[] = {1, L - 1, L, L + 1, 3 * L + 1, 64, 261};
  for (const std::size_t rows : sizes) {
    const std::vector<unsigned char> plain = run<T, L>(rows, 0, {1, 1, Launch::kPool}, kNeverStream);
    for (const std::size_t threads : {1, 2, 3}) {
      for (std::size_t offset = 0; offset < kLine; offset += sizeof(T)) {
        const std::vector<unsigned char> streamed = run<T, L>(rows, offset, {threads, 1, Launch::kPool}, 0);
        CHECK(streamed == plain);
      }
    }
    const std::vector<unsigned char> launched = run<T, L>(rows, sizeof(T), {3, 1, Launch::kNewThreads}, 0);
    CHECK(launched == plain);
  }
}

}  // namespace

TEST_CASE(stream_pieces, "stream: pieces of all sizes at all places in a line, byte by byte") {
  for (std::size_t offset = 0; offset < kLine; ++offset) {
    for (const std::size_t piece : {1, 4, 8, 24, 63, 64, 65, 128, 200, 1000}) {
      for (const std::size_t last : {0, 1, 40, 64, 71}) check_pieces(offset, piece, 5, last);
    }
    for (std::size_t bytes = 0; bytes <= 2 * kLine; ++bytes) check_pieces(offset, bytes, 0, bytes);
  }
}

TEST_CASE(stream_doubles, "stream: the same bits as ordinary stores, doubles at all offsets, threads and odd batches") {
  check_batches<double, 4>();
  check_batches<double, 8>();
}

TEST_CASE(stream_floats, "stream: the same bits as ordinary stores, floats at all offsets, threads and odd batches") {
  check_batches<float, 3>();
  check_batches<float, 16>();
}

TEST_CASE(stream_threshold, "stream: only results above the threshold, and only blocks of lanes") {
  const Layout layout = make_layout<double, 4>();
  double a[8] = {1, 2, 3, 4, 5, 6, 7, 8}, b[16], s[8], r[40];
  for (double& value : b) value = 2;
  const Threshold set(8 * 48 - 1);  // bytes of eight rows, less one
  Work work{};
  work.layout = &layout;
  work.lane_fn = kernel<double, 4>;
  work.single_fn = kernel<double, 1>;
  work.element_size = sizeof(double);
  work.in[0] = reinterpret_cast<const char*>(a);
  work.in[1] = reinterpret_cast<const char*>(b);
  work.out[0] = reinterpret_cast<char*>(s);
  work.out[1] = work.out[2] = reinterpret_cast<char*>(r);
  const auto streams = [&work](std::size_t rows) {
    work.rows = rows;
    CHECK(execute(work, {1, 1, Launch::kPool}) == Outcome::kDone);
    return work.streaming;
  };
  CHECK(streams(8));
  CHECK(!streams(7));
  set_stream_above(8 * 48);
  CHECK(!streams(8));
  set_stream_above(0);
  work.blocks_fn = kernel<double, 8>;
  work.blocks = 2;
  CHECK(!streams(8));
  work.blocks_fn = nullptr;
  work.lane_fn = nullptr;
  CHECK(!streams(8));
}

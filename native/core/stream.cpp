#include "core/stream.h"

#include <atomic>
#include <cstdint>
#include <cstring>

#include "core/cpus.h"

#if defined(__x86_64__) || defined(__SSE2__)
#define ROBOMORPH_STREAMS
#include <immintrin.h>
#endif

namespace robomorph {
namespace {

using CopyLines = void (*)(char* to, const char* from, std::size_t lines);

#if defined(ROBOMORPH_STREAMS)

// Wider stores fill a line at once; both addresses are aligned to a line.
__attribute__((target("avx512f"))) void copy_512(char* to, const char* from, std::size_t lines) {
  for (; lines > 0; --lines, to += kLine, from += kLine) {
    _mm512_stream_si512(reinterpret_cast<__m512i*>(to), _mm512_load_si512(from));
  }
}

__attribute__((target("avx"))) void copy_256(char* to, const char* from, std::size_t lines) {
  for (; lines > 0; --lines, to += kLine, from += kLine) {
    const __m256i* source = reinterpret_cast<const __m256i*>(from);
    __m256i* target = reinterpret_cast<__m256i*>(to);
    const __m256i first = _mm256_load_si256(source), second = _mm256_load_si256(source + 1);
    _mm256_stream_si256(target, first);
    _mm256_stream_si256(target + 1, second);
  }
}

void copy_128(char* to, const char* from, std::size_t lines) {
  for (; lines > 0; --lines, to += kLine, from += kLine) {
    const __m128i* source = reinterpret_cast<const __m128i*>(from);
    __m128i* target = reinterpret_cast<__m128i*>(to);
    for (int i = 0; i < 4; ++i) _mm_stream_si128(target + i, _mm_load_si128(source + i));
  }
}

CopyLines choose_copy() {
  if (__builtin_cpu_supports("avx512f")) return copy_512;
  return __builtin_cpu_supports("avx") ? copy_256 : copy_128;
}

constexpr bool kStreams = true;

#else

void copy_plain(char* to, const char* from, std::size_t lines) { std::memcpy(to, from, lines * kLine); }
CopyLines choose_copy() { return copy_plain; }
constexpr bool kStreams = false;

#endif

void copy_lines(char* to, const char* from, std::size_t lines) {
  static const CopyLines copy = choose_copy();
  copy(to, from, lines);
}

std::size_t default_threshold() {
  const std::size_t cache = last_level_cache();
  return kStreams && cache > 0 ? cache / 4 * 3 : kNeverStream;
}

std::atomic<std::size_t>& threshold_cell() {
  static std::atomic<std::size_t> cell{default_threshold()};
  return cell;
}

}  // namespace

std::size_t stream_above() { return threshold_cell().load(std::memory_order_relaxed); }

void set_stream_above(std::size_t bytes) { threshold_cell().store(bytes, std::memory_order_relaxed); }

void Stream::start(char* stage, char* destination) {
  stage_ = stage;
  filled_ = foreign_ = reinterpret_cast<std::uintptr_t>(destination) % kLine;
  line_ = destination - foreign_;
}

void Stream::push(std::size_t bytes) {
  filled_ += bytes;
  const std::size_t lines = filled_ / kLine;
  if (lines == 0) return;
  std::size_t begin = 0;
  if (foreign_ > 0) {
    std::memcpy(line_ + foreign_, stage_ + foreign_, kLine - foreign_);
    foreign_ = 0;
    begin = 1;
  }
  copy_lines(line_ + begin * kLine, stage_ + begin * kLine, lines - begin);
  std::memcpy(stage_, stage_ + lines * kLine, kLine);  // of a fixed size: quicker than what is needed
  line_ += lines * kLine;
  filled_ -= lines * kLine;
}

void Stream::finish() { std::memcpy(line_ + foreign_, stage_ + foreign_, filled_ - foreign_); }

void fence_streams() {
#if defined(ROBOMORPH_STREAMS)
  _mm_sfence();
#endif
}

}  // namespace robomorph

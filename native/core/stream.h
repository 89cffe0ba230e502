// Results that no cache can hold, written past it: ordinary stores would read every line first, and wait for it.
#pragma once

#include <cstddef>

namespace robomorph {

inline constexpr std::size_t kLine = 64;

// What a call streams: results of more bytes than this. Three quarters of the last-level cache; never where its size
// is not known or the processor has no such stores. Settable, for tests and experiments; the bits are the same.
inline constexpr std::size_t kNeverStream = ~std::size_t{0};
std::size_t stream_above();
void set_stream_above(std::size_t bytes);

// One result array that is written from its first to its last byte in pieces of any size. A piece is made in `stage`,
// where it lies in its lines as in the array: whole lines are streamed, what is left of the last one waits for the
// next piece. The first and the last line may belong to others in part, and get ordinary stores.
class Stream {
 public:
  // Room that pieces of at most `bytes` bytes need; the stage itself is aligned to a line.
  static constexpr std::size_t stage_bytes(std::size_t bytes) { return (bytes + kLine - 1) / kLine * kLine + kLine; }

  void start(char* stage, char* destination);
  // Where the next piece is to be made.
  char* piece() const { return stage_ + filled_; }
  // A piece of so many bytes is there.
  void push(std::size_t bytes);
  // Writes what is left. The array is complete, for other threads too, after `fence_streams`.
  void finish();

 private:
  char* stage_;
  char* line_;           // in the array: the line that the stage begins with
  std::size_t foreign_;  // bytes of that line that lie before the array
  std::size_t filled_;   // bytes of that line that are there, the foreign ones counted
};

void fence_streams();

}  // namespace robomorph

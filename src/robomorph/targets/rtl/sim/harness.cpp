// Drives a simulated design from arrays: states in, results out, with random pauses on both streams.
// Built once per design; the macros name the top module and the shapes of its streams.
#include <cstdint>
#include <memory>

#include "verilated.h"
#if RM_TRACE
#include "verilated_vcd_c.h"
#endif

#define RM_STRING_(x) #x
#define RM_STRING(x) RM_STRING_(x)
#define RM_JOIN_(a, b) a##b
#define RM_JOIN(a, b) RM_JOIN_(a, b)
#define RM_MODEL RM_JOIN(V, RM_TOP)
#define RM_HEADER_(x) RM_STRING(x.h)
#include RM_HEADER_(RM_MODEL)

namespace {

using Word = std::int32_t;

constexpr std::uint64_t kMask = (1ull << RM_CONTAINER) - 1;

// A beat on a port of any width: 32-bit pieces for wide ports, one integer for the others.
template <typename Port>
void put_word(Port& port, int lane, Word value) {
  const int low = lane * RM_CONTAINER;
  const std::uint64_t bits = static_cast<std::uint64_t>(static_cast<std::int64_t>(value)) & kMask;
  if constexpr (std::is_integral_v<Port>) {
    if (lane == 0) port = 0;
    port = static_cast<Port>(port | (static_cast<Port>(bits) << low));
  } else {
    for (int k = 0; k < RM_CONTAINER; k += 8) {
      const int at = low + k;
      const std::uint32_t mask = 0xffu << (at % 32);
      port[at / 32] = (port[at / 32] & ~mask) | (static_cast<std::uint32_t>((bits >> k) & 0xff) << (at % 32));
    }
  }
}

template <typename Port>
Word get_word(const Port& port, int lane) {
  const int low = lane * RM_CONTAINER;
  std::uint64_t bits = 0;
  if constexpr (std::is_integral_v<Port>) {
    bits = (static_cast<std::uint64_t>(port) >> low) & kMask;
  } else {
    for (int k = 0; k < RM_CONTAINER; k += 8) {
      const int at = low + k;
      bits |= static_cast<std::uint64_t>((port[at / 32] >> (at % 32)) & 0xff) << k;
    }
  }
  const int spare = 64 - RM_CONTAINER;
  return static_cast<Word>(static_cast<std::int64_t>(bits << spare) >> spare);
}

struct Random {
  std::uint64_t state;
  bool pause(int percent) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return static_cast<int>((state >> 33) % 100) < percent;
  }
};

}  // namespace

// Runs `states` states. `accepted`, `ready`, `finished`: the cycle that accepted a state's last word, the first
// that offered its result, the one that offered its last word. Returns the cycles run, or a negative number:
// -1 nothing moved for too long, -2 a stream ended in the wrong place.
extern "C" long long rm_run(long long states, const Word* in, Word* out, unsigned char* flags,
                            long long* accepted, long long* ready, long long* finished, int pause_in,
                            int pause_out, unsigned long long seed, int one_by_one, const char* trace,
                            int* sticky) {
  const auto context = std::make_unique<VerilatedContext>();
  context->fatalOnError(false);
  const auto top = std::make_unique<RM_MODEL>(context.get());
#if RM_TRACE
  std::unique_ptr<VerilatedVcdC> waves;
  if (trace != nullptr && trace[0] != 0) {
    context->traceEverOn(true);
    waves = std::make_unique<VerilatedVcdC>();
    top->trace(waves.get(), 99);
    waves->open(trace);
  }
#else
  (void)trace;
#endif
  Random random{seed * 2654435769ull + 88172645463325252ull};
  top->clk_i = 0;
  top->rst_ni = 0;
  top->s_axis_tvalid = 0;
  top->m_axis_tready = 0;
  top->eval();
  for (int k = 0; k < 4; ++k) {
    top->clk_i = !top->clk_i;
    top->eval();
  }
  top->rst_ni = 1;
  top->eval();

  long long cycle = 0, sent = 0, got = 0, quiet = 0;
  int beat_in = 0, beat_out = 0;
  bool offering = false;
  while (got < states) {
    // AXI4-Stream: once offered, a beat stays until it is accepted.
    const bool may_send = sent < states && (!one_by_one || sent == got);
    if (!offering && may_send && !random.pause(pause_in)) {
      offering = true;
      for (int lane = 0; lane < RM_LANES_IN; ++lane) {
        const int word = beat_in * RM_LANES_IN + lane;
        put_word(top->s_axis_tdata, lane, word < RM_WORDS_IN ? in[sent * RM_WORDS_IN + word] : 0);
      }
    }
    top->s_axis_tvalid = offering;
    top->s_axis_tlast = beat_in == RM_BEATS_IN - 1;
    top->m_axis_tready = !random.pause(pause_out);
    top->eval();
    const bool accept = top->s_axis_tvalid && top->s_axis_tready;
    const bool deliver = top->m_axis_tvalid && top->m_axis_tready;
    if (top->m_axis_tvalid && beat_out == 0 && ready[got] < 0) ready[got] = cycle;
    quiet = accept || deliver ? 0 : quiet + 1;
    if (deliver) {
      for (int lane = 0; lane < RM_LANES_OUT; ++lane) {
        const int word = beat_out * RM_LANES_OUT + lane;
        if (word < RM_WORDS_OUT) out[got * RM_WORDS_OUT + word] = get_word(top->m_axis_tdata, lane);
      }
      if (top->m_axis_tlast != (beat_out == RM_BEATS_OUT - 1)) return -2;
      if (++beat_out == RM_BEATS_OUT) {
        flags[got] = top->m_axis_tuser;
        finished[got++] = cycle;
        beat_out = 0;
      }
    }
    if (accept) {
      offering = false;
      if (++beat_in == RM_BEATS_IN) {
        accepted[sent++] = cycle;
        beat_in = 0;
      }
    }
    if (quiet > 100000) return -1;
    top->clk_i = 1;
    top->eval();
#if RM_TRACE
    if (waves) waves->dump(static_cast<std::uint64_t>(2 * cycle));
#endif
    top->clk_i = 0;
    top->eval();
#if RM_TRACE
    if (waves) waves->dump(static_cast<std::uint64_t>(2 * cycle + 1));
#endif
    if (context->gotError()) return -3;
    ++cycle;
  }
  sticky[0] = top->overflow_o;
  sticky[1] = top->misaligned_o;
  top->final();
#if RM_TRACE
  if (waves) waves->close();
#endif
  return cycle;
}

// Drives a simulated design from arrays: states in, results out, with random pauses on both streams, or through a
// link to a host that carries so many bits a cycle each way.
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
constexpr double kBeatIn = RM_CONTAINER * RM_LANES_IN, kBeatOut = RM_CONTAINER * RM_LANES_OUT;  // bits

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

// What one run is asked for and where its results go.
struct Job {
  long long states;
  const Word* in;
  Word* out;
  unsigned char* flags;
  long long *accepted, *ready, *finished;
  int pause_in, pause_out;
  double bits_in, bits_out;  // of the link, a cycle; 0: it carries all at once
  bool one_by_one;
  long long most_quiet;  // cycles in which nothing may move on either stream
};

class Bench {
 public:
  Bench(const Job& job, unsigned long long seed, const char* trace)
      : job_(job), random_{seed * 2654435769ull + 88172645463325252ull} {
    context_->fatalOnError(false);
    top_ = std::make_unique<RM_MODEL>(context_.get());
    open_waves(trace);
    reset();
  }

  long long run() {
    while (got_ < job_.states) {
      drive();
      if (!settle()) return -2;
      if (quiet_ > job_.most_quiet) return -1;
      tick();
      if (context_->gotError()) return -3;
      ++cycle_;
    }
    return cycle_;
  }

  // When the last bit of the results has passed the link, in cycles.
  double link_done() const { return job_.bits_out > 0 ? out_free_ : static_cast<double>(cycle_); }

  void finish(int* sticky) {
    sticky[0] = top_->overflow_o;
    sticky[1] = top_->misaligned_o;
    top_->final();
#if RM_TRACE
    if (waves_) waves_->close();
#endif
  }

 private:
  void open_waves(const char* trace) {
#if RM_TRACE
    if (trace == nullptr || trace[0] == 0) return;
    context_->traceEverOn(true);
    waves_ = std::make_unique<VerilatedVcdC>();
    top_->trace(waves_.get(), 99);
    waves_->open(trace);
#else
    (void)trace;
#endif
  }

  void reset() {
    top_->clk_i = 0;
    top_->rst_ni = 0;
    top_->s_axis_tvalid = 0;
    top_->m_axis_tready = 0;
    top_->eval();
    for (int k = 0; k < 4; ++k) {
      top_->clk_i = !top_->clk_i;
      top_->eval();
    }
    top_->rst_ni = 1;
    top_->eval();
  }

  // AXI4-Stream: once offered, a beat stays until it is accepted.
  void drive() {
    const bool may_send = sent_ < job_.states && (!job_.one_by_one || sent_ == got_);
    const bool arrived = job_.bits_in <= 0 || (beats_ + 1) * kBeatIn <= job_.bits_in * static_cast<double>(cycle_ + 1);
    if (!offering_ && may_send && arrived && !random_.pause(job_.pause_in)) {
      offering_ = true;
      ++beats_;
      for (int lane = 0; lane < RM_LANES_IN; ++lane) {
        const int word = beat_in_ * RM_LANES_IN + lane;
        put_word(top_->s_axis_tdata, lane, word < RM_WORDS_IN ? job_.in[sent_ * RM_WORDS_IN + word] : 0);
      }
    }
    top_->s_axis_tvalid = offering_;
    top_->s_axis_tlast = beat_in_ == RM_BEATS_IN - 1;
    // A beat taken in this cycle leaves in the next at the earliest.
    const bool link_free = job_.bits_out <= 0 || out_free_ <= static_cast<double>(cycle_ + 1);
    top_->m_axis_tready = link_free && !random_.pause(job_.pause_out);
    link_waits_ = (may_send && !offering_ && !arrived) || !link_free;
    top_->eval();
  }

  // What both streams hand over in this cycle; false if the output ended in the wrong place.
  bool settle() {
    const bool accept = top_->s_axis_tvalid && top_->s_axis_tready;
    const bool deliver = top_->m_axis_tvalid && top_->m_axis_tready;
    if (top_->m_axis_tvalid && beat_out_ == 0 && job_.ready[got_] < 0) job_.ready[got_] = cycle_;
    quiet_ = accept || deliver || link_waits_ ? 0 : quiet_ + 1;
    if (deliver && !take_beat()) return false;
    if (accept) {
      offering_ = false;
      if (++beat_in_ == RM_BEATS_IN) {
        job_.accepted[sent_++] = cycle_;
        beat_in_ = 0;
      }
    }
    return true;
  }

  bool take_beat() {
    const double next = static_cast<double>(cycle_ + 1);
    if (job_.bits_out > 0) out_free_ = (out_free_ > next ? out_free_ : next) + kBeatOut / job_.bits_out;
    for (int lane = 0; lane < RM_LANES_OUT; ++lane) {
      const int word = beat_out_ * RM_LANES_OUT + lane;
      if (word < RM_WORDS_OUT) job_.out[got_ * RM_WORDS_OUT + word] = get_word(top_->m_axis_tdata, lane);
    }
    if (top_->m_axis_tlast != (beat_out_ == RM_BEATS_OUT - 1)) return false;
    if (++beat_out_ == RM_BEATS_OUT) {
      job_.flags[got_] = top_->m_axis_tuser;
      job_.finished[got_++] = cycle_;
      beat_out_ = 0;
    }
    return true;
  }

  void tick() {
    for (int level = 1; level >= 0; --level) {
      top_->clk_i = level;
      top_->eval();
#if RM_TRACE
      if (waves_) waves_->dump(static_cast<std::uint64_t>(2 * cycle_ + (1 - level)));
#endif
    }
  }

  Job job_;
  Random random_;
  std::unique_ptr<VerilatedContext> context_ = std::make_unique<VerilatedContext>();
  std::unique_ptr<RM_MODEL> top_;
#if RM_TRACE
  std::unique_ptr<VerilatedVcdC> waves_;
#endif
  long long cycle_ = 0, sent_ = 0, got_ = 0, quiet_ = 0;
  double beats_ = 0, out_free_ = 0;  // beats offered; when the link back is free again, in cycles
  int beat_in_ = 0, beat_out_ = 0;
  bool offering_ = false, link_waits_ = false;
};

}  // namespace

// Runs `states` states. `accepted`, `ready`, `finished`: the cycle that accepted a state's last word, the first
// that offered its result, the one that offered its last word. Returns the cycles run, or a negative number:
// -1 nothing moved for too long, -2 a stream ended in the wrong place, -3 an assertion failed.
// bits_in, bits_out: what a link to the host carries in a cycle (0: all at once); link_done: the cycle, and part of
// one, in which the last bit of the results has passed it.
extern "C" long long rm_run(long long states, const Word* in, Word* out, unsigned char* flags,
                            long long* accepted, long long* ready, long long* finished, int pause_in,
                            int pause_out, double bits_in, double bits_out, unsigned long long seed, int one_by_one,
                            const char* trace, int* sticky, double* link_done, long long most_quiet) {
  const Job job{states, in, out, flags, accepted, ready, finished, pause_in, pause_out, bits_in, bits_out,
                one_by_one != 0, most_quiet};
  Bench bench(job, seed, trace);
  const long long cycles = bench.run();
  *link_done = bench.link_done();
  if (cycles >= 0) bench.finish(sticky);
  return cycles;
}

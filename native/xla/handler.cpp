#include "xla/handler.h"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstring>
#include <limits>

#include "core/cpus.h"
#include "xla/callees.h"

namespace robomorph::xla {
namespace {

constexpr char kKernel[] = "kernel";
constexpr char kLabel[] = "label";  // of people: what the kernel computes, of which robot
constexpr std::size_t kLongest = 1024;

std::atomic<int> reported_minor{kMinor};

Error* refuse(const CallFrame* frame, ErrorCode code, const char* text) {
  ErrorArguments arguments{sizeof(ErrorArguments), nullptr, text, code};
  return frame->api->create_error(&arguments);
}

const Text* find_text(const Attributes& attributes, const char* name) {
  const std::size_t size = std::strlen(name);
  for (std::int64_t i = 0; i < attributes.count; ++i) {
    const Text& found = *attributes.names[i];
    if (attributes.kinds[i] == kString && found.size == size && std::memcmp(found.data, name, size) == 0) {
      return static_cast<const Text*>(attributes.values[i]);
    }
  }
  return nullptr;
}

Error* refuse_unknown(const CallFrame* frame, const Text* label) {
  char text[kLongest];
  std::snprintf(text, sizeof(text),
                "robomorph: no kernel for %.*s in this process: load the robot and call "
                "robomorph.jax.Functions(robot).prepare(...) with the function's name first",
                label == nullptr ? 16 : static_cast<int>(std::min(label->size, kLongest / 2)),
                label == nullptr ? "an unnamed call" : label->data);
  return refuse(frame, kNotFound, text);
}

Error* refuse_buffer(const CallFrame* frame, const Callee& callee, const char* what, std::int64_t index) {
  char text[kLongest];
  std::snprintf(text, sizeof(text), "robomorph: %s %lld of kernel %s has another shape or dtype than the kernel", what,
                static_cast<long long>(index), callee.name.c_str());
  return refuse(frame, kInvalidArgument, text);
}

// The rows of a buffer of the callee's dtype that ends in the shape of one row; -1 if it does not.
std::int64_t count_rows(const Buffer& buffer, const RowDims& row, const Callee& callee) {
  const std::int64_t lead = buffer.rank - row.rank;
  if (buffer.type != (callee.doubles ? kFloat64 : kFloat32) || lead < 0) return -1;
  for (int d = 0; d < row.rank; ++d) {
    if (buffer.dims[lead + d] != row.dims[d]) return -1;
  }
  std::int64_t rows = 1;
  for (std::int64_t d = 0; d < lead; ++d) rows *= buffer.dims[d];
  return rows;
}

// Index of the first buffer that does not fit, or -1. The first buffer seen tells how many rows there are.
std::int64_t read(const Buffers& buffers, const RowDims* rows_of, std::size_t expected, const Callee& callee,
                  std::int64_t& rows, void** data) {
  if (buffers.count != static_cast<std::int64_t>(expected)) return buffers.count;
  for (std::int64_t i = 0; i < buffers.count; ++i) {
    if (buffers.kinds[i] != kBuffer) return i;
    const Buffer& buffer = *static_cast<const Buffer*>(buffers.items[i]);
    const std::int64_t found = count_rows(buffer, rows_of[i], callee);
    if (rows < 0) rows = found;
    if (found < 0 || found != rows) return i;
    data[i] = buffer.data;
  }
  return -1;
}

template <typename T>
void fill_nan(void* data, std::size_t count) {
  std::fill_n(static_cast<T*>(data), count, std::numeric_limits<T>::quiet_NaN());
}

void poison_row(const Work& work, const Callee& callee, std::size_t row) {
  for (std::size_t j = 0; j < callee.layout.n_out; ++j) {
    const std::size_t bytes = callee.layout.out_row[j];
    void* at = work.out[j] + row * bytes;
    if (callee.doubles) {
      fill_nan<double>(at, bytes / sizeof(double));
    } else {
      fill_nan<float>(at, bytes / sizeof(float));
    }
  }
}

// A quaternion of another length than one gives NaN: no exception can leave a compiled program.
void poison_rows(const Work& work, const Callee& callee) {
  const UnitFn unit = callee.doubles ? all_unit_doubles : all_unit_floats;
  const std::size_t item = callee.doubles ? sizeof(double) : sizeof(float);
  for (std::size_t k = 0; k < callee.units.count; ++k) {
    const UnitPart& part = callee.units.parts[k];
    const std::size_t bytes = callee.layout.in_row[part.input];
    if (unit(work.in[part.input], bytes / item, work.rows, part, callee.units)) continue;
    for (std::size_t row = 0; row < work.rows; ++row) {
      if (!unit(work.in[part.input] + row * bytes, bytes / item, 1, part, callee.units)) {
        poison_row(work, callee, row);
      }
    }
  }
}

Outcome run(Work& work, const Callee& callee) {
  const bool by_rows = callee.lane_fn == nullptr || (work.rows < callee.single_limit && callee.single_fn != nullptr);
  work.layout = &callee.layout;
  work.lane_fn = by_rows ? nullptr : callee.lane_fn;
  work.single_fn = callee.single_fn;
  work.blocks_fn = by_rows ? nullptr : callee.blocks_fn;
  work.blocks = callee.blocks;
  work.workspace = callee.workspace;
  work.finite = nullptr;
  work.unit = nullptr;
  work.units = nullptr;
  work.element_size = callee.doubles ? sizeof(double) : sizeof(float);
  const std::size_t threads = callee.threads > 0 ? callee.threads : default_threads();
  const Outcome outcome = execute(work, Split{threads, callee.min_blocks_per_thread, Launch::kPool});
  if (outcome == Outcome::kDone && callee.units.count > 0) poison_rows(work, callee);
  return outcome;
}

Error* compute(const CallFrame* frame, const Callee& callee) {
  Work work;
  void* in[kMaxArrays];
  void* out[kMaxArrays];
  std::int64_t rows = -1;
  const std::int64_t bad_in = read(frame->arguments, callee.in, callee.layout.n_in, callee, rows, in);
  if (bad_in >= 0) return refuse_buffer(frame, callee, "argument", bad_in);
  const std::int64_t bad_out = read(frame->results, callee.out, callee.layout.n_out, callee, rows, out);
  if (bad_out >= 0) return refuse_buffer(frame, callee, "result", bad_out);
  if (rows == 0) return nullptr;
  for (std::size_t i = 0; i < callee.layout.n_in; ++i) work.in[i] = static_cast<const char*>(in[i]);
  for (std::size_t j = 0; j < callee.layout.n_out; ++j) work.out[j] = static_cast<char*>(out[j]);
  work.rows = static_cast<std::size_t>(rows);
  if (run(work, callee) == Outcome::kDone) return nullptr;
  return refuse(frame, kResourceExhausted, "robomorph: out of memory for a kernel's workspace");
}

// XLA asks which version a handler was made for, and refuses those that it does not support.
Error* tell_version(const CallFrame* frame, const MetadataExtension& extension) {
  Metadata& metadata = *extension.metadata;
  const int known = reported_minor.load(std::memory_order_relaxed);
  const int theirs = frame->api != nullptr ? frame->api->version.minor : known;
  metadata.version.size = sizeof(Version);
  metadata.version.extensions = nullptr;
  metadata.version.major = kMajor;
  metadata.version.minor = std::min(known, theirs);
  metadata.traits = 0;
  if (metadata.size >= sizeof(Metadata)) metadata.state_type = 0;
  return nullptr;
}

}  // namespace

void set_reported_minor(int minor) { reported_minor.store(minor, std::memory_order_relaxed); }

Error* handle_call(CallFrame* frame) {
  if (frame->extensions != nullptr && frame->extensions->type == kMetadataExtension) {
    return tell_version(frame, *reinterpret_cast<const MetadataExtension*>(frame->extensions));
  }
  if (frame->api->version.major != kMajor || frame->size < sizeof(CallFrame)) {
    return refuse(frame, kUnimplemented, "robomorph: this version of XLA's foreign-function interface is not known");
  }
  if (frame->stage != kExecute) return nullptr;
  const Text* name = find_text(frame->attributes, kKernel);
  const Callee* callee = name == nullptr ? nullptr : find_callee(name->data, name->size);
  if (callee == nullptr) return refuse_unknown(frame, find_text(frame->attributes, kLabel));
  return compute(frame, *callee);
}

}  // namespace robomorph::xla

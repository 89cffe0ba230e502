#include <atomic>
#include <cmath>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "tests/check.h"
#include "xla/callees.h"
#include "xla/handler.h"

using namespace robomorph;
using namespace robomorph::xla;

namespace {

constexpr std::size_t kLanes = 4;

// Two outputs of rows of three numbers: b = x + y, c = the sum of x. Inputs x (3) and y (1).
template <std::size_t rows>
void kernel(const void* const* in, void* const* out, void*) {
  const auto* x = static_cast<const double*>(in[0]);
  const auto* y = static_cast<const double*>(in[1]);
  for (std::size_t row = 0; row < rows; ++row) {
    double sum = 0;
    for (std::size_t k = 0; k < 3; ++k) {
      static_cast<double*>(out[0])[row * 3 + k] = x[row * 3 + k] + y[row];
      sum += x[row * 3 + k];
    }
    static_cast<double*>(out[1])[row] = sum;
  }
}

Callee* make_callee(const char* name) {
  static UnitPart unit{0, 1, 2};
  auto* callee = new Callee();  // lives as long as the process, as they all do
  callee->name = name;
  callee->layout.lanes = kLanes;
  callee->layout.n_in = callee->layout.n_out = 2;
  callee->in[0] = callee->out[0] = {1, {3}};
  callee->in[1] = callee->out[1] = {0, {}};
  callee->layout.in_row[0] = callee->layout.out_row[0] = 3 * sizeof(double);
  callee->layout.in_row[1] = callee->layout.out_row[1] = sizeof(double);
  plan_scratch(callee->layout);
  callee->doubles = true;
  callee->lane_fn = kernel<kLanes>;
  callee->single_fn = kernel<1>;
  callee->threads = callee->min_blocks_per_thread = 1;
  callee->single_limit = 2;
  callee->units = {&unit, 1, 0.99 * 0.99, 1.01 * 1.01};
  return callee;
}

std::string message;
ErrorCode code;

Error* create_error(ErrorArguments* arguments) {
  message = arguments->message;
  code = arguments->code;
  return reinterpret_cast<Error*>(&message);
}

// A call as XLA makes it: buffers with dimensions, attributes with names.
struct Call {
  Api api{sizeof(Api), nullptr, {sizeof(Version), nullptr, 0, 3}, nullptr, create_error};
  std::vector<std::vector<std::int64_t>> dims;
  std::vector<Buffer> buffers;
  std::vector<void*> in, out;
  std::vector<BufferKind> kinds{8, kBuffer};
  Text name, label{"a kernel of a test", 18};
  Text kernel_key{"kernel", 6}, label_key{"label", 5};
  AttributeKind attribute_kinds[2] = {kString, kString};
  Text* names[2] = {&kernel_key, &label_key};
  void* values[2] = {&name, &label};
  CallFrame frame{};

  explicit Call(const char* kernel) : name{kernel, std::strlen(kernel)} { buffers.reserve(8), dims.reserve(8); }

  void add(std::vector<void*>& side, void* data, std::vector<std::int64_t> shape, ElementType type = kFloat64) {
    dims.push_back(std::move(shape));
    buffers.push_back({sizeof(Buffer), nullptr, type, data, static_cast<std::int64_t>(dims.back().size()),
                       dims.back().data()});
    side.push_back(&buffers.back());
  }

  Error* run() {
    frame.size = sizeof(CallFrame);
    frame.api = &api;
    frame.stage = kExecute;
    frame.arguments = {sizeof(Buffers), nullptr, static_cast<std::int64_t>(in.size()), kinds.data(), in.data()};
    frame.results = {sizeof(Buffers), nullptr, static_cast<std::int64_t>(out.size()), kinds.data(), out.data()};
    frame.attributes = {sizeof(Attributes), nullptr, 2, attribute_kinds, names, values};
    return handle_call(&frame);
  }
};

struct Arrays {
  std::vector<double> x, y, b, c;
  explicit Arrays(std::size_t rows) : x(3 * rows), y(rows), b(3 * rows, 7), c(rows, 7) {
    for (std::size_t row = 0; row < rows; ++row) {
      x[3 * row] = static_cast<double>(row);
      x[3 * row + 1] = 0.6, x[3 * row + 2] = 0.8;
      y[row] = 100;
    }
  }
  void give(Call& call, const std::vector<std::int64_t>& lead) {
    std::vector<std::int64_t> rows = lead, wide = lead;
    wide.push_back(3);
    call.add(call.in, x.data(), wide), call.add(call.in, y.data(), rows);
    call.add(call.out, b.data(), wide), call.add(call.out, c.data(), rows);
  }
};

}  // namespace

TEST_CASE(batches, "xla_handler: batches of every shape") {
  add_callee(make_callee("batches"));
  const std::vector<std::vector<std::int64_t>> leads = {{}, {1}, {2}, {5}, {2, 3}, {0}, {3, 0}, {9}};
  for (const auto& lead : leads) {
    std::size_t rows = 1;
    for (const std::int64_t n : lead) rows *= static_cast<std::size_t>(n);
    Arrays arrays(rows);
    Call call("batches");
    arrays.give(call, lead);
    CHECK(call.run() == nullptr);
    for (std::size_t row = 0; row < rows; ++row) {
      CHECK_EQUAL(arrays.b[3 * row], 100.0 + static_cast<double>(row));
      CHECK_NEAR(arrays.c[row], static_cast<double>(row) + 1.4, 1e-12);
    }
  }
}

TEST_CASE(lanes_alone, "xla_handler: one row by the code for many, many by that for one") {
  Callee* lanes = make_callee("lanes");
  lanes->single_fn = nullptr;
  add_callee(lanes);
  Callee* single = make_callee("single");
  single->lane_fn = nullptr;
  add_callee(single);
  for (const char* name : {"lanes", "single"}) {
    for (const std::int64_t rows : {1, 6}) {
      Arrays arrays(static_cast<std::size_t>(rows));
      Call call(name);
      arrays.give(call, {rows});
      CHECK(call.run() == nullptr);
      CHECK_EQUAL(arrays.b[3 * (rows - 1)], 100.0 + static_cast<double>(rows - 1));
    }
  }
}

TEST_CASE(units, "xla_handler: rows with vectors of another length are NaN, no others") {
  add_callee(make_callee("units"));
  Arrays arrays(6);
  arrays.x[3 * 2 + 1] = 0.7;
  arrays.x[3 * 5 + 2] = std::nan("");
  Call call("units");
  arrays.give(call, {6});
  CHECK(call.run() == nullptr);
  for (std::size_t row = 0; row < 6; ++row) {
    const bool bad = row == 2 || row == 5;
    CHECK_EQUAL(std::isnan(arrays.b[3 * row]), bad);
    CHECK_EQUAL(std::isnan(arrays.c[row]), bad);
  }
}

TEST_CASE(refusals, "xla_handler: what does not fit is refused and nothing written") {
  add_callee(make_callee("refusals"));
  Arrays arrays(2);
  {
    Call call("nobody");
    arrays.give(call, {2});
    CHECK(call.run() != nullptr);
    CHECK_EQUAL(static_cast<int>(code), static_cast<int>(kNotFound));
    CHECK(message.find("no kernel for a kernel of a test in this process") != std::string::npos);
  }
  const auto refused = [&](auto change) {
    Call call("refusals");
    arrays.give(call, {2});
    change(call);
    CHECK(call.run() != nullptr);
    CHECK_EQUAL(static_cast<int>(code), static_cast<int>(kInvalidArgument));
    CHECK_EQUAL(arrays.b[0], 7.0);
  };
  refused([](Call& call) { call.dims[0][1] = 4; });
  refused([](Call& call) { call.dims[1][0] = 3; });
  refused([](Call& call) { call.dims[2][0] = 1; });
  refused([](Call& call) { call.buffers[0].rank = 0; });
  refused([](Call& call) { call.buffers[3].type = kFloat32; });
  refused([](Call& call) { call.in.pop_back(); });
  refused([](Call& call) { call.out.pop_back(); });
  Call call("refusals");
  arrays.give(call, {2});
  call.api.version.major = 1;
  CHECK(call.run() != nullptr);
  CHECK_EQUAL(static_cast<int>(code), static_cast<int>(kUnimplemented));
}

TEST_CASE(metadata, "xla_handler: tells the version it was made for, theirs if that is older") {
  Api api{sizeof(Api), nullptr, {sizeof(Version), nullptr, 0, 1}, nullptr, create_error};
  Metadata metadata{};
  metadata.size = sizeof(Metadata);
  MetadataExtension extension{{sizeof(MetadataExtension), kMetadataExtension, nullptr}, &metadata};
  CallFrame frame{};
  frame.extensions = &extension.extension;
  CHECK(handle_call(&frame) == nullptr);
  CHECK_EQUAL(metadata.version.major, 0);
  CHECK_EQUAL(metadata.version.minor, kMinor);
  frame.api = &api;
  CHECK(handle_call(&frame) == nullptr);
  CHECK_EQUAL(metadata.version.minor, 1);
  set_reported_minor(0);
  CHECK(handle_call(&frame) == nullptr);
  CHECK_EQUAL(metadata.version.minor, 0);
  set_reported_minor(kMinor);
}

TEST_CASE(threads, "xla_handler: names are found while others are added, the latest first") {
  std::atomic<bool> done{false};
  std::atomic<std::size_t> found{0};
  std::thread reader([&] {
    while (!done.load()) {
      if (find_callee("many 0", 6) != nullptr) found.fetch_add(1);
    }
  });
  for (int k = 0; k < 3000; ++k) add_callee(make_callee(("many " + std::to_string(k)).c_str()));
  while (found.load() == 0) std::this_thread::yield();
  done.store(true);
  reader.join();
  for (int k = 0; k < 3000; ++k) {
    const std::string name = "many " + std::to_string(k);
    const Callee* callee = find_callee(name.data(), name.size());
    CHECK(callee != nullptr && callee->name == name);
  }
  Callee* later = make_callee("many 7");
  add_callee(later);
  CHECK(find_callee("many 7", 6) == later);
  CHECK(find_callee("many", 4) == nullptr);
}

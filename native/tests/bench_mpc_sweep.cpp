// How long sweeps take, best of many; not a test. Built with -DROBOMORPH_NATIVE_BENCH=ON.
//
//   bench_mpc_sweep            the table
//   bench_mpc_sweep NV HORIZON ROWS LANES VERSION COUNT     runs one sweep COUNT times, for a profiler
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <vector>

#include "mpc/sweep_versions.h"
#include "tests/control_problem.h"

namespace {

using namespace robomorph;
using Clock = std::chrono::steady_clock;

struct Named {
  const char* name;
  const mpc::SweepVersions& versions;
};

std::vector<Named> all_versions() {
  std::vector<Named> out = {{"plain", mpc::sweep_plain()}};
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) out.push_back({"avx2", mpc::sweep_avx2()});
  if (__builtin_cpu_supports("avx512f")) out.push_back({"avx512", mpc::sweep_avx512()});
#endif
  return out;
}

struct Run {
  tests::ControlBundle bundle;
  std::unique_ptr<mpc::Sweep> sweep;

  Run(const mpc::Shape& shape, const mpc::SweepVersions& versions)
      : bundle(problems(shape), false), sweep(mpc::make_sweep(shape, versions)) {}

  static std::vector<tests::ControlProblem> problems(const mpc::Shape& shape) {
    std::mt19937 random(1);
    std::vector<tests::ControlProblem> out;
    for (int p = 0; p < shape.problems; ++p) out.push_back(tests::random_problem(shape, random));
    return out;
  }
  void solve() {
    auto& b = bundle;
    sweep->solve(b.model, b.dq0.data(), b.dv0.data(), b.regularisation.data(), b.direction, b.ok.get());
  }
  void again() {
    auto& b = bundle;
    sweep->again(b.model, b.dq0.data(), b.dv0.data(), b.direction, b.ok.get());
  }
};

template <typename Function>
double best(Function f) {
  double least = 1e9;
  const auto end = Clock::now() + std::chrono::milliseconds(400);
  for (int i = 0; i < 20 || Clock::now() < end; ++i) {
    const auto start = Clock::now();
    f();
    least = std::min(least, std::chrono::duration<double>(Clock::now() - start).count());
  }
  return least;
}

mpc::Shape shape_of(int nv, int horizon, int rows, int problems) {
  mpc::Shape s;
  s.nv = nv, s.horizon = horizon, s.rows = rows, s.problems = problems, s.dt = 0.01;
  return s;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 7) {
    const mpc::Shape shape = shape_of(std::atoi(argv[1]), std::atoi(argv[2]), std::atoi(argv[3]), std::atoi(argv[4]));
    for (const Named& v : all_versions()) {
      if (std::strcmp(v.name, argv[5]) != 0) continue;
      Run run(shape, v.versions);
      for (int i = 0; i < std::atoi(argv[6]); ++i) run.solve();
    }
    return 0;
  }
  std::printf("%4s %4s %5s %-9s %-7s %12s %12s\n", "nv", "N", "rows", "lanes", "version", "solve/us", "again/us");
  for (int problems : {1, mpc::kLanes}) {
    for (const auto& [nv, horizon, rows] : {std::array{7, 100, 0}, {7, 64, 0}, {7, 100, 6}, {7, 64, 6}, {12, 100, 0}, {30, 100, 0}}) {
      for (const Named& v : all_versions()) {
        Run run(shape_of(nv, horizon, rows, problems), v.versions);
        const double solve = best([&] { run.solve(); }), again = best([&] { run.again(); });
        std::printf("%4d %4d %5d %-9s %-7s %12.2f %12.2f%s\n", nv, horizon, rows, problems == 1 ? "nodes" : "problems",
                    v.name, 1e6 * solve / problems, 1e6 * again / problems, run.bundle.ok[0] ? "" : "  not ok");
      }
    }
  }
  return 0;
}

#include "mpc/sweep.h"

#include <algorithm>
#include <new>

#include "mpc/sweep_versions.h"

namespace robomorph::mpc {
namespace {

class VersionSweep : public Sweep {
 public:
  VersionSweep(const Shape& shape, const SweepVersion& version)
      : shape_(shape), version_(version), memory_(take(version.numbers(shape))) {
    std::fill_n(memory_.get(), version.numbers(shape), 0.0);
    std::fill_n(regularisation_, kLanes, 0.0);
    version.prepare(shape, memory_.get());
  }

  void solve(const Quadratic& model, const double* dq0, const double* dv0, const double* regularisation,
             const Direction& direction, bool* ok) override {
    std::copy_n(regularisation, shape_.problems, regularisation_);
    run(model, dq0, dv0, true, direction, ok);
  }

  void again(const Quadratic& model, const double* dq0, const double* dv0, const Direction& direction,
             bool* ok) override {
    run(model, dq0, dv0, false, direction, ok);
  }

 private:
  void run(const Quadratic& model, const double* dq0, const double* dv0, bool matrices, const Direction& direction,
           bool* ok) {
    if (std::none_of(ok, ok + shape_.problems, [](bool wanted) { return wanted; })) return;
    version_.back(shape_, model, regularisation_, matrices, memory_.get(), ok);
    if (shape_.problems == 1 && !ok[0]) return;
    version_.forth(shape_, dq0, dv0, regularisation_, matrices, direction, memory_.get(), ok);
  }

  static constexpr std::align_val_t kAlignment{64};
  struct Free {
    void operator()(double* p) const { ::operator delete[](p, kAlignment); }
  };
  static double* take(std::size_t size) {
    return static_cast<double*>(::operator new[](size * sizeof(double), kAlignment));
  }

  const Shape shape_;
  const SweepVersion& version_;
  std::unique_ptr<double[], Free> memory_;
  double regularisation_[kLanes];
};

}  // namespace

const SweepVersions& sweep_best() {
#if defined(__x86_64__)
  static const SweepVersions& best = __builtin_cpu_supports("avx512f")                                ? sweep_avx512()
                                     : __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") ? sweep_avx2()
                                                                                                       : sweep_plain();
  return best;
#else
  return sweep_plain();
#endif
}

std::unique_ptr<Sweep> make_sweep(const Shape& shape, const SweepVersions& versions) {
  return std::make_unique<VersionSweep>(shape, *(shape.problems == 1 ? versions.nodes : versions.problems)(shape));
}

std::unique_ptr<Sweep> make_sweep(const Shape& shape) { return make_sweep(shape, sweep_best()); }

}  // namespace robomorph::mpc

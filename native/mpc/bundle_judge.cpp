// When an iteration is the last one, and what the next begins with.
#include <algorithm>
#include <cmath>

#include "mpc/bundle.h"

namespace robomorph::mpc {
namespace {

constexpr double kPrecision = 1e-8;     // of costs, relative
constexpr double kLeast = 1e-13;        // of costs, in their unit
constexpr double kLastMu = 1e-9;        // relative to the cost
constexpr int kMostRefused = 12;

double last_mu(const Progress& p) { return std::max(kLastMu * p.now.cost, kLeast * p.unit) + 1e-100; }

}  // namespace

bool Bundle::is_optimal(const Progress& p) const {
  if (p.gap || !p.falling) return false;
  if (p.decrease > kPrecision * p.now.cost + kLeast * p.unit) return false;
  const int bounds = w_.bounds[&p - p_];
  if (bounds == 0) return true;
  return p.mu <= 1.01 * last_mu(p) && p.now.product <= 10.0 * bounds * p.mu &&
         p.now.worst_residual <= 0.1 * problem_.tolerance && p.now.violation <= problem_.tolerance;
}

void Bundle::lower_mu(Progress& p) {
  const int bounds = w_.bounds[&p - p_];
  if (bounds == 0 || !p.falling) return;
  const double least = std::min(p.primal, p.dual);
  const double share = least > 0.9 ? 0.1 : least > 0.3 ? 0.3 : 0.8;
  p.mu = std::max(std::min(p.mu, share * p.now.product / bounds), last_mu(p));
}

void Bundle::raise_regularisation(Progress& p) {
  p.regularisation = std::max(10.0 * p.regularisation, 1e-6 * std::max(p.unit, 1e-6));
}

void Bundle::end_iteration(int i) {
  Progress& p = p_[i];
  ++p.iterations;
  p.now = p.next;
  if (p.primal == 0.0) {
    ++p.refused;
    raise_regularisation(p);
    p.forget();
  } else {
    p.refused = 0;
    p.regularisation = p.regularisation > 1e-12 * p.unit ? 0.2 * p.regularisation : 0.0;
    p.remember(p.now);
    lower_mu(p);
  }
  if (p.refused >= kMostRefused) {
    p.active = false;
    p.code = Code::kStalled;
  } else if (p.iterations >= problem_.cap) {
    p.active = false;
    p.code = Code::kIterations;
  }
}

}  // namespace robomorph::mpc

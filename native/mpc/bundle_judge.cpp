// When an iteration is the last one, and what the next begins with.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "mpc/bundle.h"

namespace robomorph::mpc {
namespace {

constexpr double kPrecision = 1e-8;     // of costs, relative
constexpr double kLeast = 1e-13;        // of costs, in their unit
constexpr double kLastMu = 1e-9;        // relative to the cost
constexpr double kEndPrecision = 5e-8;  // the same, of what a further step would gain
constexpr double kFastRate = 0.3;
constexpr double kSolvedEnough = 10.0;  // mu waits until a step promises less, in units of mu and bounds
constexpr int kMostRefused = 12;

double last_mu(const Progress& p) { return std::max(kLastMu * p.now.cost, kLeast * p.unit) + 1e-100; }

}  // namespace

bool Bundle::is_optimal(const Progress& p) const {
  if (p.gap || !p.falling) return false;
  if (p.decrease > kPrecision * p.now.cost + kLeast * p.unit) return false;
  return bounds_hold(p);
}

bool Bundle::bounds_hold(const Progress& p) const {
  const int bounds = w_.bounds[&p - p_];
  if (bounds == 0) return true;
  return p.mu <= 1.01 * last_mu(p) && p.now.product <= 10.0 * bounds * p.mu &&
         p.now.worst_residual <= 0.1 * problem_.tolerance && p.now.violation <= problem_.tolerance;
}

// Decreases fall by a constant factor near the end: is the next one going to be negligible?
bool Bundle::will_be_optimal(const Progress& p) const {
  if (p.gap || !p.falling || p.last_decrease <= 0.0) return false;
  const double rate = p.decrease / p.last_decrease;
  return rate < kFastRate && rate * p.decrease <= kEndPrecision * p.now.cost && bounds_hold(p);
}

void Bundle::lower_mu(Progress& p) {
  const int bounds = w_.bounds[&p - p_];
  if (bounds == 0 || !p.falling) return;
  if (p.decrease > kSolvedEnough * p.mu * bounds) return;
  const double least = std::min(p.primal, p.dual);
  const double share = least > 0.9 ? 0.05 : least > 0.3 ? 0.2 : 0.6;
  p.mu = std::max(std::min(p.mu, share * p.now.product / bounds), last_mu(p));
}

void Bundle::raise_regularisation(Progress& p, double by) {
  p.regularisation = std::max(by * p.regularisation, p.stiffness);
}

// As the model's promises were kept.
void Bundle::adapt_regularisation(Progress& p) {
  const double promised = -p.primal * (p.slope + 0.5 * p.primal * p.curve);
  const double kept = p.now.merit(p.mu, p.penalty) - p.next.merit(p.mu, p.penalty);
  if (p.last_decrease <= 0.0) return;
  if (kept < 0.1 * promised) raise_regularisation(p, 4.0);
  if (kept > 0.75 * promised) p.regularisation = p.regularisation > 1e-3 * p.stiffness ? 0.25 * p.regularisation : 0.0;
}

void Bundle::end_iteration(int i) {
  Progress& p = p_[i];
  ++p.iterations;
  if (getenv("MPC_TRACE") && i == 0) fprintf(stderr, "%3d mu %.1e cost %.9g res %.1e worst %.1e viol %.1e prod %.1e ap %.3g ad %.3g dec %.1e slope %.1e pen %.1e reg %.1e tr %d\n", p.iterations, p.mu, p.next.cost, p.next.residual, p.next.worst_residual, p.next.violation, p.next.product / std::max(1, w_.bounds[i]), p.primal, p.dual, p.decrease, p.slope, p.penalty, p.regularisation, p.trials);
  if (p.primal > 0.0) adapt_regularisation(p);
  p.now = p.next;
  if (p.primal == 0.0) {
    ++p.refused;
    raise_regularisation(p, 10.0);
    p.forget();
  } else {
    p.refused = 0;
    p.remember(p.now);
    lower_mu(p);
  }
  if (p.primal == 1.0 && will_be_optimal(p)) {
    p.active = false;
    p.code = Code::kConverged;
  } else if (p.refused >= kMostRefused) {
    p.active = false;
    p.code = Code::kStalled;
  } else if (p.iterations >= problem_.cap) {
    p.active = false;
    p.code = Code::kIterations;
  }
}

}  // namespace robomorph::mpc

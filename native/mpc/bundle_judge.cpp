// When an iteration is the last one, and what the next begins with.
#include <algorithm>
#include <cmath>

#include "mpc/bundle.h"

namespace robomorph::mpc {
namespace {

constexpr double kRoughly = 0.01;       // of costs, relative: optimal where bounds are still to be made harder
constexpr double kLeast = 1e-13;        // of costs, in their unit
constexpr double kLastMu = 1e-9;        // relative to the cost
constexpr double kSettled = 10.0;  // a change of the cost that is none, in units of what is optimal,
constexpr int kSettledFor = 8;     // over so many iterations
constexpr double kFastRate = 0.3, kBestRate = 0.01;
constexpr double kSolvedEnough = 10.0;  // mu waits until a step promises less, in units of mu and bounds
constexpr double kShort = 0.1;
constexpr int kMostRefused = 8;
constexpr int kSuspicious = 40, kPatience = 20;  // iterations that do not lead to motions within all bounds: there may be none
constexpr double kNoticeable = 0.7;
constexpr double kHardly = 0.01;  // broken, scaled
constexpr int kCentring = 12;     // iterations
constexpr int kMostElastic = 100;

double last_mu(const Progress& p) {
  return std::max(kLastMu * (p.now.cost + p.now.soft), kLeast * p.unit) + 1e-100;
}

}  // namespace

bool Bundle::bounds_hold(const Progress& p) const {
  const int bounds = w_.bounds[index(p)];
  if (bounds == 0) return true;
  return p.mu <= 1.01 * last_mu(p) && p.now.product <= 10.0 * bounds * p.mu &&
         p.now.worst_residual <= 0.1 * problem_.tolerance &&
         (p.elastic || p.now.violation <= problem_.tolerance);
}

bool Bundle::is_optimal(const Progress& p) const {
  if (p.gap || p.tick || p.centring) return false;
  const double promised = p.decrease / (p.now.cost + p.now.soft + kLeast * p.unit + 1e-300);
  if (p.elastic && p.hardness < 0.99 * kHardest * p.unit) return promised <= kRoughly;
  return promised <= problem_.optimal && bounds_hold(p);
}

// Decreases fall by a constant factor near the end: is the next one going to be negligible?
bool Bundle::will_be_optimal(const Progress& p) const {
  if (p.gap || p.tick || p.centring || p.primal < 1.0 || p.regularisation > 0.0 || p.in_phase < 3) return false;
  const double rate = std::max({p.decrease / p.last_decrease, p.last_rate, kBestRate});
  const double next = rate * p.decrease / (1.0 - std::min(rate, 0.5));
  return rate < kFastRate && next <= 0.5 * problem_.optimal * (p.now.cost + p.now.soft) && bounds_hold(p);
}

// Curvature that the model lacks may make the last digits slow.
bool Bundle::has_settled(Progress& p) const {
  if (p.tick || p.centring || p.elastic || p.gap || p.mu > 1.01 * last_mu(p)) return false;
  if (std::fabs(p.now.cost - p.settled_cost) > kSettled * problem_.optimal * p.now.cost) {
    p.settled_cost = p.now.cost;
    p.settled_at = p.iterations;
  }
  return p.iterations - p.settled_at >= kSettledFor && bounds_hold(p);
}

void Bundle::lower_mu(Progress& p) {
  const int bounds = w_.bounds[index(p)];
  if (bounds == 0 || p.tick || p.centring) return;
  const double least = std::min(p.primal, p.dual);
  if (least < kShort) {  // some slacks have come much too near to zero
    p.mu = std::max(p.mu, 3.0 * p.now.product / bounds);
    return;
  }
  if (p.decrease > kSolvedEnough * p.mu * bounds) return;
  const double share = least > 0.9 ? 0.05 : least > 0.3 ? 0.2 : 0.6;
  p.mu = std::max(std::min(p.mu, share * p.now.product / bounds), last_mu(p));
}

void Bundle::raise_regularisation(Progress& p, double by) {
  p.regularisation = std::max(by * p.regularisation, p.stiffness);
}

// By how well the model's promises were kept: curvature that it lacks makes it promise too much.
void Bundle::adapt_regularisation(Progress& p) {
  if (p.last_decrease <= 0.0 || p.gap) return;
  const double promised = -p.primal * (p.slope + 0.5 * p.primal * p.curve);
  const double kept = p.now.merit(p.mu, p.penalty) - p.next.merit(p.mu, p.penalty);
  if (kept < 0.1 * promised) raise_regularisation(p, 4.0);
  if (kept > 0.75 * promised) p.regularisation *= p.regularisation > 1e-3 * p.stiffness ? 0.25 : 0.0;
}

// The last iteration of this phase that led noticeably nearer to motions within all bounds, or to one.
int Bundle::nearest(Progress& p) const {
  const bool within = !p.gap && p.now.violation <= problem_.tolerance;
  if (w_.bounds[index(p)] == 0 || (!p.elastic && within) || p.now.residual < kNoticeable * p.least_residual) {
    p.least_residual = std::min(p.least_residual, p.now.residual);
    p.within = p.in_phase;
  }
  return p.within;
}

void Bundle::end_iteration(int i) {
  Progress& p = p_[i];
  ++p.iterations;
  ++p.in_phase;
  p.elastic_iterations += p.elastic;
  if (p.primal > 0.0) {
    adapt_regularisation(p);
    p.refused = 0;
    p.now = p.next;
    if (!p.gap) p.remember(p.now);
    lower_mu(p);
  } else {
    ++p.refused;
    p.now = p.next;
    p.remembered = 0;
    if (facts_.ok[i]) raise_regularisation(p, 10.0);
    else p.regularisation = std::max(100.0 * p.regularisation, 1e-8 * form_->stiffness(i));
  }
  note(i);
  if (p.gap && p.primal > 0.0) {
    p.gap = p.primal < 1.0;
    for (int e = 0; e < problem_.nv; ++e) {
      gap_q_.data()[i * problem_.nv + e] *= 1.0 - p.primal;
      gap_v_.data()[i * problem_.nv + e] *= 1.0 - p.primal;
    }
  }
  const bool lost = p.in_phase >= kSuspicious && p.in_phase - nearest(p) >= kPatience;
  const bool used_up = p.tick ? p.iterations >= p.limit : p.iterations - p.elastic_iterations >= p.limit && !p.elastic;
  if (p.elastic && !p.tick && p.elastic_iterations >= kMostElastic) stop_elastic(p);
  else if (p.optimal || will_be_optimal(p) || has_settled(p)) end_phase(p);
  else if (used_up || (p.centring && p.within == p.in_phase)) use_up(p);
  else if (!p.tick && (lost || p.refused >= kMostRefused)) give_up(p);
}

// No more iterations, but for a few with a larger mu where that leads back into bounds that are hardly broken.
void Bundle::use_up(Progress& p) {
  const bool broken = p.now.violation > problem_.tolerance && p.now.violation < kHardly;
  if (p.tick || p.centring || !broken || p.in_phase < kSuspicious) return p.end(Code::kIterations);
  p.centring = true;
  p.limit += kCentring;
  p.mu = std::max(100.0 * p.mu, 1e-8 * p.unit);
}

// The problem of this phase is solved.
void Bundle::end_phase(Progress& p) {
  if (p.elastic) return end_elastic(p);
  p.end(Code::kConverged);
}

// This phase leads nowhere.
void Bundle::give_up(Progress& p) {
  const bool within = p.now.violation <= problem_.tolerance;
  switch (p.phase) {
    case Phase::kWarm: return p.begin(Phase::kCold, Begin::kBraking);
    case Phase::kCold: return within ? p.end(Code::kStalled) : begin_elastic(p);
    case Phase::kElastic: return end_elastic(p);
    case Phase::kAgain: return within ? p.end(Code::kStalled) : resume_elastic(p);
  }
}

// The cheapest motion so far that is within all hard bounds.
void Bundle::keep_best() {
  for (int i = 0; i < problems(); ++i) {
    Progress& p = p_[i];
    if (w_.bounds[i] == 0 || p.gap || p.begin_with != Begin::kNothing) continue;
    if (p.now.violation > problem_.tolerance || p.now.cost >= p.best_cost) continue;
    p.best_cost = p.now.cost;
    keep(best_, i);
  }
}

}  // namespace robomorph::mpc

// The last plan, moved on in time.
#include <algorithm>
#include <cmath>

#include "mpc/bundle.h"

namespace robomorph::mpc {
namespace {

// How many steps beyond the last node the shifted node k is.
double steps_beyond(int node, int whole, double part, int horizon) {
  return (1.0 - part) * std::max(0, node + whole - horizon) + part * std::max(0, node + whole + 1 - horizon);
}

}  // namespace

// Node k becomes what was at node k + whole + part, between two nodes. Beyond node `last` all is as there.
void Bundle::shift_series(double* array, int entries, int last, int whole, double part) {
  const Shape& s = w_.shape;
  const double rest = 1.0 - part;
  if (s.problems > 1) {
    const std::size_t stride = static_cast<std::size_t>(entries) * kLanes;
    for (int k = 0; k <= s.horizon; ++k) {
      const double* from = array + std::min(k + whole, last) * stride;
      const double* next = array + std::min(k + whole + 1, last) * stride;
      double* to = array + k * stride;
      for (std::size_t i = 0; i < stride; ++i) to[i] = rest * from[i] + part * next[i];
    }
    return;
  }
  // In order of time, for as long as the lanes of all groups.
  double* line = series_.data();
  for (int e = 0; e < entries; ++e) {
    for (int g = 0; g < s.groups(); ++g) {
      std::copy_n(array + (static_cast<std::size_t>(g) * entries + e) * kLanes, kLanes, line + g * kLanes);
    }
    const int total = s.groups() * kLanes;
    for (int k = last + 1; k <= total; ++k) line[k] = line[last];
    for (int g = 0; g < s.groups(); ++g) {
      double* to = array + (static_cast<std::size_t>(g) * entries + e) * kLanes;
      const int first = g * kLanes + whole, end = total - first;
      for (int l = 0; l < kLanes; ++l) {
        const double from = l < end ? line[first + l] : line[last], next = l < end ? line[first + l + 1] : line[last];
        to[l] = rest * from + part * next;
      }
    }
  }
}

// Two motions of the integrator, mixed, are one: q, v and a are shifted alike, and go on with a constant velocity.
void Bundle::shift(double elapsed) {
  const Shape& s = w_.shape;
  const double nodes = elapsed / s.dt;
  const int whole = static_cast<int>(nodes);
  const double part = nodes - whole;
  Terms* t = w_.terms;
  form_->shift(nodes);
  for (int p = 0; p < s.problems; ++p) {
    for (int e = 0; e < s.nv; ++e) {
      gap_v_.data()[p * s.nv + e] = t[kVelocity].value[w_.at(s.nv, s.horizon, e, p)];
    }
  }
  // There is no acceleration at the last node: zero stands there.
  for (int x : {kPosition, kVelocity, kAcceleration}) shift_series(t[x].value, s.nv, s.horizon, whole, part);
  for (int p = 0; p < s.problems; ++p) {
    for (int e = 0; e < s.nv; ++e) {
      const double v = gap_v_.data()[p * s.nv + e];
      for (int k = std::max(0, s.horizon - whole - 1); k <= s.horizon; ++k) {
        const double further = steps_beyond(k, whole, part, s.horizon) * s.dt * v;
        double* at = t[kPosition].value + w_.at(s.nv, k, e, p);
        if (further != 0.0) std::fill_n(at, w_.lane_end(k, p) - s.lane(k, p), *at + further);
      }
    }
  }
  for (int x = 0; x < kBoundable; ++x) {
    if (!t[x].bounded) continue;
    for (const Side& side : {t[x].below, t[x].above}) {
      shift_series(side.slack, t[x].entries, problem_.nodes(x) - 1, whole, part);
      shift_series(side.multiplier, t[x].entries, problem_.nodes(x) - 1, whole, part);
    }
  }
}

// Bounds may have come and gone; and slacks that are much too small for mu keep a motion from moving at all.
void Bundle::recentre(int p, double mu) {
  for (int x = 0; x < kBoundable; ++x) {
    Terms& t = w_.terms[x];
    if (!t.bounded) continue;
    const auto mend = [&](bool has, double g, double scale, double& slack, double& multiplier) {
      if (!has) {
        slack = 1.0;
        multiplier = 0.0;
      } else if (!(multiplier > 0.0) || !(slack > 0.0)) {
        slack = std::max(-g, 0.01 / scale);
        multiplier = mu / slack;
      } else if (slack * multiplier < mu) {
        const double by = std::sqrt(mu / (slack * multiplier));
        slack *= by;
        multiplier *= by;
      }
    };
    const std::size_t size = t.numbers(w_.shape), step = problems() == 1 ? 1 : kLanes;
    for (std::size_t at = problems() == 1 ? 0 : p; at < size; at += step) {
      const double scale = t.inverse_scale[at % (static_cast<std::size_t>(t.entries) * kLanes)];
      mend(t.lower[at] > -kHasBound, t.lower[at] - t.trial[at], scale, t.below.slack[at], t.below.multiplier[at]);
      mend(t.upper[at] < kHasBound, t.trial[at] - t.upper[at], scale, t.above.slack[at], t.above.multiplier[at]);
    }
  }
}

}  // namespace robomorph::mpc

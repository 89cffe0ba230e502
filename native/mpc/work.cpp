#include "mpc/work.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace robomorph::mpc {
namespace {

Shape shape_of(const Problem& p, bool wide) {
  Shape shape;
  shape.nv = p.nv;
  shape.horizon = p.horizon;
  shape.rows = p.rows;
  shape.row_velocity = p.row_velocity;
  shape.jerk = p.jerk;
  shape.problems = wide ? kLanes : 1;
  shape.dt = p.dt;
  return shape;
}

bool everywhere(int, int, const Shape&) { return true; }

// Which of a table's nodes stands for node k; `nodes` as many as the quantity has.
int table_node(const Table& table, int node, int nodes, int horizon) {
  if (table.nodes == 1) return 0;
  if (table.nodes == nodes) return std::min(node, nodes - 1);
  return node < horizon ? 0 : 1;
}

std::size_t rows_of(const Table& table, int count) {
  return static_cast<std::size_t>(table.problems == 1 ? 1 : count) * table.nodes;
}

}  // namespace

Work::Work(const Problem& p, int first, int count, bool wide)
    : problem(p), shape(shape_of(p, wide)), first_(first), count_(count) {
  for (int x = 0; x < kQuantities; ++x) place(terms[x], x);
  row_reference = take(shape.numbers(p.references));
  seen_row_reference_ = Doubles(rows_of(p.row_reference, count) * p.references + 1);
  seen_row_reference_.data()[0] = NAN;  // the first comparison fails
}

double* Work::take(std::size_t numbers) {
  memory_.emplace_back(numbers);
  return memory_.back().data();
}

void Work::place(Terms& t, int x) {
  t.entries = problem.entries(x);
  if (x == kJerk && !problem.jerk) t.entries = 0;
  const std::size_t size = shape.numbers(t.entries), few = static_cast<std::size_t>(t.entries) * kLanes;
  for (double** array : {&t.value, &t.trial, &t.change, &t.reference, &t.cost, &t.weight, &t.gradient}) *array = take(size);
  if (x == kJerk) {
    t.costs = problem.jerk;
    return;
  }
  const Wishes& w = problem.wishes[x];
  t.costs = w.weight.data != nullptr;
  flags_.emplace_back(new bool[t.entries + 1]());
  t.limited = flags_.back().get();
  const Table* tables[] = {&w.reference, &w.weight, &w.lower, &w.upper};
  for (int i = 0; i < 4; ++i) {
    seen_[x][i] = Doubles(rows_of(*tables[i], count_) * t.entries + 1);
    seen_[x][i].data()[0] = NAN;
  }
  if (w.lower.data == nullptr && w.upper.data == nullptr) return;
  for (double** array : {&t.lower, &t.upper}) *array = take(size);
  for (Side* side : {&t.below, &t.above}) {
    for (double** array : {&side->slack, &side->multiplier, &side->slack_change, &side->multiplier_change}) *array = take(size);
    std::fill_n(side->slack, size, 1.0);
  }
  for (double** array : {&t.inverse_soft, &t.scale, &t.inverse_scale, &t.hard_scale}) *array = take(few);
}

bool Work::changed(const Table& table, int entries, Doubles& seen) const {
  const std::size_t size = rows_of(table, count_) * entries;
  const double* from = table.data + (table.problems == 1 ? 0 : static_cast<std::size_t>(first_) * table.nodes * entries);
  double* known = seen.data();
  // The number in front tells that nothing was seen yet.
  if (!std::isnan(known[0]) && std::memcmp(known + 1, from, size * sizeof(double)) == 0) return false;
  known[0] = 0.0;
  std::memcpy(known + 1, from, size * sizeof(double));
  return true;
}

void Work::spread(const Table& table, int entries, bool wanted(int, int, const Shape&), int quantity, double none,
                  double* out) const {
  std::fill_n(out, shape.numbers(entries), none);
  for (int p = 0; p < shape.problems; ++p) {
    const std::size_t from = table.problems == 1 ? 0 : static_cast<std::size_t>(caller(p)) * table.nodes;
    for (int k = 0; k <= shape.horizon; ++k) {
      if (!wanted(quantity, k, shape)) continue;
      const int node = table_node(table, k, problem.nodes(quantity), shape.horizon);
      const double* row = table.data + (from + node) * entries;
      for (int e = 0; e < entries; ++e) out[at(entries, k, e, p)] = row[e];
    }
  }
}

// Lanes beyond the last node repeat its references: kernels want real numbers there.
void Work::read() {
  soft = false;
  for (int x = 0; x < kBoundable; ++x) {
    Terms& t = terms[x];
    const Wishes& w = problem.wishes[x];
    if (w.reference.data != nullptr && changed(w.reference, t.entries, seen_[x][0])) {
      spread(w.reference, t.entries, costs_at, x, 0.0, t.reference);
    }
    if (w.weight.data != nullptr && changed(w.weight, t.entries, seen_[x][1])) {
      spread(w.weight, t.entries, costs_at, x, 0.0, t.cost);
    }
    if (t.lower != nullptr) read_bounds(x);
  }
  if (problem.jerk) {
    const Table weight{problem.jerk_weight, 1, 1};
    spread(weight, problem.nv, costs_at, kJerk, 0.0, terms[kJerk].cost);
  }
  if (problem.row_reference.data != nullptr && problem.references > 0 &&
      changed(problem.row_reference, problem.references, seen_row_reference_)) {
    spread(problem.row_reference, problem.references, everywhere, kRow, 0.0, row_reference);
    for (int e = 0; e < problem.references && shape.problems == 1; ++e) {
      const std::size_t last = at(problem.references, shape.horizon, e, 0);
      for (int l = shape.lane(shape.horizon, 0) + 1; l < kLanes; ++l) {
        row_reference[last - shape.lane(shape.horizon, 0) + l] = row_reference[last];
      }
    }
  }
  if (bounds_changed_) count_bounds();
  bounds_changed_ = widened_ = false;
}

void Work::read_bounds(int x) {
  Terms& t = terms[x];
  const Wishes& w = problem.wishes[x];
  const bool below = w.lower.data != nullptr && changed(w.lower, t.entries, seen_[x][2]);
  const bool above = w.upper.data != nullptr && changed(w.upper, t.entries, seen_[x][3]);
  read_fixed(x);
  const std::size_t size = t.numbers(shape);
  if (!below && !above && !widened_) return;
  bounds_changed_ = true;
  std::fill_n(t.lower, size, -kNoBound);
  std::fill_n(t.upper, size, kNoBound);
  if (w.lower.data != nullptr) spread(w.lower, t.entries, bounded_at, x, -kNoBound, t.lower);
  if (w.upper.data != nullptr) spread(w.upper, t.entries, bounded_at, x, kNoBound, t.upper);
  std::fill_n(t.limited, t.entries, false);
  for (std::size_t i = 0; i < size; ++i) {
    t.lower[i] = std::max(t.lower[i], -kNoBound);
    t.upper[i] = std::min(t.upper[i], kNoBound);
    const bool below_here = t.lower[i] > -kHasBound, above_here = t.upper[i] < kHasBound;
    if (!below_here) t.below.slack[i] = 1.0, t.below.multiplier[i] = 0.0;
    if (!above_here) t.above.slack[i] = 1.0, t.above.multiplier[i] = 0.0;
    if (below_here || above_here) t.limited[i / kLanes % t.entries] = true;
  }
  t.bounded = std::any_of(t.limited, t.limited + t.entries, [](bool b) { return b; });
}

// The loops take these as they are; elastic problems change the first.
void Work::read_fixed(int x) {
  Terms& t = terms[x];
  const Wishes& w = problem.wishes[x];
  for (int e = 0; e < t.entries; ++e) {
    const double price = w.soft == nullptr ? INFINITY : w.soft[e];
    soft |= std::isfinite(price);
    const double scale = w.scale == nullptr ? 1.0 : 1.0 / w.scale[e];
    for (int l = 0; l < kLanes; ++l) {
      t.inverse_soft[e * kLanes + l] = 1.0 / price;
      t.scale[e * kLanes + l] = 1.0 / scale;
      t.inverse_scale[e * kLanes + l] = scale;
      t.hard_scale[e * kLanes + l] = std::isinf(price) ? scale : 0.0;
    }
  }
}

void Work::count_bounds() {
  std::fill_n(bounds, kLanes, 0);
  for (int x = 0; x < kBoundable; ++x) {
    const Terms& t = terms[x];
    for (std::size_t i = 0; t.bounded && i < t.numbers(shape); ++i) {
      bounds[shape.problems == 1 ? 0 : i % kLanes] += (t.lower[i] > -kHasBound) + (t.upper[i] < kHasBound);
    }
  }
}

double Work::entry_of(const Table& table, int quantity, int node, int entry, int p, double none) const {
  if (table.data == nullptr) return none;
  const std::size_t from = table.problems == 1 ? 0 : static_cast<std::size_t>(caller(p)) * table.nodes;
  const int row = table_node(table, node, problem.nodes(quantity), shape.horizon);
  return table.data[(from + row) * terms[quantity].entries + entry];
}

double Work::caller_lower(int quantity, int node, int entry, int p) const {
  return entry_of(problem.wishes[quantity].lower, quantity, node, entry, p, -INFINITY);
}

double Work::caller_upper(int quantity, int node, int entry, int p) const {
  return entry_of(problem.wishes[quantity].upper, quantity, node, entry, p, INFINITY);
}

void Work::widen(int quantity, int node, int entry, int p, double lower, double upper) {
  Terms& t = terms[quantity];
  const std::size_t i = at(t.entries, node, entry, p);
  if (t.lower[i] > -kHasBound) t.lower[i] = std::min(t.lower[i], lower);
  if (t.upper[i] < kHasBound) t.upper[i] = std::max(t.upper[i], upper);
  widened_ = true;
}

}  // namespace robomorph::mpc

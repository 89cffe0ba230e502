// A bundle's numbers in groups of lanes, and what the caller's arrays say, brought there.
#pragma once

#include <memory>
#include <vector>

#include "mpc/memory.h"
#include "mpc/problem.h"
#include "mpc/shape.h"
#include "mpc/terms.h"

namespace robomorph::mpc {

class Work {
 public:
  // Problems first .. first + count - 1 of the caller's; lanes beyond repeat the last of them. `wide`: lanes are
  // problems; else count is 1.
  Work(const Problem& problem, int first, int count, bool wide);

  // Reads the caller's arrays; costs little where they are as they were.
  void read();

  // Bounds of one problem that are not the caller's: read anew at the next step.
  void widen(int quantity, int node, int entry, int lane_problem, double lower, double upper);

  // The caller's own.
  double caller_lower(int quantity, int node, int entry, int p) const;
  double caller_upper(int quantity, int node, int entry, int p) const;

  // The caller's index of a problem of the bundle.
  int caller(int p) const { return first_ + (p < count_ ? p : count_ - 1); }
  int count() const { return count_; }

  // Where entry e of node k of problem p of a quantity is.
  std::size_t at(int entries, int node, int entry, int p) const {
    return (static_cast<std::size_t>(shape.group(node)) * entries + entry) * kLanes + shape.lane(node, p);
  }
  // The same for numbers that are alike at all nodes.
  std::size_t at(int entry, int p) const { return static_cast<std::size_t>(entry) * kLanes + (p % shape.problems); }

  // Lanes in which a number of node k of problem p lies: beyond the last node they repeat it.
  int lane_end(int node, int p) const {
    return shape.problems == 1 && node == shape.horizon ? kLanes : shape.lane(node, p) + 1;
  }

  const Problem& problem;
  const Shape shape;
  Terms terms[kQuantities];
  double* row_reference = nullptr;
  bool soft = false;        // does the caller allow violations of any bound?
  int bounds[kLanes] = {};  // of each problem: both sides, all nodes

 private:
  void place(Terms& terms, int quantity);
  double* take(std::size_t numbers);
  double entry_of(const Table& table, int quantity, int node, int entry, int p, double none) const;
  bool changed(const Table& table, int entries, Doubles& seen) const;
  void spread(const Table& table, int entries, bool wanted(int, int, const Shape&), int quantity, double none,
              double* out) const;
  void read_bounds(int quantity);
  void read_fixed(int quantity);
  void count_bounds();

  int first_, count_;
  std::vector<Doubles> memory_;
  std::vector<std::unique_ptr<bool[]>> flags_;
  Doubles seen_[kQuantities][4];
  Doubles seen_row_reference_;
  bool widened_ = false, bounds_changed_ = false;
};

}  // namespace robomorph::mpc

// Pairs (violation, merit) that no later iterate may be worse than in both, by a little.
#pragma once

#include <cstddef>
#include <vector>

namespace robomorph::planning {

class Filter {
 public:
  static constexpr double kViolation = 1e-5, kMerit = 1e-8;  // the little, of the violation

  explicit Filter(std::size_t most) { pairs_.reserve(most); }

  void clear(double most_violation) {
    pairs_.clear();
    most_ = most_violation;
  }

  bool accepts(double violation, double merit) const {
    if (!(violation < most_)) return false;
    for (const Pair& pair : pairs_) {
      if (violation >= pair.violation && merit >= pair.merit) return false;
    }
    return true;
  }

  // Drops what the new pair makes superfluous; when there is no room the oldest goes.
  void add(double violation, double merit) {
    const Pair fresh{(1.0 - kViolation) * violation, merit - kMerit * violation};
    std::size_t kept = 0;
    for (const Pair& pair : pairs_) {
      if (pair.violation < fresh.violation || pair.merit < fresh.merit) pairs_[kept++] = pair;
    }
    pairs_.resize(kept);
    if (pairs_.size() == pairs_.capacity()) pairs_.erase(pairs_.begin());
    pairs_.push_back(fresh);
  }

 private:
  struct Pair {
    double violation, merit;
  };

  std::vector<Pair> pairs_;
  double most_ = 0.0;
};

}  // namespace robomorph::planning

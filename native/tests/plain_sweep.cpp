#include "tests/plain_sweep.h"

#include <cmath>
#include <vector>

namespace robomorph::tests {
namespace {

using mpc::Direction;
using mpc::Quadratic;
using mpc::Shape;

using Row = std::vector<double>;

// A square matrix and a vector over z = (da, dq, dv, da before): 1/2 z'Hz + h'z.
struct Stage {
  int n;
  Row matrix, vector;
  explicit Stage(int n) : n(n), matrix(n * n), vector(n) {}
  double& at(int i, int j) { return matrix[i * n + j]; }
  double at(int i, int j) const { return matrix[i * n + j]; }

  void add(const Row& row, double weight, double gradient) {
    for (int i = 0; i < n; ++i) {
      if (row[i] == 0.0) continue;
      vector[i] += gradient * row[i];
      for (int j = 0; j < n; ++j) at(i, j) += weight * row[i] * row[j];
    }
  }
};

class PlainSweep final : public mpc::Sweep {
 public:
  explicit PlainSweep(const Shape& shape) : s_(shape), nv_(shape.nv), nz_((shape.jerk ? 4 : 3) * shape.nv) {}

  void solve(const Quadratic& m, const double* dq0, const double* dv0, const double* regularisation,
             const Direction& d, bool* ok) override {
    for (int p = 0; p < s_.problems; ++p) {
      if (!ok[p]) continue;
      gains_.clear();
      ok[p] = back(m, p, regularisation[p]);
      if (ok[p]) forth(m, p, dq0 + p * nv_, dv0 + p * nv_, d);
    }
  }

 private:
  struct Gain {
    Row feedback, constant;  // da = feedback x + constant
  };

  double at(const double* array, int entries, int e, int k, int p) const {
    return array[(static_cast<std::size_t>(s_.group(k)) * entries + e) * mpc::kLanes + s_.lane(k, p)];
  }

  template <typename Use>
  void each_row(const Quadratic& m, int k, int p, Use use) const {
    Row row(nz_);
    const auto give = [&](const double* weight, const double* gradient, int entries, int e) {
      use(row, at(weight, entries, e, k, p), at(gradient, entries, e, k, p));
      row.assign(nz_, 0.0);
    };
    const bool last = k == s_.horizon;
    for (int i = 0; i < nv_; ++i) {
      if (!last) {
        for (int j = 0; j < nv_; ++j) {
          row[j] = at(m.torque_mass, nv_ * nv_, i * nv_ + j, k, p);
          row[nv_ + j] = at(m.torque_dq, nv_ * nv_, i * nv_ + j, k, p);
          row[2 * nv_ + j] = at(m.torque_dv, nv_ * nv_, i * nv_ + j, k, p);
        }
        give(m.torque_weight, m.torque_gradient, nv_, i);
        row[i] = 1.0;
        give(m.a_weight, m.a_gradient, nv_, i);
        if (s_.jerk) {
          row[i] = 1.0;
          row[3 * nv_ + i] = -1.0;
          give(m.jerk_weight, m.jerk_gradient, nv_, i);
        }
      }
      row[nv_ + i] = 1.0;
      give(m.q_weight, m.q_gradient, nv_, i);
      row[2 * nv_ + i] = 1.0;
      give(m.v_weight, m.v_gradient, nv_, i);
    }
    for (int r = 0; r < s_.rows; ++r) {
      for (int j = 0; j < nv_; ++j) {
        row[nv_ + j] = at(m.row_dq, s_.rows * nv_, r * nv_ + j, k, p);
        if (s_.row_velocity) row[2 * nv_ + j] = at(m.row_dv, s_.rows * nv_, r * nv_ + j, k, p);
      }
      give(m.row_weight, m.row_gradient, s_.rows, r);
    }
  }

  // Rows of (dq, dv, da before) at the next node over z.
  Row next(int i) const {
    Row row(nz_);
    const int j = i % nv_, part = i / nv_;
    if (part == 0) row[nv_ + j] = 1.0, row[2 * nv_ + j] = s_.dt, row[j] = s_.dt * s_.dt;
    if (part == 1) row[2 * nv_ + j] = 1.0, row[j] = s_.dt;
    if (part == 2) row[j] = 1.0;
    return row;
  }

  void pull_back(const Stage& after, Stage& stage) const {
    const int nx = nz_ - nv_;
    std::vector<Row> map(nx);
    for (int i = 0; i < nx; ++i) map[i] = next(i);
    for (int i = 0; i < nx; ++i) {
      for (int a = 0; a < nz_; ++a) {
        if (map[i][a] == 0.0) continue;
        stage.vector[a] += map[i][a] * after.vector[nv_ + i];
        for (int j = 0; j < nx; ++j) {
          const double share = map[i][a] * after.at(nv_ + i, nv_ + j);
          for (int b = 0; b < nz_; ++b) stage.at(a, b) += share * map[j][b];
        }
      }
    }
  }

  // Takes da out of a stage by elimination; false where a pivot is not positive.
  bool eliminate(Stage& stage) {
    std::vector<Row> factors(nv_);
    for (int c = 0; c < nv_; ++c) {
      const double pivot = stage.at(c, c);
      if (!(pivot > 0.0) || !std::isfinite(pivot)) return false;
      Row row(nz_ + 1);
      for (int j = c; j < nz_; ++j) row[j] = stage.at(c, j) / pivot;
      row[nz_] = stage.vector[c] / pivot;
      for (int i = c + 1; i < nz_; ++i) {
        const double share = stage.at(i, c);
        for (int j = c; j < nz_; ++j) stage.at(i, j) -= share * row[j];
        stage.vector[i] -= share * row[nz_];
      }
      factors[c] = row;
    }
    Gain gain{Row(nv_ * (nz_ - nv_)), Row(nv_)};
    for (int c = nv_ - 1; c >= 0; --c) {
      gain.constant[c] = -factors[c][nz_];
      for (int j = 0; j < nz_ - nv_; ++j) gain.feedback[c * (nz_ - nv_) + j] = -factors[c][nv_ + j];
      for (int i = c + 1; i < nv_; ++i) {
        gain.constant[c] -= factors[c][i] * gain.constant[i];
        for (int j = 0; j < nz_ - nv_; ++j) {
          gain.feedback[c * (nz_ - nv_) + j] -= factors[c][i] * gain.feedback[i * (nz_ - nv_) + j];
        }
      }
    }
    gains_.push_back(gain);
    return true;
  }

  bool back(const Quadratic& m, int p, double regularisation) {
    Stage after(nz_);
    const auto add = [](Stage& stage) {
      return [&stage](const Row& row, double weight, double gradient) { stage.add(row, weight, gradient); };
    };
    each_row(m, s_.horizon, p, add(after));
    for (int k = s_.horizon - 1; k >= 0; --k) {
      Stage stage(nz_);
      each_row(m, k, p, add(stage));
      pull_back(after, stage);
      for (int i = 0; i < nv_; ++i) stage.at(i, i) += regularisation;
      if (!eliminate(stage)) return false;
      after = stage;
    }
    return true;
  }

  void forth(const Quadratic& m, int p, const double* dq0, const double* dv0, const Direction& d) {
    const int nx = nz_ - nv_;
    Row z(nz_);
    for (int i = 0; i < nv_; ++i) z[nv_ + i] = dq0[i], z[2 * nv_ + i] = dv0[i];
    d.slope[p] = d.curve[p] = 0.0;
    for (int k = 0; k <= s_.horizon; ++k) {
      for (int i = 0; i < nv_; ++i) {
        z[i] = 0.0;
        if (k == s_.horizon) continue;
        const Gain& gain = gains_[s_.horizon - 1 - k];
        z[i] = gain.constant[i];
        for (int j = 0; j < nx; ++j) z[i] += gain.feedback[i * nx + j] * z[nv_ + j];
        if (k == 0) {
          for (int j = 0; j < 2 * nv_; ++j) d.gains[(p * nv_ + i) * 2 * nv_ + j] = gain.feedback[i * nx + j];
        }
      }
      each_row(m, k, p, [&](const Row& row, double weight, double gradient) {
        double change = 0.0;
        for (int i = 0; i < nz_; ++i) change += row[i] * z[i];
        d.slope[p] += gradient * change;
        d.curve[p] += weight * change * change;
      });
      put(d, z, k, p);
      for (int i = 0; i < nv_; ++i) {
        z[2 * nv_ + i] += s_.dt * z[i];
        z[nv_ + i] += s_.dt * z[2 * nv_ + i];
        if (s_.jerk) z[3 * nv_ + i] = z[i];
      }
    }
  }

  void put(const Direction& d, const Row& z, int k, int p) const {
    const int first = s_.lane(k, p);
    const int end = k == s_.horizon && s_.problems == 1 ? mpc::kLanes : first + 1;
    for (int l = first; l < end; ++l) {
      for (int i = 0; i < nv_; ++i) {
        const std::size_t to = (static_cast<std::size_t>(s_.group(k)) * nv_ + i) * mpc::kLanes + l;
        d.da[to] = z[i];
        d.dq[to] = z[nv_ + i];
        d.dv[to] = z[2 * nv_ + i];
      }
    }
  }

  Shape s_;
  int nv_, nz_;
  std::vector<Gain> gains_;
};

}  // namespace

std::unique_ptr<mpc::Sweep> make_plain_sweep(const mpc::Shape& shape) { return std::make_unique<PlainSweep>(shape); }

}  // namespace robomorph::tests

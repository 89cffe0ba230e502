#include "mpc/sweep.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace robomorph::mpc {
namespace {

// One problem after another, number by number.
class PlainSweep : public Sweep {
 public:
  explicit PlainSweep(const Shape& shape)
      : shape_(shape), n_(shape.nv), width_((shape.jerk ? 4 : 3) * shape.nv + 1), row_(width_),
        s_(width_ * width_), factor_(static_cast<std::size_t>(shape.horizon) * n_ * width_), z_(width_) {}

  void solve(const Quadratic& model, const double* dq0, const double* dv0, const double* regularisation,
             const Direction& direction, bool* ok) override {
    for (int p = 0; p < shape_.problems; ++p) {
      if (!ok[p]) continue;
      std::fill(s_.begin(), s_.end(), 0.0);
      bool fine = true;
      for (int k = shape_.horizon; k >= 0; --k) fine = back(model, k, p, regularisation[p]) && fine;
      forth(model, dq0 + p * n_, dv0 + p * n_, p, direction);
      for (int i = 0; i < n_; ++i) {
        for (int j = 0; j < 2 * n_; ++j) {
          direction.gains[(p * n_ + i) * 2 * n_ + j] = factor(0, i)[n_ + j];
        }
      }
      ok[p] = fine && std::isfinite(direction.slope[p]) && std::isfinite(direction.curve[p]);
    }
  }

 private:
  std::size_t place(int node, int problem, int entries) const {
    return static_cast<std::size_t>(shape_.group(node)) * entries * kLanes + shape_.lane(node, problem);
  }
  double& s(int i, int j) { return s_[i * width_ + j]; }
  double* factor(int node, int i) { return factor_.data() + (static_cast<std::size_t>(node) * n_ + i) * width_; }

  // S over [a | dq | dv | previous a | 1] of the value of the next node, which lies in the same place.
  void integrate(double dt) {
    const int q = n_, v = 2 * n_, b = 3 * n_;
    const auto fold = [&](int to, int from, double by) {  // the variable `from` becomes from + by * to
      for (int i = 0; i < width_; ++i) s(i, to) += by * s(i, from);
      for (int i = 0; i < width_; ++i) s(to, i) += by * s(from, i);
    };
    for (int j = 0; j < n_; ++j) fold(v + j, q + j, dt);
    for (int j = 0; j < n_; ++j) fold(j, v + j, dt);
    for (int j = 0; j < n_ && shape_.jerk; ++j) {
      fold(j, b + j, 1.0);
      for (int i = 0; i < width_; ++i) s(i, b + j) = s(b + j, i) = 0.0;
    }
  }

  void add_row(double weight, double gradient) {
    const int one = width_ - 1;
    for (int i = 0; i < one; ++i) {
      if (row_[i] == 0.0) continue;
      for (int j = 0; j < one; ++j) s(i, j) += row_[i] * weight * row_[j];
      s(i, one) += row_[i] * gradient;
      s(one, i) += row_[i] * gradient;
    }
  }

  // Calls use(weight, gradient) with every row of a node in row_.
  template <typename Use>
  void rows_of(const Quadratic& m, int node, int p, Use use) {
    const auto clear = [&] { std::fill(row_.begin(), row_.end(), 0.0); };
    const std::size_t square = place(node, p, n_ * n_), line = place(node, p, n_);
    const auto fill = [&](const double* from, int i, std::size_t at, int to) {
      for (int j = 0; j < n_; ++j) row_[to + j] = from[at + static_cast<std::size_t>(i * n_ + j) * kLanes];
    };
    const auto unit = [&](int at, const double* weight, const double* gradient, bool jerk = false) {
      for (int i = 0; i < n_; ++i) {
        clear();
        row_[at + i] = 1.0;
        if (jerk) row_[3 * n_ + i] = -1.0;
        use(weight[line + i * kLanes], gradient[line + i * kLanes]);
      }
    };
    for (int i = 0; i < n_ && node < shape_.horizon; ++i) {
      clear();
      fill(m.torque_mass, i, square, 0);
      fill(m.torque_dq, i, square, n_);
      fill(m.torque_dv, i, square, 2 * n_);
      use(m.torque_weight[line + i * kLanes], m.torque_gradient[line + i * kLanes]);
    }
    for (int i = 0; i < shape_.rows; ++i) {
      const std::size_t at = place(node, p, shape_.rows * n_), entry = place(node, p, shape_.rows) + i * kLanes;
      clear();
      fill(m.row_dq, i, at, n_);
      if (shape_.row_velocity) fill(m.row_dv, i, at, 2 * n_);
      use(m.row_weight[entry], m.row_gradient[entry]);
    }
    unit(n_, m.q_weight, m.q_gradient);
    unit(2 * n_, m.v_weight, m.v_gradient);
    if (node == shape_.horizon) return;
    unit(0, m.a_weight, m.a_gradient);
    if (shape_.jerk) unit(0, m.jerk_weight, m.jerk_gradient, true);
  }

  bool back(const Quadratic& m, int node, int p, double regularisation) {
    const bool last = node == shape_.horizon;
    if (!last) integrate(shape_.dt);
    rows_of(m, node, p, [&](double weight, double gradient) { add_row(weight, gradient); });
    bool fine = true;
    for (int i = 0; i < n_ && !last; ++i) {
      s(i, i) += regularisation;
      for (int j = 0; j < width_; ++j) factor(node, i)[j] = 0.0;
    }
    for (int i = 0; i < n_ && !last; ++i) {
      fine = fine && s(i, i) > 0.0 && std::isfinite(s(i, i));
      const double inverse = 1.0 / s(i, i);
      for (int r = 0; r < width_; ++r) {
        const double f = s(r, i) * inverse;
        if (r <= i && r < n_) continue;
        for (int c = i; c < width_; ++c) s(r, c) -= f * s(i, c);
      }
    }
    for (int i = n_ - 1; i >= 0 && !last; --i) {  // gains from the triangle
      for (int c = n_; c < width_; ++c) {
        double sum = -s(i, c);
        for (int j = i + 1; j < n_; ++j) sum -= s(i, j) * factor(node, j)[c];
        factor(node, i)[c] = sum / s(i, i);
      }
    }
    for (int i = 0; i < n_; ++i) {
      for (int c = 0; c < width_; ++c) s(i, c) = s(c, i) = 0.0;
    }
    return fine;
  }

  void forth(const Quadratic& m, const double* dq0, const double* dv0, int p, const Direction& d) {
    std::fill(z_.begin(), z_.end(), 0.0);
    z_[width_ - 1] = 1.0;
    for (int i = 0; i < n_; ++i) z_[n_ + i] = dq0[i], z_[2 * n_ + i] = dv0[i];
    d.slope[p] = d.curve[p] = 0.0;
    const int lanes = shape_.problems == 1 ? shape_.groups() * kLanes : shape_.nodes();
    for (int k = 0; k < lanes; ++k) {
      for (int i = 0; i < n_; ++i) {
        double sum = 0.0;
        for (int j = n_; j < width_ && k < shape_.horizon; ++j) sum += factor(k, i)[j] * z_[j];
        z_[i] = sum;
        const std::size_t at = place(k, p, n_) + i * kLanes;
        d.dq[at] = z_[n_ + i], d.dv[at] = z_[2 * n_ + i], d.da[at] = sum;
      }
      if (k > shape_.horizon) continue;
      rows_of(m, k, p, [&](double weight, double gradient) {
        double step = 0.0;
        for (int j = 0; j < width_ - 1; ++j) step += row_[j] * z_[j];
        d.slope[p] += gradient * step;
        d.curve[p] += weight * step * step;
      });
      for (int i = 0; i < n_ && k < shape_.horizon; ++i) {
        z_[2 * n_ + i] += shape_.dt * z_[i];
        z_[n_ + i] += shape_.dt * z_[2 * n_ + i];
        if (shape_.jerk) z_[3 * n_ + i] = z_[i];
      }
    }
  }

  const Shape shape_;
  const int n_, width_;
  std::vector<double> row_, s_, factor_, z_;
};

}  // namespace

std::unique_ptr<Sweep> make_sweep(const Shape& shape) { return std::make_unique<PlainSweep>(shape); }

}  // namespace robomorph::mpc

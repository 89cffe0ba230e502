// Problems of a few variables given by functions: all in one block, or in blocks that rows do not leave.
#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <vector>

#include "planning/nlp.h"

namespace robomorph::tests {

class SmallProblem : public planning::Nlp {
 public:
  using Vector = std::vector<double>;
  // A function with its gradient (n,) and Hessian (n, n), both zero at the call.
  using Function = std::function<double(const double* x, double* gradient, double* hessian)>;

  SmallProblem(int n, Function cost) : cost_(std::move(cost)) {
    variables = block = n;
    blocks = 1;
  }

  void add(double low, double high, Function row) {
    low_.push_back(low);
    high_.push_back(high);
    functions_.push_back(std::move(row));
    ++rows;
  }

  const double* lower() const override { return low_.data(); }
  const double* upper() const override { return high_.data(); }
  bool refresh_margins(const double*) override { return false; }

  bool values(const double* x, double* cost, double* out) override {
    ++value_calls;
    Vector gradient(variables), hessian(variables * variables);
    *cost = cost_(x, gradient.data(), hessian.data());
    for (int i = 0; i < rows; ++i) out[i] = functions_[i](x, gradient.data(), hessian.data());
    return true;
  }

  bool linearise(const double* x, double* gradient) override {
    const int n = variables;
    jacobian_.assign(rows * n, 0.0);
    hessians_.assign((rows + 1) * n * n, 0.0);
    std::fill(gradient, gradient + n, 0.0);
    cost_(x, gradient, hessians_.data());
    for (int i = 0; i < rows; ++i) functions_[i](x, jacobian_.data() + i * n, hessians_.data() + (i + 1) * n * n);
    return true;
  }

  void jacobian_times(const double* direction, double* out) override {
    for (int i = 0; i < rows; ++i) {
      out[i] = 0.0;
      for (int j = 0; j < variables; ++j) out[i] += jacobian_[i * variables + j] * direction[j];
    }
  }

  void jacobian_transposed_times(const double* multipliers, double* out) override {
    for (int j = 0; j < variables; ++j) {
      out[j] = 0.0;
      for (int i = 0; i < rows; ++i) out[j] += jacobian_[i * variables + j] * multipliers[i];
    }
  }

  void condensed(double cost_scale, const double* multipliers, const double* weights, bool exact,
                 planning::Banded& out) override {
    const int n = variables;
    for (int b = 0; b < n; ++b) {
      for (int a = b; a < n; ++a) {
        double sum = cost_scale * hessians_[a * n + b];
        for (int i = 0; i < rows; ++i) {
          if (exact) sum += multipliers[i] * hessians_[(i + 1) * n * n + a * n + b];
          sum += weights[i] * jacobian_[i * n + a] * jacobian_[i * n + b];
        }
        out.at(a, b) = sum;
      }
    }
  }

  int value_calls = 0;

 private:
  Function cost_;
  std::vector<Function> functions_;
  Vector low_, high_, jacobian_, hessians_;
};

// a . x
inline SmallProblem::Function linear(std::vector<double> a) {
  return [a](const double* x, double* gradient, double*) {
    double sum = 0.0;
    for (std::size_t i = 0; i < a.size(); ++i) {
      sum += a[i] * x[i];
      gradient[i] += a[i];
    }
    return sum;
  };
}

// Half of sum w_i (x_i - c_i)^2.
inline SmallProblem::Function squares(std::vector<double> w, std::vector<double> c) {
  return [w, c](const double* x, double* gradient, double* hessian) {
    double sum = 0.0;
    for (std::size_t i = 0; i < w.size(); ++i) {
      sum += 0.5 * w[i] * (x[i] - c[i]) * (x[i] - c[i]);
      gradient[i] += w[i] * (x[i] - c[i]);
      hessian[i * w.size() + i] += w[i];
    }
    return sum;
  };
}

}  // namespace robomorph::tests

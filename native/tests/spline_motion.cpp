#include "tests/spline_motion.h"

#include <algorithm>
#include <cmath>

namespace robomorph::tests {
namespace {

constexpr int kNodes = SplineMotion::kNodes;

void spline_basis(double t, double* out) {
  const double u = 1.0 - t;
  out[0] = u * u * u / 6.0;
  out[1] = (3.0 * t * t * t - 6.0 * t * t + 4.0) / 6.0;
  out[2] = (-3.0 * t * t * t + 3.0 * t * t + 3.0 * t + 1.0) / 6.0;
  out[3] = t * t * t / 6.0;
}

double node_time(int k) { return 0.5 - 0.5 * std::cos(std::acos(-1.0) * k / (kNodes - 1)); }

// Row r: node values to the r-th Bernstein coefficient, by elimination on the Bernstein basis at the nodes.
std::vector<double> bernstein_from_nodes() {
  constexpr int n = kNodes;
  std::vector<double> a(n * 2 * n, 0.0);
  for (int i = 0; i < n; ++i) {
    const double t = node_time(i);
    double choose = 1.0;
    for (int j = 0; j < n; ++j) {
      a[i * 2 * n + j] = choose * std::pow(t, j) * std::pow(1.0 - t, n - 1 - j);
      choose = choose * (n - 1 - j) / (j + 1);
    }
    a[i * 2 * n + n + i] = 1.0;
  }
  for (int k = 0; k < n; ++k) {
    int best = k;
    for (int i = k; i < n; ++i) best = std::abs(a[i * 2 * n + k]) > std::abs(a[best * 2 * n + k]) ? i : best;
    for (int j = 0; j < 2 * n; ++j) std::swap(a[k * 2 * n + j], a[best * 2 * n + j]);
    const double pivot = a[k * 2 * n + k];
    for (int j = 0; j < 2 * n; ++j) a[k * 2 * n + j] /= pivot;
    for (int i = 0; i < n; ++i) {
      const double factor = a[i * 2 * n + k];
      if (i == k || factor == 0.0) continue;
      for (int j = 0; j < 2 * n; ++j) a[i * 2 * n + j] -= factor * a[k * 2 * n + j];
    }
  }
  std::vector<double> out(n * n);
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < n; ++j) out[i * n + j] = a[i * 2 * n + n + j];
  }
  return out;
}

}  // namespace

SplineMotion::SplineMotion(int joints, int intervals, std::vector<double> start, std::vector<double> end,
                           bool free_duration)
    : joints_(joints), intervals_(intervals), start_(std::move(start)), end_(std::move(end)) {
  block = joints;
  blocks = intervals + 3 - 2 * fixed_;
  reach = std::min(3, blocks - 1);
  border = free_duration ? 1 : 0;
  variables = block * blocks + border;
  for (int k = 0; k < kNodes; ++k) spline_basis(node_time(k), basis_[k]);
}

int SplineMotion::add_channel(Kind kind, int link) {
  channels_.push_back({kind, link});
  return static_cast<int>(channels_.size()) - 1;
}

void SplineMotion::keep(int channel, bool speed, int first, int last, double low, double high, double scale) {
  static const std::vector<double> to_bernstein = bernstein_from_nodes();
  for (int e = first; e < last; ++e) {
    for (int r = 0; r < kNodes - (speed ? 1 : 0); ++r) {
      Row row{e, channel, 0, speed, {}, {}};
      for (int k = 0; k < kNodes; ++k) {
        row.node[k] = scale * to_bernstein[r * kNodes + k];
        if (speed) row.node[k] = scale * (kNodes - 1) * (to_bernstein[(r + 1) * kNodes + k] - to_bernstein[r * kNodes + k]);
      }
      table_.push_back(row);
      low_.push_back(scale * low);
      high_.push_back(scale * high);
    }
  }
}

void SplineMotion::limit_joints(double position, double speed) {
  const double places[3][4] = {{1, 4, 1, 0}, {0, 4, 2, 0}, {0, 2, 4, 0}};
  const double speeds[2][4] = {{-1, 1, 0, 0}, {0, -1, 1, 0}};
  for (int e = 0; e < intervals_; ++e) {
    for (int j = 0; j < joints_; ++j) {
      for (int r = 0; r < 5; ++r) {
        Row row{e, -1, j, r >= 3, {}, {}};
        const double limit = r < 3 ? position : speed;
        for (int a = 0; a < 4; ++a) row.control[a] = (r < 3 ? places[r][a] / 6.0 : speeds[r - 3][a]) / limit;
        if (r == 3) {
          row.control[0] = -0.5 / limit;
          row.control[1] = 0.0;
          row.control[2] = 0.5 / limit;
        }
        table_.push_back(row);
        low_.push_back(-1.0);
        high_.push_back(1.0);
      }
    }
  }
}

// With a free duration its factor's bounds are the last row.
void SplineMotion::ready() {
  if (border) {
    table_.push_back(Row{0, kDuration, 0, false, {}, {}});
    low_.push_back(0.5);
    high_.push_back(2.0);
  }
  rows = static_cast<int>(table_.size());
  const std::size_t nodes = static_cast<std::size_t>(intervals_) * kNodes, channels = channels_.size();
  node_values_.resize(nodes * channels);
  scratch_.resize(nodes * std::max<std::size_t>(channels, joints_));
  gradients_.resize(nodes * channels * joints_);
  at_.resize(variables);
}

std::vector<double> SplineMotion::guess() const {
  std::vector<double> out(variables, 1.0);
  for (int b = 0; b < blocks; ++b) {
    const double share = (b + 1.0) / (blocks + 1.0);
    for (int j = 0; j < joints_; ++j) out[b * joints_ + j] = (1.0 - share) * start_[j] + share * end_[j];
  }
  return out;
}

double SplineMotion::control(const double* x, int index, int joint) const {
  if (index < fixed_) return start_[joint];
  if (index >= fixed_ + blocks) return end_[joint];
  return x[(index - fixed_) * joints_ + joint];
}

void SplineMotion::joints_at(const double* x, int interval, double local, double* q) const {
  double basis[4];
  spline_basis(local, basis);
  for (int j = 0; j < joints_; ++j) {
    q[j] = 0.0;
    for (int a = 0; a < 4; ++a) q[j] += basis[a] * control(x, interval + a, j);
  }
}

double SplineMotion::channel_value_at(const double* q, int channel) const {
  const Channel& which = channels_[channel];
  double angle = 0.0, sum = 0.0;
  for (int j = 0; j <= which.link; ++j) {
    angle += q[j];
    sum += (which.kind == Kind::kX ? std::cos(angle) : std::sin(angle)) / joints_;
  }
  return which.kind == Kind::kAngle ? angle : sum;
}

double SplineMotion::channel_value(const double* x, int channel, double time) const {
  const int e = std::min(intervals_ - 1, static_cast<int>(time));
  std::vector<double> q(joints_);
  joints_at(x, e, time - e, q.data());
  return channel_value_at(q.data(), channel);
}

void SplineMotion::nodes_of(const double* x, std::vector<double>& values) const {
  std::vector<double> q(joints_);
  const int channels = static_cast<int>(channels_.size());
  for (int e = 0; e < intervals_; ++e) {
    for (int k = 0; k < kNodes; ++k) {
      joints_at(x, e, node_time(k), q.data());
      for (int c = 0; c < channels; ++c) values[(e * kNodes + k) * channels + c] = channel_value_at(q.data(), c);
    }
  }
}

// Without the duration.
double SplineMotion::row_value(const Row& row, const double* x, const std::vector<double>& values) const {
  double sum = 0.0;
  if (row.channel == kDuration) return x[variables - 1];
  if (row.channel < 0) {
    for (int a = 0; a < 4; ++a) sum += row.control[a] * control(x, row.interval + a, row.joint);
    return sum;
  }
  const int channels = static_cast<int>(channels_.size());
  for (int k = 0; k < kNodes; ++k) sum += row.node[k] * values[(row.interval * kNodes + k) * channels + row.channel];
  return sum;
}

bool SplineMotion::values(const double* x, double* cost, double* rows_out) {
  nodes_of(x, node_values_);
  const double sigma = border ? x[variables - 1] : 1.0;
  for (int i = 0; i < rows; ++i) {
    rows_out[i] = row_value(table_[i], x, node_values_) / (table_[i].speed ? sigma : 1.0);
  }
  *cost = border ? time_weight * sigma : 0.0;
  for (int e = 0; e < intervals_; ++e) {
    for (int j = 0; j < joints_; ++j) {
      const double jerk = control(x, e + 3, j) - 3.0 * control(x, e + 2, j) + 3.0 * control(x, e + 1, j) - control(x, e, j);
      *cost += 0.5 * jerk_weight * jerk * jerk;
    }
  }
  return sigma > 0.0;
}

bool SplineMotion::linearise(const double* x, double* gradient) {
  std::copy(x, x + variables, at_.begin());
  nodes_of(x, node_values_);
  const int channels = static_cast<int>(channels_.size());
  std::vector<double> q(joints_), px(joints_ + 1), py(joints_ + 1);
  for (int node = 0; node < intervals_ * kNodes; ++node) {
    joints_at(x, node / kNodes, node_time(node % kNodes), q.data());
    double angle = 0.0;
    for (int j = 0; j < joints_; ++j) {
      angle += q[j];
      px[j + 1] = px[j] + std::cos(angle) / joints_;
      py[j + 1] = py[j] + std::sin(angle) / joints_;
    }
    for (int c = 0; c < channels; ++c) {
      const Channel& which = channels_[c];
      double* out = gradients_.data() + (static_cast<std::size_t>(node) * channels + c) * joints_;
      for (int j = 0; j < joints_; ++j) {
        const double dx = px[which.link + 1] - px[j], dy = py[which.link + 1] - py[j];
        out[j] = j > which.link ? 0.0 : which.kind == Kind::kX ? -dy : which.kind == Kind::kY ? dx : 1.0;
      }
    }
  }
  std::fill(gradient, gradient + variables, 0.0);
  if (border) gradient[variables - 1] = time_weight;
  const double share[4] = {-1.0, 3.0, -3.0, 1.0};
  for (int e = 0; e < intervals_; ++e) {
    for (int j = 0; j < joints_; ++j) {
      double jerk = 0.0;
      for (int a = 0; a < 4; ++a) jerk += share[a] * control(x, e + a, j);
      for (int a = 0; a < 4; ++a) {
        const int b = e + a - fixed_;
        if (b >= 0 && b < blocks) gradient[b * joints_ + j] += jerk_weight * jerk * share[a];
      }
    }
  }
  return true;
}

// (4, joints), and the derivative by the duration's factor behind.
void SplineMotion::row_gradient(const Row& row, double* local) const {
  const double sigma = border && row.speed ? at_[variables - 1] : 1.0;
  std::fill(local, local + 4 * joints_ + 1, 0.0);
  if (row.channel == kDuration) {
    local[4 * joints_] = 1.0;
  } else if (row.channel < 0) {
    for (int a = 0; a < 4; ++a) local[a * joints_ + row.joint] = row.control[a] / sigma;
  } else {
    const int channels = static_cast<int>(channels_.size());
    for (int k = 0; k < kNodes; ++k) {
      const double* by_q =
          gradients_.data() + (static_cast<std::size_t>(row.interval * kNodes + k) * channels + row.channel) * joints_;
      for (int a = 0; a < 4; ++a) {
        const double factor = row.node[k] * basis_[k][a] / sigma;
        for (int j = 0; j < joints_; ++j) local[a * joints_ + j] += factor * by_q[j];
      }
    }
  }
  if (border && row.speed) local[4 * joints_] = -row_value(row, at_.data(), node_values_) / (sigma * sigma);
}

void SplineMotion::jacobian_times(const double* direction, double* out) {
  std::vector<double> local(4 * joints_ + 1);
  for (int i = 0; i < rows; ++i) {
    row_gradient(table_[i], local.data());
    out[i] = border ? local[4 * joints_] * direction[variables - 1] : 0.0;
    for (int a = 0; a < 4; ++a) {
      const int b = table_[i].interval + a - fixed_;
      if (b < 0 || b >= blocks) continue;
      for (int j = 0; j < joints_; ++j) out[i] += local[a * joints_ + j] * direction[b * joints_ + j];
    }
  }
}

void SplineMotion::jacobian_transposed_times(const double* multipliers, double* out) {
  std::vector<double> local(4 * joints_ + 1);
  std::fill(out, out + variables, 0.0);
  for (int i = 0; i < rows; ++i) {
    row_gradient(table_[i], local.data());
    if (border) out[variables - 1] += local[4 * joints_] * multipliers[i];
    for (int a = 0; a < 4; ++a) {
      const int b = table_[i].interval + a - fixed_;
      if (b < 0 || b >= blocks) continue;
      for (int j = 0; j < joints_; ++j) out[b * joints_ + j] += local[a * joints_ + j] * multipliers[i];
    }
  }
}

void SplineMotion::add_entry(int interval, int a, int i, int b, int j, double value, planning::Banded& out) const {
  const int first = (interval + a - fixed_) * joints_ + i, second = (interval + b - fixed_) * joints_ + j;
  const int size = blocks * joints_;
  if (first < second || second < 0 || first >= size) return;
  out.at(first, second) += value;
}

void SplineMotion::add_local(int interval, const double* local, double weight, planning::Banded& out) const {
  for (int b = 0; b < 4; ++b) {
    for (int j = 0; j < joints_; ++j) {
      const double right = weight * local[b * joints_ + j];
      const int second = interval + b - fixed_;
      if (right == 0.0 || second < 0 || second >= blocks) continue;
      for (int a = b; a < 4 && interval + a - fixed_ < blocks; ++a) {
        for (int i = 0; i < joints_; ++i) add_entry(interval, a, i, b, j, right * local[a * joints_ + i], out);
      }
      if (border) out.arrow[second * joints_ + j] += right * local[4 * joints_];
    }
  }
  if (border) out.corner += weight * local[4 * joints_] * local[4 * joints_];
}

void SplineMotion::add_cost(double scale, planning::Banded& out) const {
  const double share[4] = {-1.0, 3.0, -3.0, 1.0};
  for (int e = 0; e < intervals_; ++e) {
    for (int a = 0; a < 4; ++a) {
      for (int b = 0; b <= a; ++b) {
        for (int j = 0; j < joints_; ++j) add_entry(e, a, j, b, j, scale * jerk_weight * share[a] * share[b], out);
      }
    }
  }
}

void SplineMotion::node_hessian(const double* q, const double* lambda, double* out) const {
  std::vector<double> px(joints_ + 1), py(joints_ + 1);
  double angle = 0.0;
  for (int j = 0; j < joints_; ++j) {
    angle += q[j];
    px[j + 1] = px[j] + std::cos(angle) / joints_;
    py[j + 1] = py[j] + std::sin(angle) / joints_;
  }
  std::fill(out, out + joints_ * joints_, 0.0);
  for (std::size_t c = 0; c < channels_.size(); ++c) {
    const Channel& which = channels_[c];
    if (which.kind == Kind::kAngle) continue;
    const std::vector<double>& place = which.kind == Kind::kX ? px : py;
    for (int i = 0; i <= which.link; ++i) {
      for (int j = 0; j <= which.link; ++j) {
        out[i * joints_ + j] -= lambda[c] * (place[which.link + 1] - place[std::max(i, j)]);
      }
    }
  }
}

void SplineMotion::add_curvature(const double* multipliers, planning::Banded& out) const {
  const std::size_t channels = channels_.size();
  const double sigma = border ? at_[variables - 1] : 1.0;
  std::vector<double> lambda(intervals_ * kNodes * channels, 0.0), q(joints_), hessian(joints_ * joints_);
  std::vector<double> local(4 * joints_ + 1);
  for (int i = 0; i < rows; ++i) {
    const Row& row = table_[i];
    const double y = multipliers[i] / (row.speed ? sigma : 1.0);
    for (int k = 0; row.channel >= 0 && k < kNodes; ++k) lambda[(row.interval * kNodes + k) * channels + row.channel] += y * row.node[k];
    if (!border || !row.speed) continue;
    row_gradient(row, local.data());
    out.corner -= 2.0 * multipliers[i] * local[4 * joints_] / sigma;
    for (int a = 0; a < 4; ++a) {
      const int b = row.interval + a - fixed_;
      if (b < 0 || b >= blocks) continue;
      for (int j = 0; j < joints_; ++j) out.arrow[b * joints_ + j] -= multipliers[i] * local[a * joints_ + j] / sigma;
    }
  }
  for (int node = 0; node < intervals_ * kNodes; ++node) {
    const int e = node / kNodes, k = node % kNodes;
    joints_at(at_.data(), e, node_time(k), q.data());
    node_hessian(q.data(), lambda.data() + node * channels, hessian.data());
    for (int a = 0; a < 4; ++a) {
      for (int b = 0; b <= a; ++b) {
        const double factor = basis_[k][a] * basis_[k][b];
        for (int i = 0; i < joints_; ++i) {
          for (int j = 0; j < (a == b ? i + 1 : joints_); ++j) {
            add_entry(e, a, i, b, j, factor * hessian[i * joints_ + j], out);
          }
        }
      }
    }
  }
}

void SplineMotion::condensed(double cost_scale, const double* multipliers, const double* weights, bool exact,
                             planning::Banded& out) {
  std::fill(out.data.begin(), out.data.end(), 0.0);
  std::fill(out.arrow.begin(), out.arrow.end(), 0.0);
  out.corner = 0.0;
  add_cost(cost_scale, out);
  std::vector<double> local(4 * joints_ + 1);
  for (int i = 0; i < rows; ++i) {
    if (weights[i] == 0.0) continue;
    row_gradient(table_[i], local.data());
    add_local(table_[i].interval, local.data(), weights[i], out);
  }
  if (exact) add_curvature(multipliers, out);
}

}  // namespace robomorph::tests

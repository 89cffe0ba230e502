#include "planning/spline_work.h"

#include <algorithm>
#include <cmath>

namespace robomorph::planning {
namespace {

constexpr int kUsualWidth = 4;  // cubic splines

// Entry i of a spline's rows, before scaling; `control` is the joint's first point.
double row_of(const double* matrix, int width, const double* control, int nv) {
  double total = 0.0;
  for (int w = 0; w < width; ++w) total += matrix[w] * control[w * nv];
  return total;
}

double scale_of(const SplineEntry& entry, double sigma) {
  double power = 1.0;
  for (int i = 0; i < entry.rate; ++i) power *= sigma;
  return entry.inverse_scale / power;
}

}  // namespace

SplineWork::SplineWork(const MotionLayout& layout)
    : l_(layout), pairs_(whole_lanes(layout.width * (layout.width + 1) / 2)),
      gradients_(layout.slots.size() * (layout.width + 1)), squares_(layout.slots.size() * pairs_),
      borders_(layout.slots.size() * (layout.width + 1)) {}

void SplineWork::values(int strip, const double* control, double sigma, double* rows) const {
  l_.width == kUsualWidth ? rows_of<kUsualWidth>(strip, control, sigma, rows) : rows_of<0>(strip, control, sigma, rows);
}

template <int fixed>
void SplineWork::rows_of(int strip, const double* control, double sigma, double* rows) const {
  const int width = fixed > 0 ? fixed : l_.width;
  const SplineStrip& s = l_.strips[strip];
  for (int slot = s.first; slot < s.end; ++slot) {
    const double* p = control + s.point * l_.nv + l_.slots[slot].joint;
    for (int e = l_.slots[slot].first; e < l_.slots[slot].end; ++e) {
      const SplineEntry& entry = l_.spline_entries[e];
      const double* matrix = l_.spline_matrices[entry.matrix].entries.data();
      const double scale = scale_of(entry, sigma);
      for (int i = 0; i < entry.rows; ++i) rows[entry.row + i] = scale * row_of(matrix + i * width, width, p, l_.nv);
    }
  }
}

void SplineWork::times(int strip, const double* control, double sigma, const double* direction, double sigma_direction,
                       double* rows) const {
  values(strip, direction, sigma, rows);
  if (l_.border == 0) return;
  const SplineStrip& s = l_.strips[strip];
  for (int slot = s.first; slot < s.end; ++slot) {
    const double* p = control + s.point * l_.nv + l_.slots[slot].joint;
    for (int e = l_.slots[slot].first; e < l_.slots[slot].end; ++e) {
      const SplineEntry& entry = l_.spline_entries[e];
      const double* matrix = l_.spline_matrices[entry.matrix].entries.data();
      const double scale = -entry.rate / sigma * scale_of(entry, sigma) * sigma_direction;
      for (int i = 0; i < entry.rows; ++i) rows[entry.row + i] += scale * row_of(matrix + i * l_.width, l_.width, p, l_.nv);
    }
  }
}

void SplineWork::transposed_times(int strip, const double* control, double sigma, const double* multipliers) {
  l_.width == kUsualWidth ? add_transposed<kUsualWidth>(strip, control, sigma, multipliers)
                          : add_transposed<0>(strip, control, sigma, multipliers);
}

template <int fixed>
void SplineWork::add_transposed(int strip, const double* control, double sigma, const double* multipliers) {
  const int width = fixed > 0 ? fixed : l_.width;
  const SplineStrip& s = l_.strips[strip];
  for (int slot = s.first; slot < s.end; ++slot) {
    double* out = gradients_.data() + slot * (width + 1);
    std::fill_n(out, width + 1, 0.0);
    const double* p = control + s.point * l_.nv + l_.slots[slot].joint;
    for (int e = l_.slots[slot].first; e < l_.slots[slot].end; ++e) {
      const SplineEntry& entry = l_.spline_entries[e];
      const double* matrix = l_.spline_matrices[entry.matrix].entries.data();
      const double scale = scale_of(entry, sigma), slope = -entry.rate / sigma * scale;
      for (int i = 0; i < entry.rows; ++i) {
        const double m = multipliers[entry.row + i];
        for (int w = 0; w < width; ++w) out[w] += scale * m * matrix[i * width + w];
        if (l_.border != 0) out[width] += slope * m * row_of(matrix + i * width, width, p, l_.nv);
      }
    }
  }
}

void SplineWork::condense(int strip, const double* control, double sigma, const double* multipliers,
                          const double* weights, bool exact) {
  const SplineStrip& s = l_.strips[strip];
  for (int slot = s.first; slot < s.end; ++slot) {
    double* out = squares_.data() + slot * pairs_;
    double* border = borders_.data() + slot * (l_.width + 1);
    std::fill_n(out, pairs_, 0.0);
    std::fill_n(border, l_.width + 1, 0.0);
    const double* p = control + s.point * l_.nv + l_.slots[slot].joint;
    for (int e = l_.slots[slot].first; e < l_.slots[slot].end; ++e) {
      const SplineEntry& entry = l_.spline_entries[e];
      const double* products = l_.spline_matrices[entry.matrix].products.data();
      const double scale = scale_of(entry, sigma);
      for (int i = 0; i < entry.rows; ++i) {
        const double weight = scale * scale * weights[entry.row + i];
        for (int k = 0; k < pairs_; ++k) out[k] += weight * products[i * pairs_ + k];
      }
      if (l_.border != 0 && entry.rate != 0) add_border(entry, p, sigma, multipliers, weights, exact, border);
    }
  }
}

// A row is sigma ^ -rate times a linear function, so its derivative by sigma is -rate / sigma times the row.
void SplineWork::add_border(const SplineEntry& entry, const double* control, double sigma, const double* multipliers,
                            const double* weights, bool exact, double* out) const {
  const double* matrix = l_.spline_matrices[entry.matrix].entries.data();
  const double scale = scale_of(entry, sigma), first = -entry.rate / sigma;
  const double second = entry.rate * (entry.rate + 1) / (sigma * sigma);
  for (int i = 0; i < entry.rows; ++i) {
    const double row = scale * row_of(matrix + i * l_.width, l_.width, control, l_.nv);
    const double m = exact ? multipliers[entry.row + i] : 0.0, weight = weights[entry.row + i];
    const double mixed = first * scale * (weight * row + m);
    for (int w = 0; w < l_.width; ++w) out[w] += mixed * matrix[i * l_.width + w];
    out[l_.width] += weight * first * first * row * row + m * second * row;
  }
}

}  // namespace robomorph::planning

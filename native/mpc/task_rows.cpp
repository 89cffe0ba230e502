#include "mpc/task_rows.h"

namespace robomorph::mpc {

TaskRows::TaskRows(Work& work) : w_(work), loops_(row_loops()) {
  const Shape& s = w_.shape;
  by_q_ = Doubles(s.numbers(s.rows * s.nv));
  if (s.row_velocity) by_v_ = Doubles(s.numbers(s.rows * s.nv));
  workspace_ = Doubles(w_.problem.row_kernel.workspace / sizeof(double) + kLanes);
}

void TaskRows::evaluate() {
  const Shape& s = w_.shape;
  for (int g = 0; g < s.groups() && s.rows > 0; ++g) {
    const std::size_t at = static_cast<std::size_t>(g) * s.nv * kLanes;
    const std::size_t row = static_cast<std::size_t>(g) * s.rows * kLanes;
    const double* reference = w_.row_reference + static_cast<std::size_t>(g) * w_.problem.references * kLanes;
    const double *q = w_.terms[kPosition].trial + at, *v = w_.terms[kVelocity].trial + at;
    double *values = w_.terms[kRow].trial + row, *by_q = by_q_.data() + row * s.nv;
    if (s.row_velocity) {
      const void* in[] = {q, v, reference};
      void* out[] = {values, by_q, by_v_.data() + row * s.nv};
      w_.problem.row_kernel.fn(in, out, workspace_.data());
    } else {
      const void* in[] = {q, reference};
      void* out[] = {values, by_q};
      w_.problem.row_kernel.fn(in, out, workspace_.data());
    }
  }
}

void TaskRows::change() const {
  const Shape& s = w_.shape;
  if (s.rows == 0) return;
  const Terms* t = w_.terms;
  loops_.multiply(by_q_.data(), t[kPosition].change, s.rows, s.nv, s.groups(), false, t[kRow].change);
  if (!s.row_velocity) return;
  loops_.multiply(by_v_.data(), t[kVelocity].change, s.rows, s.nv, s.groups(), true, t[kRow].change);
}

}  // namespace robomorph::mpc

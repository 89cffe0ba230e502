#include "python/planning_module.h"

#include <memory>
#include <new>
#include <string>

#include "core/cpus.h"
#include "planning/motion_problem.h"
#include "python/planning_device.h"
#include "python/planning_handle.h"
#include "python/planning_numbers.h"
#include "python/planning_solve.h"

namespace robomorph {
namespace {

using planning::Banded;
using planning::MotionProblem;

PyObject* py_motion_problem(PyObject*, PyObject* const* args, Py_ssize_t nargs) {
  if (nargs != 4) return PyErr_Format(PyExc_TypeError, "expected 4 arguments, found %zd", nargs);
  const Py_ssize_t threads = PyLong_AsSsize_t(args[2]);
  if (threads == -1 && PyErr_Occurred()) return nullptr;
  try {
    planning::MotionData data;
    planning::MotionKernels kernels;
    if (!read_motion(args[0], data) || !read_motion_kernels(args[1], kernels)) return nullptr;
    auto handle = std::make_unique<MotionHandle>();
    handle->device = read_node_device(args[1], data);
    if (PyErr_Occurred() != nullptr) return nullptr;
    kernels.device = handle->device.get();
    const std::string fault = planning::motion_fault(data, kernels);
    if (!fault.empty()) {
      PyErr_SetString(PyExc_ValueError, fault.c_str());
      return nullptr;
    }
    const std::size_t count = threads > 0 ? static_cast<std::size_t>(threads) : default_threads();
    handle->problem = std::make_unique<MotionProblem>(std::move(data), kernels, count);
    return wrap_motion(std::move(handle), args[3]);
  } catch (const std::bad_alloc&) {
    return PyErr_NoMemory();
  }
}

PyObject* py_motion_sizes(PyObject*, PyObject* capsule) {
  const MotionUse use(capsule);
  if (!use) return nullptr;
  const MotionProblem& p = *use;
  return Py_BuildValue("{sisisisisisi}", "variables", p.variables, "rows", p.rows, "block", p.block, "blocks", p.blocks,
                       "reach", p.reach, "border", p.border);
}

PyObject* py_motion_initial(PyObject*, PyObject* capsule) {
  const MotionUse use(capsule);
  if (!use) return nullptr;
  PyReference x(new_doubles(use->variables));
  if (x) use->initial(x.doubles());
  return x.release();
}

// Lower and upper bounds as they are drawn in now, and margins.
PyObject* py_motion_bounds(PyObject*, PyObject* capsule) {
  const MotionUse use(capsule);
  if (!use) return nullptr;
  const double* from[] = {use->lower(), use->upper(), use->margins()};
  PyReference out[3];
  for (int i = 0; i < 3; ++i) {
    out[i] = PyReference(new_doubles(use->rows));
    if (!out[i]) return nullptr;
    std::copy_n(from[i], use->rows, out[i].doubles());
  }
  return PyTuple_Pack(3, out[0].get(), out[1].get(), out[2].get());
}

PyObject* py_motion_refresh_margins(PyObject*, PyObject* const* args, Py_ssize_t nargs) {
  if (!expect(nargs, 2)) return nullptr;
  const MotionUse use(args[0]);
  PyReference x(use ? take_doubles(args[1], use->variables, "x") : nullptr);
  if (!x) return nullptr;
  bool changed = false;
  Py_BEGIN_ALLOW_THREADS
  changed = use->refresh_margins(x.doubles());
  Py_END_ALLOW_THREADS
  return PyBool_FromLong(changed);
}

PyObject* py_motion_values(PyObject*, PyObject* const* args, Py_ssize_t nargs) {
  if (!expect(nargs, 2)) return nullptr;
  const MotionUse use(args[0]);
  PyReference x(use ? take_doubles(args[1], use->variables, "x") : nullptr);
  PyReference rows(x ? new_doubles(use->rows) : nullptr);
  if (!rows) return nullptr;
  double cost = 0.0;
  bool fine = false;
  Py_BEGIN_ALLOW_THREADS
  fine = use->values(x.doubles(), &cost, rows.doubles());
  Py_END_ALLOW_THREADS
  return Py_BuildValue("(OdO)", fine ? Py_True : Py_False, cost, rows.get());
}

PyObject* py_motion_linearise(PyObject*, PyObject* const* args, Py_ssize_t nargs) {
  if (!expect(nargs, 2)) return nullptr;
  const MotionUse use(args[0]);
  PyReference x(use ? take_doubles(args[1], use->variables, "x") : nullptr);
  PyReference gradient(x ? new_doubles(use->variables) : nullptr);
  if (!gradient) return nullptr;
  bool fine = false;
  Py_BEGIN_ALLOW_THREADS
  fine = use->linearise(x.doubles(), gradient.doubles());
  Py_END_ALLOW_THREADS
  return Py_BuildValue("(OO)", fine ? Py_True : Py_False, gradient.get());
}

PyObject* py_motion_times(PyObject*, PyObject* const* args, Py_ssize_t nargs) {
  if (!expect(nargs, 2)) return nullptr;
  const MotionUse use(args[0]);
  PyReference direction(use ? take_doubles(args[1], use->variables, "direction") : nullptr);
  PyReference rows(direction ? new_doubles(use->rows) : nullptr);
  if (!rows) return nullptr;
  Py_BEGIN_ALLOW_THREADS
  use->jacobian_times(direction.doubles(), rows.doubles());
  Py_END_ALLOW_THREADS
  return rows.release();
}

PyObject* py_motion_transposed_times(PyObject*, PyObject* const* args, Py_ssize_t nargs) {
  if (!expect(nargs, 2)) return nullptr;
  const MotionUse use(args[0]);
  PyReference multipliers(use ? take_doubles(args[1], use->rows, "multipliers") : nullptr);
  PyReference out(multipliers ? new_doubles(use->variables) : nullptr);
  if (!out) return nullptr;
  Py_BEGIN_ALLOW_THREADS
  use->jacobian_transposed_times(multipliers.doubles(), out.doubles());
  Py_END_ALLOW_THREADS
  return out.release();
}

// Both halves, the border last.
void write_dense(Banded& banded, int variables, double* out) {
  for (int j = 0; j < banded.size; ++j) {
    for (int i = j; i < banded.size && i - j <= banded.half; ++i) {
      out[i * variables + j] = out[j * variables + i] = banded.at(i, j);
    }
    if (banded.border != 0) out[(variables - 1) * variables + j] = out[j * variables + variables - 1] = banded.arrow[j];
  }
  if (banded.border != 0) out[variables * variables - 1] = banded.corner;
}

PyObject* py_motion_condensed(PyObject*, PyObject* const* args, Py_ssize_t nargs) {
  if (!expect(nargs, 5)) return nullptr;
  const MotionUse use(args[0]);
  const double cost_scale = use ? PyFloat_AsDouble(args[1]) : -1.0;
  if (PyErr_Occurred()) return nullptr;
  PyReference multipliers(take_doubles(args[2], use->rows, "multipliers"));
  PyReference weights(multipliers ? take_doubles(args[3], use->rows, "weights") : nullptr);
  const int exact = weights ? PyObject_IsTrue(args[4]) : -1;
  if (exact < 0) return nullptr;
  const npy_intp dims[] = {use->variables, use->variables};
  PyReference out(PyArray_ZEROS(2, const_cast<npy_intp*>(dims), NPY_DOUBLE, 0));
  if (!out) return nullptr;
  try {
    Banded banded;
    banded.size = use->blocks * use->block;
    banded.half = (use->reach + 1) * use->block - 1;
    banded.stride = banded.half + 1;
    banded.border = use->border;
    banded.data.resize(static_cast<std::size_t>(banded.size) * banded.stride);
    banded.arrow.resize(banded.size);
    Py_BEGIN_ALLOW_THREADS
    use->condensed(cost_scale, multipliers.doubles(), weights.doubles(), exact == 1, banded);
    write_dense(banded, use->variables, out.doubles());
    Py_END_ALLOW_THREADS
  } catch (const std::bad_alloc&) {
    return PyErr_NoMemory();
  }
  return out.release();
}

PyCFunction fast(PyObject* (*function)(PyObject*, PyObject* const*, Py_ssize_t)) {
  return reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(function));
}

PyMethodDef functions[] = {
    {"motion_problem", fast(py_motion_problem), METH_FASTCALL,
     "motion_problem(numbers, kernels, threads, keep, /)\n--\n\nA problem for the functions below; `keep` lives with it."},
    {"motion_sizes", py_motion_sizes, METH_O, "motion_sizes(problem, /)\n--\n\nvariables, rows, block, ..."},
    {"motion_initial", py_motion_initial, METH_O, "motion_initial(problem, /)\n--\n\nx (variables,)."},
    {"motion_bounds", py_motion_bounds, METH_O, "motion_bounds(problem, /)\n--\n\nlower, upper, margins (rows,)."},
    {"motion_refresh_margins", fast(py_motion_refresh_margins), METH_FASTCALL,
     "motion_refresh_margins(problem, x, /)\n--\n\nHave they changed?"},
    {"motion_values", fast(py_motion_values), METH_FASTCALL, "motion_values(problem, x, /)\n--\n\nfinite, cost, rows."},
    {"motion_linearise", fast(py_motion_linearise), METH_FASTCALL,
     "motion_linearise(problem, x, /)\n--\n\nfinite, the cost's gradient."},
    {"motion_times", fast(py_motion_times), METH_FASTCALL, "motion_times(problem, direction, /)\n--\n\nJ direction."},
    {"motion_transposed_times", fast(py_motion_transposed_times), METH_FASTCALL,
     "motion_transposed_times(problem, multipliers, /)\n--\n\nJ' multipliers."},
    {"motion_condensed", fast(py_motion_condensed), METH_FASTCALL,
     "motion_condensed(problem, cost_scale, multipliers, weights, exact, /)\n--\n\n(variables, variables)."},
    {"motion_solve", fast(py_motion_solve), METH_FASTCALL,
     "motion_solve(problem, x, options, progress, multipliers, /)\n--\n\nWhere the solver ended, as a dictionary."},
    {nullptr, nullptr, 0, nullptr},
};

}  // namespace

bool add_planning_functions(PyObject* module) { return PyModule_AddFunctions(module, functions) == 0; }

}  // namespace robomorph

#include "python/mpc_numbers.h"

#include <cmath>
#include <cstdint>
#include <string>

#include "core/cpus.h"

namespace robomorph {
namespace {

using mpc::Problem;
using mpc::Table;

constexpr const char* kNames[] = {"torque", "q", "v", "a", "row"};

// A number of a dictionary; false with an exception set. Without it, `out` stays.
bool read_number(PyObject* dictionary, const char* name, double& out) {
  PyObject* value = PyDict_GetItemString(dictionary, name);
  if (value == nullptr) return true;
  out = PyFloat_AsDouble(value);
  return PyErr_Occurred() == nullptr;
}

bool read_count(PyObject* dictionary, const char* name, int least, int& out) {
  double number = out;
  if (!read_number(dictionary, name, number)) return false;
  if (number >= least && number <= 1e6 && number == std::floor(number)) {
    out = static_cast<int>(number);
    return true;
  }
  PyErr_Format(PyExc_ValueError, "%s: expected a whole number from %d to 1000000", name, least);
  return false;
}

bool read_flag(PyObject* dictionary, const char* name, bool& out) {
  PyObject* value = PyDict_GetItemString(dictionary, name);
  if (value == nullptr) return true;
  const int truth = PyObject_IsTrue(value);
  out = truth == 1;
  return truth >= 0;
}

bool read_kernel(PyObject* kernels, const char* name, mpc::Kernel& out) {
  PyObject* value = PyDict_GetItemString(kernels, name);
  unsigned long long address = 0;
  Py_ssize_t workspace = 0;
  if (value == nullptr) return PyErr_Format(PyExc_KeyError, "kernels: '%s' is missing", name) != nullptr;
  if (!PyArg_ParseTuple(value, "Kn", &address, &workspace)) return false;
  if (address == 0 || workspace < 0) return PyErr_Format(PyExc_ValueError, "kernels: '%s' is no function", name) != nullptr;
  out.fn = reinterpret_cast<decltype(out.fn)>(static_cast<std::uintptr_t>(address));
  out.workspace = static_cast<std::size_t>(workspace);
  return true;
}

// Arrays of a dictionary, used in place. The first that is wrong sets an exception, and all later ones do nothing.
class Arrays {
 public:
  Arrays(PyObject* dictionary, std::vector<PyObject*>& kept) : dictionary_(dictionary), kept_(kept) {}

  bool fine() const { return fine_; }

  // Null, and no complaint, where there is none and none is needed. A dimension of -1 may be anything.
  PyArrayObject* find(const std::string& name, int type, std::initializer_list<npy_intp> shape, bool written, bool needed) {
    if (!fine_) return nullptr;
    PyObject* object = PyDict_GetItemString(dictionary_, name.c_str());
    if (object == nullptr) {
      if (needed) fail(name, "is missing");
      return nullptr;
    }
    const int flags = written ? NPY_ARRAY_CARRAY : NPY_ARRAY_CARRAY_RO;
    PyArrayObject* array = reinterpret_cast<PyArrayObject*>(object);
    if (!PyArray_Check(object) || PyArray_TYPE(array) != type || !PyArray_ISNOTSWAPPED(array) ||
        !PyArray_CHKFLAGS(array, flags)) {
      fail(name, type == NPY_DOUBLE ? "is not a C-contiguous array of float64" : "is not a C-contiguous array of int64");
      return nullptr;
    }
    if (PyArray_NDIM(array) != static_cast<int>(shape.size())) return fail(name, "has another number of dimensions");
    int d = 0;
    for (npy_intp size : shape) {
      if (size >= 0 && PyArray_DIM(array, d) != size) return fail(name, "has another shape");
      ++d;
    }
    Py_INCREF(object);
    kept_.push_back(object);
    return array;
  }

  const double* read(const std::string& name, std::initializer_list<npy_intp> shape, bool needed) {
    PyArrayObject* array = find(name, NPY_DOUBLE, shape, false, needed);
    return array == nullptr ? nullptr : static_cast<const double*>(PyArray_DATA(array));
  }

  double* written(const std::string& name, std::initializer_list<npy_intp> shape) {
    PyArrayObject* array = find(name, NPY_DOUBLE, shape, true, false);
    return array == nullptr ? nullptr : static_cast<double*>(PyArray_DATA(array));
  }

  // (problems or 1, nodes, 2 or 1, entries).
  Table table(const std::string& name, int problems, int nodes, int entries, bool two) {
    PyArrayObject* array = find(name, NPY_DOUBLE, {-1, -1, entries}, false, false);
    if (array == nullptr || entries == 0) return {};
    const npy_intp first = PyArray_DIM(array, 0), second = PyArray_DIM(array, 1);
    if ((first != 1 && first != problems) || (second != 1 && second != nodes && !(two && second == 2))) {
      fail(name, "has another shape");
      return {};
    }
    return {static_cast<const double*>(PyArray_DATA(array)), static_cast<int>(first), static_cast<int>(second)};
  }

 private:
  PyArrayObject* fail(const std::string& name, const char* what) {
    if (fine_) PyErr_Format(PyExc_ValueError, "arrays: '%s' %s", name.c_str(), what);
    fine_ = false;
    return nullptr;
  }

  PyObject* dictionary_;
  std::vector<PyObject*>& kept_;
  bool fine_ = true;
};

void read_wishes(Arrays& arrays, Problem& p) {
  for (int x = 0; x < mpc::kBoundable; ++x) {
    const std::string name = kNames[x];
    const int nodes = p.nodes(x), entries = p.entries(x);
    mpc::Wishes& w = p.wishes[x];
    if (x != mpc::kRow) w.reference = arrays.table(name + "_reference", p.problems, nodes, entries, false);
    w.weight = arrays.table(name + "_weight", p.problems, nodes, entries, true);
    w.lower = arrays.table(name + "_lower", p.problems, nodes, entries, false);
    w.upper = arrays.table(name + "_upper", p.problems, nodes, entries, false);
    w.soft = arrays.read(name + "_soft", {entries}, false);
    w.scale = arrays.read(name + "_scale", {entries}, false);
    p.out.multiplier[x] = arrays.written(name + "_multiplier", {p.problems, nodes, entries});
  }
  p.row_reference = arrays.table("row_reference", p.problems, p.horizon + 1, p.references, false);
}

void read_results(Arrays& arrays, Problem& p) {
  const npy_intp b = p.problems, n = p.horizon, nv = p.nv;
  p.out.q = arrays.written("plan_q", {b, n + 1, nv});
  p.out.v = arrays.written("plan_v", {b, n + 1, nv});
  p.out.a = arrays.written("plan_a", {b, n, nv});
  p.out.torque = arrays.written("plan_tau", {b, n, nv});
  p.out.gains = arrays.written("gains", {b, nv, 2 * nv});
  p.out.torque_gains = arrays.written("torque_gains", {b, nv, 2 * nv});
  p.out.cost = arrays.written("cost", {b});
  p.out.soft_cost = arrays.written("soft_cost", {b});
  p.out.violation = arrays.written("violation", {b});
  p.out.worst = arrays.written("worst", {b, 4});
  p.out.times = arrays.written("times", {b, 4});
  PyArrayObject* trace = arrays.find("trace", NPY_DOUBLE, {b, -1}, true, false);
  if (trace != nullptr) {
    p.out.trace = static_cast<double*>(PyArray_DATA(trace));
    p.out.trace_width = static_cast<int>(PyArray_DIM(trace, 1));
  }
  PyArrayObject* counts = arrays.find("counts", NPY_INT64, {b, -1}, true, false);
  if (counts == nullptr) return;
  p.out.counts = static_cast<std::int64_t*>(PyArray_DATA(counts));
  p.out.counts_width = static_cast<int>(PyArray_DIM(counts, 1));
}

bool read_numbers(PyObject* numbers, Problem& p, std::size_t& threads) {
  int count = 1;
  const bool fine = read_count(numbers, "nv", 1, p.nv) && read_count(numbers, "horizon", 1, p.horizon) &&
                    read_number(numbers, "dt", p.dt) && read_count(numbers, "rows", 0, p.rows) &&
                    read_flag(numbers, "row_velocity", p.row_velocity) &&
                    read_count(numbers, "references", 0, p.references) && read_flag(numbers, "jerk", p.jerk) &&
                    read_count(numbers, "problems", 1, p.problems) && read_count(numbers, "threads", 0, count) &&
                    read_number(numbers, "tolerance", p.tolerance) && read_number(numbers, "optimal", p.optimal) && read_count(numbers, "cap", 1, p.cap) &&
                    read_flag(numbers, "relax_start", p.relax_start);
  if (!fine) return false;
  if (p.nv < 1 || p.horizon < 1 || !(p.dt > 0.0) || !std::isfinite(p.dt) || !(p.tolerance > 0.0) ||
      !(p.optimal > 0.0)) {
    PyErr_SetString(PyExc_ValueError, "numbers: expected nv, horizon, dt, tolerance and optimal above zero");
    return false;
  }
  threads = count > 0 ? static_cast<std::size_t>(count) : default_threads();
  return true;
}

// The method, and the kernels that it asks for.
bool read_method(PyObject* numbers, PyObject* kernels, Problem& p) {
  int method = 0;
  if (!read_count(numbers, "method", 0, method)) return false;
  if (method > static_cast<int>(mpc::Method::kRk4)) {
    PyErr_SetString(PyExc_ValueError, "method: expected 0 to 3");
    return false;
  }
  p.method = static_cast<mpc::Method>(method);
  if (p.method == mpc::Method::kInverse) return read_kernel(kernels, "torque", p.torque);
  if (p.jerk) {
    PyErr_SetString(PyExc_ValueError, "jerk: only with accelerations as controls");
    return false;
  }
  return read_kernel(kernels, "torque_values", p.torque_values) &&
         read_kernel(kernels, "acceleration", p.acceleration) &&
         read_kernel(kernels, "acceleration_gradient", p.acceleration_gradient);
}

}  // namespace

bool read_control(PyObject* numbers, PyObject* kernels, PyObject* dictionary, Problem& p, std::size_t& threads,
                  std::vector<PyObject*>& kept) {
  if (!PyDict_Check(numbers) || !PyDict_Check(kernels) || !PyDict_Check(dictionary)) {
    PyErr_SetString(PyExc_TypeError, "expected dictionaries of numbers, kernels and arrays");
    return false;
  }
  if (!read_numbers(numbers, p, threads)) return false;
  if (!read_method(numbers, kernels, p)) return false;
  if (p.rows > 0 && !read_kernel(kernels, "rows", p.row_kernel)) return false;
  Arrays arrays(dictionary, kept);
  p.state_q = arrays.read("state_q", {p.problems, p.nv}, true);
  p.state_v = arrays.read("state_v", {p.problems, p.nv}, true);
  p.last_a = arrays.read("last_a", {p.problems, p.nv}, false);
  p.jerk_weight = arrays.read("jerk_weight", {p.nv}, p.jerk);
  read_wishes(arrays, p);
  read_results(arrays, p);
  return arrays.fine();
}

}  // namespace robomorph

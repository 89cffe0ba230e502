#include "python/planning_numbers.h"

#include <cstdint>
#include <string>

namespace robomorph {
namespace {

using planning::MotionData;
using planning::MotionKernel;
using planning::MotionMatrix;

// Entries of a dictionary. The first that is missing or wrong sets an exception, and all later ones do nothing.
class Numbers {
 public:
  explicit Numbers(PyObject* dictionary) : dictionary_(dictionary), fine_(PyDict_Check(dictionary) != 0) {
    if (!fine_) PyErr_SetString(PyExc_TypeError, "numbers: expected a dictionary");
  }

  bool fine() const { return fine_; }

  void read(const char* name, std::vector<double>& out) { read_array(item(name), NPY_DOUBLE, out); }
  void read(const char* name, std::vector<int>& out) { read_array(item(name), NPY_INT32, out); }
  void read(const char* name, std::vector<unsigned char>& out) { read_array(item(name), NPY_UINT8, out); }

  void read(const char* name, double& out) {
    PyObject* value = item(name);
    if (value == nullptr) return;
    out = PyFloat_AsDouble(value);
    fine_ = out != -1.0 || PyErr_Occurred() == nullptr;
  }

  void read(const char* name, int& out) {
    PyObject* value = item(name);
    if (value == nullptr) return;
    const long number = PyLong_AsLong(value);
    fine_ = (number != -1 || PyErr_Occurred() == nullptr) && number == static_cast<int>(number);
    if (!fine_ && PyErr_Occurred() == nullptr) PyErr_Format(PyExc_ValueError, "%s: too large", name);
    out = static_cast<int>(number);
  }

  void read(const char* name, bool& out) {
    PyObject* value = item(name);
    if (value != nullptr) out = PyObject_IsTrue(value) == 1;
  }

  // A sequence of matrices.
  void read(const char* name, std::vector<MotionMatrix>& out) {
    PyObject* value = item(name);
    if (value == nullptr) return;
    PyObject* list = PySequence_Fast(value, "matrices: expected a sequence of arrays");
    fine_ = list != nullptr;
    for (Py_ssize_t i = 0; fine_ && i < PySequence_Fast_GET_SIZE(list); ++i) {
      MotionMatrix matrix;
      read_array(PySequence_Fast_GET_ITEM(list, i), NPY_DOUBLE, matrix.entries, &matrix.rows);
      out.push_back(std::move(matrix));
    }
    Py_XDECREF(list);
  }

 private:
  PyObject* item(const char* name) {  // borrowed
    if (!fine_) return nullptr;
    PyObject* value = PyDict_GetItemString(dictionary_, name);
    fine_ = value != nullptr;
    if (!fine_) PyErr_Format(PyExc_KeyError, "%s is missing", name);
    return value;
  }

  template <typename T>
  void read_array(PyObject* value, int type, std::vector<T>& out, int* rows = nullptr) {
    if (value == nullptr) return;
    PyObject* object = PyArray_FROMANY(value, type, 0, 0, NPY_ARRAY_IN_ARRAY);
    fine_ = object != nullptr;
    if (!fine_) return;
    PyArrayObject* array = reinterpret_cast<PyArrayObject*>(object);
    const T* data = static_cast<const T*>(PyArray_DATA(array));
    out.assign(data, data + PyArray_SIZE(array));
    if (rows != nullptr) *rows = PyArray_NDIM(array) == 2 ? static_cast<int>(PyArray_DIM(array, 0)) : -1;
    Py_DECREF(object);
  }

  PyObject* dictionary_;
  bool fine_;
};

void read_rows(Numbers& n, MotionData& d) {
  n.read("rows_piece", d.rows.piece);
  n.read("rows_function", d.rows.function);
  n.read("rows_matrix", d.rows.matrix);
  n.read("rows_rate", d.rows.rate);
  n.read("rows_lower", d.rows.lower);
  n.read("rows_upper", d.rows.upper);
  n.read("rows_scale", d.rows.scale);
  n.read("rows_noise", d.rows.noise);
  n.read("spline_rows_first", d.spline_rows.first);
  n.read("spline_rows_joint", d.spline_rows.joint);
  n.read("spline_rows_matrix", d.spline_rows.matrix);
  n.read("spline_rows_rate", d.spline_rows.rate);
  n.read("spline_rows_lower", d.spline_rows.lower);
  n.read("spline_rows_upper", d.spline_rows.upper);
  n.read("spline_rows_scale", d.spline_rows.scale);
}

void read_cost(Numbers& n, MotionData& d) {
  n.read("cost_jerk", d.cost.jerk);
  n.read("cost_energy", d.cost.energy);
  n.read("cost_time", d.cost.time);
  n.read("cost_smoothness", d.cost.smoothness);
  n.read("cost_joint_weight", d.cost.joint_weight);
  n.read("cost_torque_scale", d.cost.torque_scale);
}

bool read_kernel(PyObject* kernels, const char* name, MotionKernel& out) {
  PyObject* value = PyDict_GetItemString(kernels, name);
  if (value == nullptr) return true;
  unsigned long long address = 0;
  Py_ssize_t workspace = 0;
  if (!PyArg_ParseTuple(value, "Kn", &address, &workspace)) return false;
  out = {reinterpret_cast<KernelFn>(static_cast<std::uintptr_t>(address)), static_cast<std::size_t>(workspace)};
  return true;
}

}  // namespace

bool read_motion(PyObject* numbers, MotionData& d) {
  Numbers n(numbers);
  n.read("nv", d.nv);
  n.read("width", d.width);
  n.read("channels", d.channels);
  n.read("points", d.points);
  n.read("torque", d.torque);
  n.read("seconds", d.seconds);
  n.read("free_duration", d.free_duration);
  n.read("shortest", d.shortest);
  n.read("longest", d.longest);
  n.read("references", d.references);
  n.read("control", d.control);
  n.read("block_of", d.block_of);
  n.read("pattern", d.pattern);
  n.read("pieces_count", d.pieces.count);
  n.read("pieces_nodes", d.pieces.nodes);
  n.read("pieces_first", d.pieces.first);
  n.read("pieces_basis", d.pieces.basis);
  n.read("pieces_between", d.pieces.between);
  n.read("pieces_quadrature", d.pieces.quadrature);
  n.read("matrices", d.matrices);
  n.read("coarse", d.coarse);
  n.read("fine", d.fine);
  n.read("spline_matrices", d.spline_matrices);
  read_rows(n, d);
  read_cost(n, d);
  return n.fine();
}

bool read_motion_kernels(PyObject* kernels, planning::MotionKernels& out) {
  if (!PyDict_Check(kernels)) {
    PyErr_SetString(PyExc_TypeError, "kernels: expected a dictionary");
    return false;
  }
  return read_kernel(kernels, "channel_values", out.channel_values) && read_kernel(kernels, "channels", out.channels) &&
         read_kernel(kernels, "channel_hessian", out.channel_hessian) &&
         read_kernel(kernels, "torque_values", out.torque_values) && read_kernel(kernels, "torques", out.torques) &&
         read_kernel(kernels, "torque_hessian", out.torque_hessian);
}

}  // namespace robomorph

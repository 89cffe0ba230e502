#include "python/ik_numbers.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace robomorph {
namespace {

constexpr double kExact = 1e-12;
constexpr double kFarthest = 1e12;  // what is beyond takes the general way, which refuses positions like that

bool modest(double x) { return std::fabs(x) <= kFarthest; }  // false for NaN

PyArrayObject* plain_array(PyObject* value, int tail) {
  if (!PyArray_Check(value)) return nullptr;
  PyArrayObject* array = reinterpret_cast<PyArrayObject*>(value);
  const bool plain = PyArray_TYPE(array) == NPY_DOUBLE && PyArray_IS_C_CONTIGUOUS(array) && PyArray_ISALIGNED(array) &&
                     PyArray_ISNOTSWAPPED(array) && PyArray_NDIM(array) >= tail;
  return plain ? array : nullptr;
}

// Row-major 4 x 4: is it a pose, its rotation orthogonal and right-handed?
bool is_pose(const double* m) {
  if (m[12] != 0.0 || m[13] != 0.0 || m[14] != 0.0 || m[15] != 1.0) return false;
  if (!modest(m[3]) || !modest(m[7]) || !modest(m[11])) return false;
  for (int i = 0; i < 3; ++i) {
    for (int j = i; j < 3; ++j) {
      const double* a = m + 4 * i;
      const double* b = m + 4 * j;
      const double dot = a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
      if (!(std::fabs(dot - (i == j ? 1.0 : 0.0)) <= kExact)) return false;
    }
  }
  const double cx = m[1] * m[6] - m[2] * m[5], cy = m[2] * m[4] - m[0] * m[6], cz = m[0] * m[5] - m[1] * m[4];
  return cx * m[8] + cy * m[9] + cz * m[10] > 0.0;
}

// --- lists ----------------------------------------------------------------------------------------------------------

constexpr int kDeepest = 4;  // dimensions that nested lists may have here

bool is_list(PyObject* value) { return PyList_Check(value) || PyTuple_Check(value); }

// The shape that the first entries have at every depth; false if it is too deep. An entry that is no list may be
// anything so far.
bool list_shape(PyObject* value, npy_intp* dims, int& nd) {
  for (nd = 0; is_list(value); ++nd) {
    if (nd == kDeepest) return false;
    dims[nd] = PySequence_Fast_GET_SIZE(value);
    if (dims[nd] == 0) return false;
    value = PySequence_Fast_GET_ITEM(value, 0);
  }
  return nd > 0;
}

// False for what is no number; True and False are none here.
bool read_number(PyObject* value, double& out) {
  if (PyFloat_Check(value)) {
    out = PyFloat_AS_DOUBLE(value);
    return true;
  }
  const bool whole = PyLong_Check(value) && !PyBool_Check(value);
  if (!whole && !PyArray_IsScalar(value, Floating) && !PyArray_IsScalar(value, Integer)) return false;
  PyObject* number = PyNumber_Float(value);
  if (number != nullptr) out = PyFloat_AS_DOUBLE(number);
  else PyErr_Clear();  // a whole number too large: for Python to explain
  Py_XDECREF(number);
  return number != nullptr;
}

// Fills `out` from lists that must have exactly the given shape.
bool read_list(PyObject* value, const npy_intp* dims, int nd, double*& out) {
  if (!is_list(value) || PySequence_Fast_GET_SIZE(value) != dims[0]) return false;
  for (npy_intp i = 0; i < dims[0]; ++i) {
    PyObject* entry = PySequence_Fast_GET_ITEM(value, i);
    if (nd > 1 ? !read_list(entry, dims + 1, nd - 1, out) : !read_number(entry, *out++)) return false;
  }
  return true;
}

}  // namespace

PyObject* py_ik_numbers(PyObject*, PyObject* value) {
  if (PyArray_CheckExact(value)) {
    const int type = PyArray_TYPE(reinterpret_cast<PyArrayObject*>(value));
    if (type != NPY_FLOAT && type != NPY_DOUBLE && !PyTypeNum_ISINTEGER(type)) Py_RETURN_NONE;
    return PyArray_FROM_OTF(value, NPY_DOUBLE, NPY_ARRAY_IN_ARRAY);
  }
  npy_intp dims[kDeepest];
  int nd = 0;
  if (!is_list(value) || !list_shape(value, dims, nd)) Py_RETURN_NONE;
  PyObject* result = PyArray_SimpleNew(nd, dims, NPY_DOUBLE);
  if (result == nullptr) return nullptr;
  double* out = static_cast<double*>(PyArray_DATA(reinterpret_cast<PyArrayObject*>(result)));
  if (read_list(value, dims, nd, out)) return result;
  Py_DECREF(result);
  Py_RETURN_NONE;
}

PyObject* py_ik_pack_poses(PyObject*, PyObject* value) {
  PyArrayObject* array = plain_array(value, 2);
  if (array == nullptr) Py_RETURN_NONE;
  const int nd = PyArray_NDIM(array);
  if (PyArray_DIM(array, nd - 1) != 4 || PyArray_DIM(array, nd - 2) != 4) Py_RETURN_NONE;
  const npy_intp count = PyArray_SIZE(array) / 16;
  const double* in = static_cast<const double*>(PyArray_DATA(array));
  for (npy_intp i = 0; i < count; ++i) {
    if (!is_pose(in + 16 * i)) Py_RETURN_NONE;
  }
  npy_intp dims[2] = {count, 12};
  PyObject* result = PyArray_SimpleNew(2, dims, NPY_DOUBLE);
  if (result == nullptr) return nullptr;
  double* out = static_cast<double*>(PyArray_DATA(reinterpret_cast<PyArrayObject*>(result)));
  for (npy_intp i = 0; i < count; ++i, in += 16, out += 12) {
    for (int r = 0; r < 3; ++r) {
      out[r] = in[4 * r + 3];
      for (int c = 0; c < 3; ++c) out[3 + 3 * r + c] = in[4 * r + c];
    }
  }
  return result;
}

PyObject* py_ik_pack_rows(PyObject*, PyObject* const* args, Py_ssize_t nargs) {
  if (nargs != 2) return PyErr_Format(PyExc_TypeError, "expected 2 arguments, found %zd", nargs);
  const Py_ssize_t size = PyLong_AsSsize_t(args[1]);
  if (size == -1 && PyErr_Occurred()) return nullptr;
  PyArrayObject* array = plain_array(args[0], 1);
  if (array == nullptr || size < 1 || PyArray_DIM(array, PyArray_NDIM(array) - 1) != size) Py_RETURN_NONE;
  const double* in = static_cast<const double*>(PyArray_DATA(array));
  const npy_intp total = PyArray_SIZE(array);
  for (npy_intp i = 0; i < total; ++i) {
    if (!modest(in[i])) Py_RETURN_NONE;
  }
  npy_intp dims[2] = {total / size, size};
  PyObject* result = PyArray_SimpleNew(2, dims, NPY_DOUBLE);
  if (result == nullptr) return nullptr;
  std::copy_n(in, total, static_cast<double*>(PyArray_DATA(reinterpret_cast<PyArrayObject*>(result))));
  return result;
}

}  // namespace robomorph

#include "python/kernel_bind.h"

#include <algorithm>

#include "python/result_memory.h"

namespace robomorph {
namespace {

constexpr int kMaxBatchDims = 64;  // NumPy's own limit

// nullptr when `object` is an array that a kernel can use in place.
const char* unusable(PyObject* object, const RowShape& shape, int typenum, int flags) {
  if (!PyArray_CheckExact(object)) return "is not a plain NumPy array";
  PyArrayObject* array = reinterpret_cast<PyArrayObject*>(object);
  if (PyArray_TYPE(array) != typenum || !PyArray_ISNOTSWAPPED(array)) return "has another dtype";
  if (!PyArray_CHKFLAGS(array, flags)) return "is not C-contiguous, aligned and (if an output) writeable";
  const int lead_nd = PyArray_NDIM(array) - shape.nd;
  if (lead_nd < 0) return "has too few dimensions";
  const npy_intp* trailing = PyArray_DIMS(array) + lead_nd;
  for (int d = 0; d < shape.nd; ++d) {
    if (trailing[d] != shape.dims[d]) return "has another trailing shape";
  }
  return nullptr;
}

bool same_lead(PyObject* object, const RowShape& shape, const Binding& binding) {
  PyArrayObject* array = reinterpret_cast<PyArrayObject*>(object);
  if (PyArray_NDIM(array) - shape.nd != binding.lead_nd) return false;
  const npy_intp* dims = PyArray_DIMS(array);
  for (int d = 0; d < binding.lead_nd; ++d) {
    if (dims[d] != binding.lead[d]) return false;
  }
  return true;
}

char* data_of(PyObject* array) { return PyArray_BYTES(reinterpret_cast<PyArrayObject*>(array)); }

void take_lead(PyObject* object, const RowShape& shape, Binding& binding) {
  PyArrayObject* array = reinterpret_cast<PyArrayObject*>(object);
  binding.lead_nd = PyArray_NDIM(array) - shape.nd;
  binding.lead = PyArray_DIMS(array);
  std::size_t rows = 1;
  for (int d = 0; d < binding.lead_nd; ++d) rows *= static_cast<std::size_t>(binding.lead[d]);
  binding.work.rows = rows;
}

Misfit bind_inputs(const KernelObject* kernel, PyObject* const* args, Py_ssize_t nargs, Binding& binding) {
  if (static_cast<std::size_t>(nargs) != kernel->layout.n_in) return {"is missing or one too many", false, nargs};
  binding.work.rows = 1;
  for (Py_ssize_t i = 0; i < nargs; ++i) {
    const RowShape& shape = kernel->in[i];
    const char* reason = unusable(args[i], shape, kernel->typenum, NPY_ARRAY_CARRAY_RO);
    if (reason != nullptr) return {reason, false, i};
    if (i == 0) {
      take_lead(args[0], shape, binding);
    } else if (!same_lead(args[i], shape, binding)) {
      return {"has other batch dimensions than argument 0", false, i};
    }
    binding.work.in[i] = data_of(args[i]);
  }
  return {};
}

bool overlap(const char* a, std::size_t a_bytes, const char* b, std::size_t b_bytes) {
  return a < b + b_bytes && b < a + a_bytes && a_bytes > 0 && b_bytes > 0;
}

// Kernels write results before they have read all arguments, so no output may share memory with anything else.
bool output_shared(const Binding& binding, std::size_t j) {
  const Work& work = binding.work;
  const Layout& layout = *work.layout;
  const std::size_t bytes = work.rows * layout.out_row[j];
  for (std::size_t i = 0; i < layout.n_in; ++i) {
    if (overlap(work.out[j], bytes, work.in[i], work.rows * layout.in_row[i])) return true;
  }
  for (std::size_t k = 0; k < j; ++k) {
    if (overlap(work.out[j], bytes, work.out[k], work.rows * layout.out_row[k])) return true;
  }
  return false;
}

Misfit bind_outputs(const KernelObject* kernel, PyObject* outputs, Binding& binding) {
  const bool bare = kernel->result_type == nullptr;
  const auto n_out = static_cast<Py_ssize_t>(kernel->layout.n_out);
  if (!bare && (!PyTuple_Check(outputs) || PyTuple_GET_SIZE(outputs) != n_out)) {
    return {"is not a tuple with one array for each output", true, 0};
  }
  for (Py_ssize_t j = 0; j < n_out; ++j) {
    PyObject* output = bare ? outputs : PyTuple_GET_ITEM(outputs, j);
    const char* reason = unusable(output, kernel->out[j], kernel->typenum, NPY_ARRAY_CARRAY);
    if (reason != nullptr) return {reason, true, j};
    if (!same_lead(output, kernel->out[j], binding)) return {"has other batch dimensions than the arguments", true, j};
    binding.work.out[j] = data_of(output);
    if (output_shared(binding, static_cast<std::size_t>(j))) {
      return {"shares memory with an argument or another output", true, j};
    }
  }
  return {};
}

}  // namespace

Misfit bind(const KernelObject* kernel, PyObject* const* args, Py_ssize_t nargs, PyObject* outputs,
            Binding& binding) {
  binding.work.layout = &kernel->layout;
  const Misfit misfit = bind_inputs(kernel, args, nargs, binding);
  if (misfit.reason != nullptr || outputs == Py_None) return misfit;
  return bind_outputs(kernel, outputs, binding);
}

NewOutputs::~NewOutputs() {
  for (std::size_t j = 0; j < count_; ++j) Py_DECREF(arrays_[j]);
}

bool NewOutputs::allocate(const KernelObject* kernel, Binding& binding) {
  npy_intp dims[kMaxBatchDims + kMaxTrailing];
  std::copy_n(binding.lead, binding.lead_nd, dims);  // not memcpy: without dimensions there may be no address
  for (std::size_t j = 0; j < kernel->layout.n_out; ++j) {
    const RowShape& shape = kernel->out[j];
    std::copy_n(shape.dims, shape.nd, dims + binding.lead_nd);
    const std::size_t bytes = binding.work.rows * kernel->layout.out_row[j];
    PyObject* array = new_result(binding.lead_nd + shape.nd, dims, kernel->typenum, bytes);
    if (array == nullptr) return false;
    arrays_[count_++] = array;
    binding.work.out[j] = data_of(array);
  }
  return true;
}

// A named tuple is a tuple with another type: filling it directly costs a tenth of calling its class.
PyObject* NewOutputs::release(const KernelObject* kernel) {
  PyObject* result = nullptr;
  if (kernel->result_type == nullptr) {
    result = arrays_[0];
  } else {
    PyTypeObject* type = reinterpret_cast<PyTypeObject*>(kernel->result_type);
    result = type->tp_alloc(type, static_cast<Py_ssize_t>(count_));
    if (result == nullptr) return nullptr;
    for (std::size_t j = 0; j < count_; ++j) PyTuple_SET_ITEM(result, static_cast<Py_ssize_t>(j), arrays_[j]);
  }
  count_ = 0;
  return result;
}

}  // namespace robomorph

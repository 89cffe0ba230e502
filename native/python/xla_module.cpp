#include "python/xla_module.h"

#include <memory>
#include <new>

#include "python/kernel.h"
#include "xla/callees.h"
#include "xla/handler.h"

namespace robomorph {
namespace {

constexpr char kCapsule[] = "xla._CUSTOM_CALL_TARGET";

PyObject* py_xla_handler(PyObject*, PyObject* minor) {
  const long value = PyLong_AsLong(minor);
  if (value == -1 && PyErr_Occurred()) return nullptr;
  if (value < 0 || value > xla::kMinor) return PyErr_Format(PyExc_ValueError, "minor version %ld is not known", value);
  xla::set_reported_minor(static_cast<int>(value));
  return PyCapsule_New(reinterpret_cast<void*>(xla::handle_call), kCapsule, nullptr);
}

void copy_dims(const RowShape& shape, xla::RowDims& row) {
  static_assert(xla::kMostDims >= kMaxTrailing, "every row shape fits");
  row.rank = shape.nd;
  for (int d = 0; d < shape.nd; ++d) row.dims[d] = shape.dims[d];
}

std::unique_ptr<xla::Callee> make_callee(const char* name, const KernelObject* kernel, bool check_units) {
  auto callee = std::make_unique<xla::Callee>();
  callee->name = name;
  callee->layout = kernel->layout;
  for (std::size_t i = 0; i < kernel->layout.n_in; ++i) copy_dims(kernel->in[i], callee->in[i]);
  for (std::size_t j = 0; j < kernel->layout.n_out; ++j) copy_dims(kernel->out[j], callee->out[j]);
  callee->doubles = kernel->typenum == NPY_DOUBLE;
  callee->lane_fn = kernel->lane_fn;
  callee->single_fn = kernel->single_fn;
  callee->blocks_fn = kernel->blocks_fn;
  callee->blocks = static_cast<std::size_t>(kernel->blocks);
  callee->workspace = static_cast<std::size_t>(kernel->workspace);
  callee->threads = static_cast<std::size_t>(kernel->threads);
  callee->single_limit = static_cast<std::size_t>(kernel->single_limit);
  callee->min_blocks_per_thread = static_cast<std::size_t>(kernel->min_blocks_per_thread);
  callee->units = check_units ? kernel->units : UnitParts{};
  return callee;
}

PyObject* py_xla_add(PyObject*, PyObject* args) {
  const char* name = nullptr;
  PyObject* kernel = nullptr;
  int check_units = 1;
  if (!PyArg_ParseTuple(args, "sOp:xla_add", &name, &kernel, &check_units)) return nullptr;
  if (!is_ready_kernel(kernel)) return PyErr_Format(PyExc_TypeError, "expected a NativeKernel, found %R", kernel);
  if (as_kernel(kernel)->lane_fn == nullptr && as_kernel(kernel)->single_fn == nullptr) {
    return PyErr_Format(PyExc_ValueError, "the kernel %R has no code yet: prepare it first", kernel);
  }
  try {
    xla::add_callee(make_callee(name, as_kernel(kernel), check_units != 0).release());
  } catch (const std::bad_alloc&) {
    return PyErr_NoMemory();
  }
  Py_INCREF(kernel);  // for good: its code may be called as long as the process lives, by threads that know no Python
  Py_RETURN_NONE;
}

PyMethodDef functions[] = {
    {"xla_handler", py_xla_handler, METH_O,
     "xla_handler(minor, /)\n--\n\nA capsule with the handler of XLA's calls, said to be made for version 0.minor."},
    {"xla_add", py_xla_add, METH_VARARGS,
     "xla_add(name, kernel, check_units, /)\n--\n\nLets compiled XLA programs call a kernel by this name."},
    {nullptr, nullptr, 0, nullptr},
};

}  // namespace

bool add_xla_functions(PyObject* module) { return PyModule_AddFunctions(module, functions) == 0; }

}  // namespace robomorph

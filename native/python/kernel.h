// The Python type NativeKernel: a compiled kernel that is called with NumPy arrays.
#pragma once

#include "core/execute.h"
#include "python/python_api.h"

namespace robomorph {

inline constexpr int kMaxTrailing = 6;
inline constexpr Py_ssize_t kMaxWorkspace = Py_ssize_t{1} << 40;

// The shape that one row of an argument or a result has.
struct RowShape {
  int nd;
  npy_intp dims[kMaxTrailing];
  std::size_t count;
};

struct KernelObject {
  PyObject_HEAD
  vectorcallfunc vectorcall;
  bool ready;
  KernelFn lane_fn;
  KernelFn single_fn;
  KernelFn blocks_fn;
  Py_ssize_t blocks;
  Layout layout;
  RowShape in[kMaxArrays];
  RowShape out[kMaxArrays];
  int typenum;
  PyObject* in_shapes;
  PyObject* out_shapes;
  PyObject* dtype;
  PyObject* result_type;  // a tuple subclass, or nullptr: the single result is returned bare
  Py_ssize_t workspace;
  Py_ssize_t threads;
  Py_ssize_t single_limit;
  Py_ssize_t min_blocks_per_thread;
  Py_ssize_t release_gil_above;
  UnitParts units;  // its parts are ours to free
  char check_finite;
};

inline KernelObject* as_kernel(PyObject* object) { return reinterpret_cast<KernelObject*>(object); }
inline PyObject* as_object(KernelObject* kernel) { return reinterpret_cast<PyObject*>(kernel); }

// kernel_type.cpp: a new reference to the type; nullptr with an exception set.
PyObject* make_kernel_type(PyObject* module);
// Is it a kernel whose __init__ ran?
bool is_ready_kernel(PyObject* object);

// kernel_init.cpp
int kernel_init(PyObject* self, PyObject* args, PyObject* keywords);
bool parse_address(PyObject* value, const char* name, KernelFn& address);

// kernel_call.cpp
bool load_method_names();
PyObject* kernel_vectorcall(PyObject* self, PyObject* const* args, std::size_t nargsf, PyObject* names);
PyObject* kernel_run(PyObject* self, PyObject* const* args, Py_ssize_t nargs);
PyObject* kernel_run_spawning(PyObject* self, PyObject* const* args, Py_ssize_t nargs);
PyObject* kernel_refuse_prepare(PyObject* self, PyObject* batch);
PyObject* kernel_refuse_values(PyObject* self, PyObject* args);

}  // namespace robomorph

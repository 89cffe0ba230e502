// The type object: memory, attributes and methods of NativeKernel.
#include <cstddef>

#include "core/cpus.h"
#include "python/kernel.h"

namespace robomorph {
namespace {

PyTypeObject* kernel_type = nullptr;
constexpr Py_ssize_t kMaxBlocks = 4096;

// A settable count: where it lives in the object and how large it may be.
struct Count {
  const char* name;
  std::size_t offset;
  Py_ssize_t low;
  Py_ssize_t high;

  Py_ssize_t& in(PyObject* self) const {
    return *reinterpret_cast<Py_ssize_t*>(reinterpret_cast<char*>(self) + offset);
  }
};

Count count_workspace{"workspace", offsetof(KernelObject, workspace), 0, kMaxWorkspace};
Count count_threads{"threads", offsetof(KernelObject, threads), 0, static_cast<Py_ssize_t>(kMaxThreads)};
Count count_single{"single_limit", offsetof(KernelObject, single_limit), 0, PY_SSIZE_T_MAX};
Count count_blocks{"min_blocks_per_thread", offsetof(KernelObject, min_blocks_per_thread), 1, PY_SSIZE_T_MAX};
Count count_release{"release_gil_above", offsetof(KernelObject, release_gil_above), 0, PY_SSIZE_T_MAX};

PyObject* get_count(PyObject* self, void* closure) {
  return PyLong_FromSsize_t(static_cast<const Count*>(closure)->in(self));
}

int set_count(PyObject* self, PyObject* value, void* closure) {
  const Count& count = *static_cast<const Count*>(closure);
  if (value == nullptr) {
    PyErr_Format(PyExc_AttributeError, "%s cannot be deleted", count.name);
    return -1;
  }
  const Py_ssize_t number = PyNumber_AsSsize_t(value, PyExc_OverflowError);
  if (number == -1 && PyErr_Occurred()) return -1;
  if (number < count.low || number > count.high) {
    PyErr_Format(PyExc_ValueError, "%s must be between %zd and %zd, not %zd", count.name, count.low, count.high,
                 number);
    return -1;
  }
  count.in(self) = number;
  return 0;
}

// A function already set may need every byte of the present workspace.
int set_workspace(PyObject* self, PyObject* value, void* closure) {
  const Py_ssize_t before = as_kernel(self)->workspace;
  if (set_count(self, value, closure) < 0) return -1;
  if (as_kernel(self)->workspace >= before) return 0;
  PyErr_Format(PyExc_ValueError, "workspace may only grow: it is %zd bytes, and %zd were asked for", before,
               as_kernel(self)->workspace);
  as_kernel(self)->workspace = before;
  return -1;
}

PyObject* get_check_finite(PyObject* self, void*) { return PyBool_FromLong(as_kernel(self)->check_finite); }

int set_check_finite(PyObject* self, PyObject* value, void*) {
  const int truth = value == nullptr ? 0 : PyObject_IsTrue(value);
  if (truth < 0) return -1;
  as_kernel(self)->check_finite = static_cast<char>(truth);
  return 0;
}

PyObject* get_lanes(PyObject* self, void*) { return PyLong_FromSize_t(as_kernel(self)->layout.lanes); }

PyObject* address_of(KernelFn function) { return PyLong_FromVoidPtr(reinterpret_cast<void*>(function)); }
PyObject* get_lane_fn(PyObject* self, void*) { return address_of(as_kernel(self)->lane_fn); }
PyObject* get_single_fn(PyObject* self, void*) { return address_of(as_kernel(self)->single_fn); }

PyObject* set_lane_fn(PyObject* self, PyObject* value) {
  if (!parse_address(value, "lane_fn", as_kernel(self)->lane_fn)) return nullptr;
  Py_RETURN_NONE;
}

PyObject* set_single_fn(PyObject* self, PyObject* value) {
  if (!parse_address(value, "single_fn", as_kernel(self)->single_fn)) return nullptr;
  Py_RETURN_NONE;
}

PyObject* set_blocks_fn(PyObject* self, PyObject* args) {
  PyObject* value = nullptr;
  Py_ssize_t blocks = 0;
  if (!PyArg_ParseTuple(args, "On:set_blocks_fn", &value, &blocks)) return nullptr;
  if (blocks < 2 || blocks > kMaxBlocks) {
    PyErr_Format(PyExc_ValueError, "blocks must be between 2 and %zd, not %zd", kMaxBlocks, blocks);
    return nullptr;
  }
  if (!parse_address(value, "blocks_fn", as_kernel(self)->blocks_fn)) return nullptr;
  as_kernel(self)->blocks = blocks;
  Py_RETURN_NONE;
}

PyObject* kernel_new(PyTypeObject* type, PyObject*, PyObject*) {
  PyObject* self = type->tp_alloc(type, 0);  // zeroed
  if (self != nullptr) as_kernel(self)->vectorcall = kernel_vectorcall;
  return self;
}

int kernel_traverse(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  Py_VISIT(as_kernel(self)->result_type);
  Py_VISIT(as_kernel(self)->in_shapes);
  Py_VISIT(as_kernel(self)->out_shapes);
  return 0;
}

// The call path relies on result_type, so a collector's clear makes the kernel unusable first.
int kernel_clear(PyObject* self) {
  as_kernel(self)->ready = false;
  Py_CLEAR(as_kernel(self)->result_type);
  Py_CLEAR(as_kernel(self)->in_shapes);
  Py_CLEAR(as_kernel(self)->out_shapes);
  Py_CLEAR(as_kernel(self)->dtype);
  return 0;
}

void kernel_dealloc(PyObject* self) {
  PyTypeObject* type = Py_TYPE(self);
  PyObject_GC_UnTrack(self);
  kernel_clear(self);
  PyMem_Free(as_kernel(self)->units.parts);
  type->tp_free(self);
  Py_DECREF(type);
}

#if PY_VERSION_HEX < 0x030C0000
// Before Python 3.12 a Python subclass loses the vectorcall protocol, and each call pays for a tuple. It is ours to
// give back as long as the subclass keeps our __call__.
PyObject* init_subclass(PyObject* cls, PyObject* args, PyObject* keywords) {
  PyTypeObject* type = reinterpret_cast<PyTypeObject*>(cls);
  if (type->tp_call == PyVectorcall_Call) type->tp_flags |= Py_TPFLAGS_HAVE_VECTORCALL;
  PyObject* parent = PyObject_CallFunctionObjArgs(reinterpret_cast<PyObject*>(&PySuper_Type),
                                                  reinterpret_cast<PyObject*>(kernel_type), cls, nullptr);
  if (parent == nullptr) return nullptr;
  PyObject* method = PyObject_GetAttrString(parent, "__init_subclass__");
  Py_DECREF(parent);
  if (method == nullptr) return nullptr;
  PyObject* result = PyObject_Call(method, args, keywords);
  Py_DECREF(method);
  return result;
}
#endif

PyMemberDef members[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(KernelObject, vectorcall), READONLY, nullptr},
    {"in_shapes", T_OBJECT, offsetof(KernelObject, in_shapes), READONLY, "Trailing shape of each argument."},
    {"out_shapes", T_OBJECT, offsetof(KernelObject, out_shapes), READONLY, "Trailing shape of each output."},
    {"dtype", T_OBJECT, offsetof(KernelObject, dtype), READONLY, "'float32' or 'float64'."},
    {"result_type", T_OBJECT, offsetof(KernelObject, result_type), READONLY, "Named tuple class, or None."},
    {nullptr, 0, 0, 0, nullptr},
};

PyGetSetDef attributes[] = {
    {"lanes", get_lanes, nullptr, "Rows that one call of lane_fn evaluates.", nullptr},
    {"lane_fn", get_lane_fn, nullptr, "Address of the function for a block of rows, or 0.", nullptr},
    {"single_fn", get_single_fn, nullptr, "Address of the function for one row, or 0.", nullptr},
    {"workspace", get_count, set_workspace, "Workspace of one thread, in bytes; may only grow.", &count_workspace},
    {"threads", get_count, set_count, "Most threads a call uses; 0: the global default.", &count_threads},
    {"single_limit", get_count, set_count, "Batches below this run row by row.", &count_single},
    {"min_blocks_per_thread", get_count, set_count, "Least blocks worth a thread.", &count_blocks},
    {"release_gil_above", get_count, set_count, "Batches above this let other Python threads run.", &count_release},
    {"check_finite", get_check_finite, set_check_finite, "Whether arguments' values are scanned.", nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr},
};

template <typename Function>
PyCFunction as_method(Function function) {
  return reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(function));
}

PyMethodDef methods[] = {
    {"set_lane_fn", set_lane_fn, METH_O, "set_lane_fn(address, /)\n--\n\nSets the function for a block of rows."},
    {"set_single_fn", set_single_fn, METH_O, "set_single_fn(address, /)\n--\n\nSets the function for one row."},
    {"set_blocks_fn", set_blocks_fn, METH_VARARGS,
     "set_blocks_fn(address, blocks, /)\n--\n\nSets the function for several blocks of rows."},
    {"_run", as_method(kernel_run), METH_FASTCALL,
     "_run(args, out=None, /)\n--\n\nThe call without conversions; TypeError if any is needed."},
    {"_run_spawning", as_method(kernel_run_spawning), METH_FASTCALL,
     "_run_spawning(args, out=None, /)\n--\n\nLike _run, on threads started for this call (for benchmarks)."},
    {"_slow_call", as_method(kernel_run), METH_FASTCALL,
     "_slow_call(args, out=None, /)\n--\n\nCalled when arguments need conversion; here, as _run. Override."},
    {"_prepare", kernel_refuse_prepare, METH_O,
     "_prepare(batch, /)\n--\n\nCalled when the function for this batch size is not set; must set it. Override."},
    {"_report_bad_values", kernel_refuse_values, METH_O,
     "_report_bad_values(args, /)\n--\n\nCalled when the scan of the arguments fails; must raise. Override."},
#if PY_VERSION_HEX < 0x030C0000
    {"__init_subclass__", as_method(init_subclass), METH_VARARGS | METH_KEYWORDS | METH_CLASS, nullptr},
#endif
    {nullptr, nullptr, 0, nullptr},
};

PyType_Slot slots[] = {
    {Py_tp_doc, const_cast<char*>("A compiled kernel, callable with NumPy arrays; see the stub for the arguments.")},
    {Py_tp_new, reinterpret_cast<void*>(kernel_new)},
    {Py_tp_init, reinterpret_cast<void*>(kernel_init)},
    {Py_tp_dealloc, reinterpret_cast<void*>(kernel_dealloc)},
    {Py_tp_traverse, reinterpret_cast<void*>(kernel_traverse)},
    {Py_tp_clear, reinterpret_cast<void*>(kernel_clear)},
    {Py_tp_call, reinterpret_cast<void*>(PyVectorcall_Call)},
    {Py_tp_members, members},
    {Py_tp_getset, attributes},
    {Py_tp_methods, methods},
    {0, nullptr},
};

PyType_Spec spec = {
    "robomorph.runtime._native.NativeKernel",
    static_cast<int>(sizeof(KernelObject)),
    0,
    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL,
    slots,
};

}  // namespace

PyObject* make_kernel_type(PyObject* module) {
  if (!load_method_names()) return nullptr;
  PyObject* type = PyType_FromModuleAndSpec(module, &spec, nullptr);
  kernel_type = reinterpret_cast<PyTypeObject*>(type);
  return type;
}

bool is_ready_kernel(PyObject* object) {
  return PyObject_TypeCheck(object, kernel_type) && as_kernel(object)->ready;
}

}  // namespace robomorph

// The extension module robomorph.runtime._native.
#include <cerrno>
#include <cstdlib>

#define ROBOMORPH_IMPORTS_NUMPY
#include "core/buffers.h"
#include "core/cpus.h"
#include "core/stream.h"
#include "python/ik_module.h"
#include "python/kernel.h"
#include "python/mpc_module.h"
#include "python/planning_module.h"
#include "python/result_memory.h"
#include "python/xla_module.h"
#include "core/threadpool.h"

namespace robomorph {
namespace {

constexpr char kThreadsVariable[] = "ROBOMORPH_NUM_THREADS";

PyObject* py_set_default_threads(PyObject*, PyObject* value) {
  const Py_ssize_t threads = PyNumber_AsSsize_t(value, PyExc_OverflowError);
  if (threads == -1 && PyErr_Occurred()) return nullptr;
  if (threads < 1 || threads > static_cast<Py_ssize_t>(kMaxThreads)) {
    return PyErr_Format(PyExc_ValueError, "the number of threads must be between 1 and %zu, not %zd", kMaxThreads,
                        threads);
  }
  set_default_threads(static_cast<std::size_t>(threads));
  Py_RETURN_NONE;
}

PyObject* py_get_default_threads(PyObject*, PyObject*) { return PyLong_FromSize_t(default_threads()); }

PyObject* py_pool_size(PyObject*, PyObject*) { return PyLong_FromSize_t(global_pool().size()); }

PyObject* py_shutdown_pool(PyObject*, PyObject*) {
  bool done = false;
  Py_BEGIN_ALLOW_THREADS
  done = global_pool().shutdown();
  Py_END_ALLOW_THREADS
  return PyBool_FromLong(done);
}

PyObject* py_get_stream_above(PyObject*, PyObject*) { return PyLong_FromSize_t(stream_above()); }

PyObject* py_set_stream_above(PyObject*, PyObject* value) {
  const std::size_t bytes = PyLong_AsSize_t(value);
  if (bytes == ~std::size_t{0} && PyErr_Occurred()) return nullptr;
  set_stream_above(bytes);
  Py_RETURN_NONE;
}

PyObject* py_waiting_buffers(PyObject*, PyObject*) { return PyLong_FromSize_t(result_buffers().waiting()); }

PyObject* py_drop_buffers(PyObject*, PyObject*) {
  result_buffers().drop();
  Py_RETURN_NONE;
}

void shutdown_at_exit() { global_pool().shutdown(); }

// A bad value must not make the package unusable, but must not pass in silence either.
bool read_environment() {
  const char* text = std::getenv(kThreadsVariable);
  if (text == nullptr || *text == '\0') return true;
  char* end = nullptr;
  errno = 0;
  const long threads = std::strtol(text, &end, 10);
  if (errno == 0 && *end == '\0' && threads >= 1 && threads <= static_cast<long>(kMaxThreads)) {
    set_default_threads(static_cast<std::size_t>(threads));
    return true;
  }
  return PyErr_WarnFormat(PyExc_RuntimeWarning, 1, "%s is '%s', not a number of threads from 1 to %zu: ignored",
                          kThreadsVariable, text, kMaxThreads) == 0;
}

int execute_module(PyObject* module) {
  if (PyArray_ImportNumPyAPI() < 0) return -1;
  global_pool();  // registers what a forked child must do
  if (!read_environment() || !prepare_result_memory()) return -1;
  if (Py_AtExit(shutdown_at_exit) < 0) {
    PyErr_SetString(PyExc_ImportError, "too many functions are registered to run at exit");
    return -1;
  }
  if (!add_ik_functions(module) || !add_planning_functions(module) || !add_mpc_functions(module)) return -1;
  if (!add_xla_functions(module)) return -1;
  PyObject* type = make_kernel_type(module);
  if (type == nullptr) return -1;
  const int status = PyModule_AddObjectRef(module, "NativeKernel", type);
  Py_DECREF(type);
  return status;
}

PyMethodDef functions[] = {
    {"set_default_threads", py_set_default_threads, METH_O,
     "set_default_threads(threads, /)\n--\n\nThreads a call uses when its kernel does not say."},
    {"get_default_threads", py_get_default_threads, METH_NOARGS,
     "get_default_threads()\n--\n\nThreads a call uses when its kernel does not say."},
    {"get_stream_above", py_get_stream_above, METH_NOARGS,
     "get_stream_above()\n--\n\nResults of more bytes than this are written past the cache."},
    {"set_stream_above", py_set_stream_above, METH_O,
     "set_stream_above(size, /)\n--\n\nResults of more bytes than this are written past the cache (for tests)."},
    {"waiting_buffers", py_waiting_buffers, METH_NOARGS,
     "waiting_buffers()\n--\n\nBytes of dropped results that wait to be used again."},
    {"drop_buffers", py_drop_buffers, METH_NOARGS,
     "drop_buffers()\n--\n\nGives the memory of dropped results back to the system."},
    {"pool_size", py_pool_size, METH_NOARGS, "pool_size()\n--\n\nWorker threads alive now."},
    {"shutdown_pool", py_shutdown_pool, METH_NOARGS,
     "shutdown_pool()\n--\n\nEnds the worker threads; False while a call is using them."},
    {nullptr, nullptr, 0, nullptr},
};

PyModuleDef_Slot module_slots[] = {
    {Py_mod_exec, reinterpret_cast<void*>(execute_module)},
#if PY_VERSION_HEX >= 0x030C0000
    {Py_mod_multiple_interpreters, Py_MOD_MULTIPLE_INTERPRETERS_NOT_SUPPORTED},
#endif
    {0, nullptr},
};

PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "_native", "Launches compiled kernels on NumPy arrays.", 0, functions, module_slots,
    nullptr, nullptr, nullptr,
};

}  // namespace
}  // namespace robomorph

PyMODINIT_FUNC PyInit__native() { return PyModuleDef_Init(&robomorph::definition); }

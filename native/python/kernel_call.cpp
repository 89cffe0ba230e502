// What happens when a NativeKernel is called.
#include "core/cpus.h"
#include "core/finite_scan.h"
#include "python/kernel_bind.h"

namespace robomorph {
namespace {

PyObject* name_out = nullptr;
PyObject* name_prepare = nullptr;
PyObject* name_slow_call = nullptr;
PyObject* name_report_bad_values = nullptr;

KernelFn chosen_function(const KernelObject* kernel, std::size_t rows) {
  return rows < static_cast<std::size_t>(kernel->single_limit) ? kernel->single_fn : kernel->lane_fn;
}

// Everything this needs from the Python object is read before the interpreter lock is let go.
Outcome compute(const KernelObject* kernel, Work& work, Launch launch) {
  const bool by_rows = work.rows < static_cast<std::size_t>(kernel->single_limit);
  work.lane_fn = by_rows ? nullptr : kernel->lane_fn;
  work.single_fn = kernel->single_fn;
  work.blocks_fn = kernel->blocks_fn;
  work.blocks = static_cast<std::size_t>(kernel->blocks);
  work.workspace = static_cast<std::size_t>(kernel->workspace);
  const std::size_t threads = kernel->threads > 0 ? static_cast<std::size_t>(kernel->threads) : default_threads();
  const Split split{threads, static_cast<std::size_t>(kernel->min_blocks_per_thread), launch};
  const bool doubles = kernel->typenum == NPY_DOUBLE;
  work.finite = !kernel->check_finite ? nullptr : doubles ? all_finite_doubles : all_finite_floats;
  work.unit = doubles ? all_unit_doubles : all_unit_floats;
  work.units = &kernel->units;
  work.element_size = doubles ? sizeof(double) : sizeof(float);
  const bool release = work.rows > static_cast<std::size_t>(kernel->release_gil_above);

  PyThreadState* state = release ? PyEval_SaveThread() : nullptr;
  const Outcome outcome = work.rows > 0 ? execute(work, split) : Outcome::kDone;
  if (state != nullptr) PyEval_RestoreThread(state);
  return outcome;
}

// Lets the Python side compile the function that this batch size needs.
bool prepare(KernelObject* kernel, std::size_t rows) {
  PyObject* batch = PyLong_FromSize_t(rows);
  if (batch == nullptr) return false;
  PyObject* result = PyObject_CallMethodObjArgs(as_object(kernel), name_prepare, batch, nullptr);
  Py_DECREF(batch);
  if (result == nullptr) return false;
  Py_DECREF(result);
  return true;
}

PyObject* pack(PyObject* const* args, Py_ssize_t nargs) {
  PyObject* tuple = PyTuple_New(nargs);
  if (tuple == nullptr) return nullptr;
  for (Py_ssize_t i = 0; i < nargs; ++i) {
    Py_INCREF(args[i]);
    PyTuple_SET_ITEM(tuple, i, args[i]);
  }
  return tuple;
}

PyObject* fail(KernelObject* kernel, Outcome outcome, PyObject* const* args, Py_ssize_t nargs) {
  if (outcome == Outcome::kOutOfMemory) return PyErr_NoMemory();
  PyObject* tuple = pack(args, nargs);
  if (tuple == nullptr) return nullptr;
  PyObject* result = PyObject_CallMethodObjArgs(as_object(kernel), name_report_bad_values, tuple, nullptr);
  Py_DECREF(tuple);
  if (result != nullptr) {
    Py_DECREF(result);
    PyErr_SetString(PyExc_RuntimeError, "_report_bad_values must raise: the arguments hold numbers that were refused");
  }
  return nullptr;
}

// nullptr with misfit.reason set: not for the fast path. nullptr without: an exception is set.
PyObject* call(KernelObject* kernel, PyObject* const* args, Py_ssize_t nargs, PyObject* outputs, Launch launch,
               Misfit& misfit) {
  Binding binding;
  misfit = bind(kernel, args, nargs, outputs, binding);
  if (misfit.reason != nullptr) return nullptr;
  if (binding.work.rows > 0 && chosen_function(kernel, binding.work.rows) == nullptr) {
    if (!prepare(kernel, binding.work.rows)) return nullptr;
    // Python code has run: the arrays may have changed.
    misfit = bind(kernel, args, nargs, outputs, binding);
    if (misfit.reason != nullptr) return nullptr;
    if (chosen_function(kernel, binding.work.rows) == nullptr) {
      PyErr_Format(PyExc_RuntimeError, "_prepare(%zu) did not set the function for this batch size",
                   binding.work.rows);
      return nullptr;
    }
  }
  NewOutputs fresh;
  if (outputs == Py_None && !fresh.allocate(kernel, binding)) return nullptr;
  const Outcome outcome = compute(kernel, binding.work, launch);
  if (outcome != Outcome::kDone) return fail(kernel, outcome, args, nargs);
  if (outputs == Py_None) return fresh.release(kernel);
  Py_INCREF(outputs);
  return outputs;
}

// The only keyword is `out`. Returns a borrowed reference, nullptr with an exception set.
PyObject* find_out(PyObject* const* values, PyObject* names) {
  PyObject* out = Py_None;
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(names); ++i) {
    PyObject* name = PyTuple_GET_ITEM(names, i);
    if (name != name_out && PyUnicode_Compare(name, name_out) != 0) {
      PyErr_Format(PyExc_TypeError, "unexpected keyword argument '%U': a kernel takes its arguments by position, "
                   "and 'out'", name);
      return nullptr;
    }
    out = values[i];
  }
  return out;
}

bool require_ready(PyObject* self) {
  if (as_kernel(self)->ready) return true;
  PyErr_Format(PyExc_RuntimeError, "%.200s was used before NativeKernel.__init__ ran", Py_TYPE(self)->tp_name);
  return false;
}

PyObject* run_with(PyObject* self, PyObject* const* args, Py_ssize_t nargs, Launch launch, const char* method) {
  if (!require_ready(self)) return nullptr;
  if (nargs < 1 || nargs > 2 || !PyTuple_Check(args[0])) {
    PyErr_Format(PyExc_TypeError, "%s takes a tuple of arguments and optionally 'out'", method);
    return nullptr;
  }
  PyObject* outputs = nargs == 2 ? args[1] : Py_None;
  PyObject* const* items = reinterpret_cast<PyTupleObject*>(args[0])->ob_item;
  Misfit misfit;
  PyObject* result = call(as_kernel(self), items, PyTuple_GET_SIZE(args[0]), outputs, launch, misfit);
  if (result == nullptr && misfit.reason != nullptr) {
    PyErr_Format(PyExc_TypeError, "%s %zd %s; the kernel expects %U arrays with trailing shapes %R -> %R",
                 misfit.is_output ? "output" : "argument", misfit.index, misfit.reason, as_kernel(self)->dtype,
                 as_kernel(self)->in_shapes, as_kernel(self)->out_shapes);
  }
  return result;
}

}  // namespace

PyObject* kernel_vectorcall(PyObject* self, PyObject* const* args, std::size_t nargsf, PyObject* names) {
  if (!require_ready(self)) return nullptr;
  const Py_ssize_t nargs = PyVectorcall_NARGS(nargsf);
  PyObject* outputs = names == nullptr ? Py_None : find_out(args + nargs, names);
  if (outputs == nullptr) return nullptr;
  Misfit misfit;
  PyObject* result = call(as_kernel(self), args, nargs, outputs, Launch::kPool, misfit);
  if (result != nullptr || misfit.reason == nullptr) return result;
  PyObject* tuple = pack(args, nargs);
  if (tuple == nullptr) return nullptr;
  result = PyObject_CallMethodObjArgs(self, name_slow_call, tuple, outputs, nullptr);
  Py_DECREF(tuple);
  return result;
}

bool load_method_names() {
  name_out = PyUnicode_InternFromString("out");
  name_prepare = PyUnicode_InternFromString("_prepare");
  name_slow_call = PyUnicode_InternFromString("_slow_call");
  name_report_bad_values = PyUnicode_InternFromString("_report_bad_values");
  return name_out && name_prepare && name_slow_call && name_report_bad_values;
}

PyObject* kernel_run(PyObject* self, PyObject* const* args, Py_ssize_t nargs) {
  return run_with(self, args, nargs, Launch::kPool, "_run");
}

PyObject* kernel_run_spawning(PyObject* self, PyObject* const* args, Py_ssize_t nargs) {
  return run_with(self, args, nargs, Launch::kNewThreads, "_run_spawning");
}

PyObject* kernel_refuse_prepare(PyObject*, PyObject* batch) {
  PyErr_Format(PyExc_RuntimeError, "no function for a batch of %R rows: set one, or override _prepare", batch);
  return nullptr;
}

PyObject* kernel_refuse_values(PyObject*, PyObject*) {
  PyErr_SetString(PyExc_ValueError, "the arguments hold NaN, infinity or a vector not of unit length");
  return nullptr;
}

}  // namespace robomorph

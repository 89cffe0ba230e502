#include "python/mpc_module.h"

#include <chrono>
#include <cmath>
#include <memory>
#include <new>
#include <vector>

#include "mpc/solver.h"
#include "python/mpc_numbers.h"

namespace robomorph {
namespace {

constexpr char kCapsule[] = "robomorph.mpc_solver";
// How often Ctrl-C is looked for: the GIL may be in other hands, and is not worth waiting for at every iteration.
constexpr std::chrono::milliseconds kSignalsEvery{50};

struct Handle {
  std::unique_ptr<mpc::Solver> solver;
  std::vector<PyObject*> kept;  // the arrays, and what owns the kernels' code
  bool busy = false;            // read and written with the GIL held
  ~Handle() {
    for (PyObject* object : kept) Py_DECREF(object);
  }
};

PyObject* py_mpc_solver(PyObject*, PyObject* const* args, Py_ssize_t nargs) {
  if (nargs != 4) return PyErr_Format(PyExc_TypeError, "expected 4 arguments, found %zd", nargs);
  try {
    auto handle = std::make_unique<Handle>();
    mpc::Problem problem;
    std::size_t threads = 1;
    if (!read_control(args[0], args[1], args[2], problem, threads, handle->kept)) return nullptr;
    Py_INCREF(args[3]);
    handle->kept.push_back(args[3]);
    handle->solver = std::make_unique<mpc::Solver>(problem, threads);
    PyObject* capsule = PyCapsule_New(handle.get(), kCapsule, [](PyObject* dying) {
      delete static_cast<Handle*>(PyCapsule_GetPointer(dying, kCapsule));
    });
    if (capsule != nullptr) handle.release();
    return capsule;
  } catch (const std::bad_alloc&) {
    return PyErr_NoMemory();
  }
}

// What the solver's callback needs to be in Python for a moment.
struct Watch {
  PyThreadState* state = nullptr;
  bool failed = false;  // an exception is set
  std::chrono::steady_clock::time_point looked = std::chrono::steady_clock::now();
};

bool go_on(void* context) {
  Watch& watch = *static_cast<Watch*>(context);
  const auto now = std::chrono::steady_clock::now();
  if (now - watch.looked < kSignalsEvery) return true;
  watch.looked = now;
  PyEval_RestoreThread(watch.state);
  watch.failed = PyErr_CheckSignals() != 0;
  watch.state = PyEval_SaveThread();
  return !watch.failed;
}

bool read_options(PyObject* const* args, mpc::StepOptions& options) {
  options.deadline = PyFloat_AsDouble(args[1]);
  if (PyErr_Occurred() != nullptr) return false;
  options.elapsed = PyFloat_AsDouble(args[2]);
  if (PyErr_Occurred() != nullptr) return false;
  const long iterations = PyLong_AsLong(args[3]);
  if (PyErr_Occurred() != nullptr) return false;
  const int warm = PyObject_IsTrue(args[4]);
  if (warm < 0) return false;
  options.warm = warm == 1;
  options.iterations = static_cast<int>(iterations);
  const bool fine = !std::isnan(options.deadline) && std::isfinite(options.elapsed) && options.elapsed >= 0.0 &&
                    iterations >= 0 && iterations <= 1000000;
  if (!fine) PyErr_SetString(PyExc_ValueError, "expected a deadline, a time elapsed and iterations from zero on");
  return fine;
}

PyObject* py_mpc_step(PyObject*, PyObject* const* args, Py_ssize_t nargs) {
  if (nargs != 5) return PyErr_Format(PyExc_TypeError, "expected 5 arguments, found %zd", nargs);
  Handle* handle = static_cast<Handle*>(PyCapsule_GetPointer(args[0], kCapsule));
  mpc::StepOptions options;
  if (handle == nullptr || !read_options(args, options)) return nullptr;
  if (handle->busy) {
    PyErr_SetString(PyExc_RuntimeError, "this controller is in use by another call");
    return nullptr;
  }
  handle->busy = true;
  Watch watch;
  options.go_on = go_on;
  options.context = &watch;
  watch.state = PyEval_SaveThread();
  handle->solver->step(options);
  PyEval_RestoreThread(watch.state);
  handle->busy = false;
  if (watch.failed) return nullptr;
  Py_RETURN_NONE;
}

template <typename Function>
PyCFunction as_cfunction(Function function) {
  return reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(function));
}

PyMethodDef functions[] = {
    {"mpc_solver", as_cfunction(py_mpc_solver), METH_FASTCALL,
     "mpc_solver(numbers, kernels, arrays, keep, /)\n--\n\nA solver of control problems; `keep` lives with it."},
    {"mpc_step", as_cfunction(py_mpc_step), METH_FASTCALL,
     "mpc_step(solver, deadline, elapsed, iterations, warm, /)\n--\n\nOne step, from and into the solver's arrays."},
    {nullptr, nullptr, 0, nullptr},
};

}  // namespace

bool add_mpc_functions(PyObject* module) { return PyModule_AddFunctions(module, functions) == 0; }

}  // namespace robomorph

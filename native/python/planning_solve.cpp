#include "python/planning_solve.h"

#include <chrono>
#include <cstring>
#include <new>
#include <vector>

#include "planning/solve.h"
#include "python/planning_handle.h"

namespace robomorph {
namespace {

using planning::Iteration;
using planning::Options;
using planning::Result;

using Clock = std::chrono::steady_clock;
// How often Ctrl-C is looked for: the GIL may be in other hands, and is not worth waiting for at every iteration.
constexpr std::chrono::milliseconds kSignalsEvery{50};

struct Number {
  const char* name;
  double Options::*to;
};
struct Count {
  const char* name;
  int Options::*to;
};
struct Flag {
  const char* name;
  bool Options::*to;
};
constexpr Number kNumbers[] = {{"tolerance", &Options::tolerance},     {"feasibility", &Options::feasibility},
                               {"mu0", &Options::mu0},                 {"least_width", &Options::least_width},
                               {"deadline", &Options::deadline},       {"smoothing", &Options::smoothing},
                               {"margin", &Options::margin},           {"cost_scale", &Options::cost_scale}};
constexpr Count kCounts[] = {{"iterations", &Options::iterations},
                             {"elastic_iterations", &Options::elastic_iterations}};
constexpr Flag kFlags[] = {{"elastic_first", &Options::elastic_first},
                           {"feasible_only", &Options::feasible_only},
                           {"exact", &Options::exact},
                           {"trace", &Options::trace}};

bool set_option(const char* name, PyObject* value, Options& options) {
  for (const Number& number : kNumbers) {
    if (std::strcmp(name, number.name) != 0) continue;
    options.*number.to = PyFloat_AsDouble(value);
    return PyErr_Occurred() == nullptr;
  }
  for (const Count& count : kCounts) {
    if (std::strcmp(name, count.name) != 0) continue;
    const long long number = PyLong_AsLongLong(value);
    options.*count.to = static_cast<int>(number);
    if (PyErr_Occurred() == nullptr && number == options.*count.to && number >= 0) return true;
    if (PyErr_Occurred() == nullptr) PyErr_Format(PyExc_ValueError, "%s: out of range", name);
    return false;
  }
  for (const Flag& flag : kFlags) {
    if (std::strcmp(name, flag.name) != 0) continue;
    const int truth = PyObject_IsTrue(value);
    options.*flag.to = truth == 1;
    return truth >= 0;
  }
  PyErr_Format(PyExc_ValueError, "no option '%s'", name);
  return false;
}

bool read_options(PyObject* dictionary, Options& options) {
  if (!PyDict_Check(dictionary)) {
    PyErr_SetString(PyExc_TypeError, "options: expected a dictionary");
    return false;
  }
  PyObject *key, *value;
  Py_ssize_t at = 0;
  while (PyDict_Next(dictionary, &at, &key, &value)) {
    const char* name = PyUnicode_AsUTF8(key);
    if (name == nullptr || !set_option(name, value, options)) return false;
  }
  return true;
}

PyObject* described(const Iteration& i, int count) {
  return Py_BuildValue("{sisisdsdsdsdsdsd}", "iteration", count, "phase", static_cast<int>(i.phase), "mu", i.mu, "cost",
                       i.cost, "infeasibility", i.infeasibility, "dual", i.dual, "alpha", i.alpha, "regularisation",
                       i.regularisation);
}

// What the solver's callback needs to be in Python for a moment.
struct Watch {
  PyObject* progress;  // null: none
  PyThreadState* state = nullptr;
  int count = 0;
  bool failed = false;  // an exception is set
  Clock::time_point looked = Clock::now();

  bool in_python(const Iteration& iteration) {
    if (PyErr_CheckSignals() != 0) return false;
    if (progress == nullptr) return true;
    PyReference argument(described(iteration, count));
    PyReference answer(argument ? PyObject_CallOneArg(progress, argument.get()) : nullptr);
    return answer && answer.get() != Py_False;
  }
};

bool on_iteration(void* context, const Iteration& iteration, const double*) {
  Watch& watch = *static_cast<Watch*>(context);
  ++watch.count;
  const Clock::time_point now = Clock::now();
  if (watch.progress == nullptr && now - watch.looked < kSignalsEvery) return true;
  watch.looked = now;
  PyEval_RestoreThread(watch.state);
  const bool go_on = watch.in_python(iteration);
  watch.failed = PyErr_Occurred() != nullptr;
  watch.state = PyEval_SaveThread();
  return go_on && !watch.failed;
}

PyObject* array_of(const std::vector<double>& values) {
  PyObject* out = new_doubles(static_cast<npy_intp>(values.size()));
  if (out != nullptr) {
    std::copy(values.begin(), values.end(), static_cast<double*>(PyArray_DATA(reinterpret_cast<PyArrayObject*>(out))));
  }
  return out;
}

PyObject* trace_of(const Result& result) {
  PyReference list(PyList_New(static_cast<Py_ssize_t>(result.trace.size())));
  for (std::size_t i = 0; list && i < result.trace.size(); ++i) {
    PyObject* entry = described(result.trace[i], static_cast<int>(i) + 1);
    if (entry == nullptr) return nullptr;
    PyList_SET_ITEM(list.get(), static_cast<Py_ssize_t>(i), entry);
  }
  return list.release();
}

PyObject* times_of(const planning::Times& t) {
  return Py_BuildValue("{s(di)s(di)s(di)s(di)s(di)s(di)}", "values", t.values, t.values_calls, "derivatives",
                       t.derivatives, t.derivatives_calls, "condensing", t.condensing, t.condensing_calls, "factor",
                       t.factor, t.factor_calls, "rest", t.rest, 1, "total", t.total, 1);
}

PyObject* described(const Result& r, PyReference x) {
  PyReference parts[] = {PyReference(array_of(r.multipliers)), PyReference(array_of(r.rows)), PyReference(trace_of(r)),
                         PyReference(times_of(r.times))};
  for (const PyReference& part : parts) {
    if (!part) return nullptr;
  }
  return Py_BuildValue("{sssOsOsOsOsOsdsdsdsdsisisi}", "status", status_name(r.status), "x", x.get(), "multipliers",
                       parts[0].get(), "rows", parts[1].get(), "trace", parts[2].get(), "times", parts[3].get(), "cost",
                       r.cost, "infeasibility", r.infeasibility, "dual", r.dual, "mu", r.mu, "iterations", r.iterations,
                       "elastic_iterations", r.elastic_iterations, "restorations", r.restorations);
}

}  // namespace

PyObject* py_motion_solve(PyObject*, PyObject* const* args, Py_ssize_t nargs) {
  if (!expect(nargs, 5)) return nullptr;
  const MotionUse use(args[0]);
  PyReference given(use ? take_doubles(args[1], use->variables, "x") : nullptr);
  Options options;
  if (!given || !read_options(args[2], options)) return nullptr;
  PyReference multipliers(args[4] == Py_None ? nullptr : take_doubles(args[4], use->rows, "multipliers"));
  if (args[4] != Py_None && !multipliers) return nullptr;
  PyReference x(new_doubles(use->variables));
  if (!x) return nullptr;
  std::copy_n(given.doubles(), use->variables, x.doubles());
  Watch watch{args[3] == Py_None ? nullptr : args[3]};
  options.progress = on_iteration;
  options.context = &watch;
  Result result;
  bool out_of_memory = false;
  watch.state = PyEval_SaveThread();
  try {
    result = planning::solve(*use, options, x.doubles(), multipliers ? multipliers.doubles() : nullptr);
  } catch (const std::bad_alloc&) {
    out_of_memory = true;
  }
  PyEval_RestoreThread(watch.state);
  if (watch.failed) return nullptr;
  return out_of_memory ? PyErr_NoMemory() : described(result, std::move(x));
}

}  // namespace robomorph

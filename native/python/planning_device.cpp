#include "python/planning_device.h"

#include <algorithm>
#include <vector>

#include "python/planning_handle.h"

namespace robomorph {
namespace {

using planning::MotionData;
using planning::NodeJob;

constexpr const char* kJobs[] = {"values", "margins", "derivatives", "hessians"};
constexpr const char* kTables[planning::kNodeTables] = {
    "values", "torques", "further_values", "further_torques", "gradients", "by_q", "by_qd",
    "by_qdd", "channel_hessian", "qq",     "q_qd",            "qd_qd",     "q_qdd"};

class PythonNodes : public planning::NodeDevice {
 public:
  bool run(NodeJob job, const double* control, double sigma) override {
    if (failed_) return false;
    std::copy_n(control, control_size_, control_);
    *sigma_ = sigma;
    const PyGILState_STATE state = PyGILState_Ensure();
    {
      PyReference answer(PyObject_CallFunction(run_, "s", kJobs[static_cast<int>(job)]));
      failed_ = !answer || answer.get() != Py_True;
      if (!answer) PyErr_WriteUnraisable(run_);
    }
    PyGILState_Release(state);
    return !failed_;
  }

  bool read(PyObject* given, const MotionData& data) {
    run_ = PyDict_GetItemString(given, "run");
    PyObject* flag = PyDict_GetItemString(given, "single");
    if (run_ == nullptr || !PyCallable_Check(run_) || flag == nullptr) {
      PyErr_SetString(PyExc_TypeError, "device: expected run and single");
      return false;
    }
    keep(run_);
    single = PyObject_IsTrue(flag) == 1;
    control_size_ = data.control.size();
    const npy_intp nodes = static_cast<npy_intp>(data.pieces.count) * data.pieces.nodes;
    const npy_intp functions = data.channels + (data.torque ? data.nv : 0);
    control_ = static_cast<double*>(array(given, "control", NPY_DOUBLE, control_size_, false));
    sigma_ = static_cast<double*>(array(given, "sigma", NPY_DOUBLE, 1, false));
    multipliers = static_cast<double*>(array(given, "multipliers", NPY_DOUBLE, nodes * functions, false));
    return control_ != nullptr && sigma_ != nullptr && multipliers != nullptr && read_tables(given, data);
  }

 private:
  bool read_tables(PyObject* given, const MotionData& data) {
    PyObject* all = PyDict_GetItemString(given, "tables");
    if (all == nullptr || !PyDict_Check(all)) {
      PyErr_SetString(PyExc_TypeError, "device: expected a dictionary of tables");
      return false;
    }
    for (int t = 0; t < planning::kNodeTables; ++t) {
      tables[t] = array(all, kTables[t], single ? NPY_FLOAT : NPY_DOUBLE, table_size(t, data), true);
    }
    return PyErr_Occurred() == nullptr;
  }

  static npy_intp table_size(int table, const MotionData& d) {
    const bool further = table == planning::kNodeFurtherValues || table == planning::kNodeFurtherTorques;
    const npy_intp nodes = static_cast<npy_intp>(d.pieces.count) * (d.pieces.nodes - (further ? 1 : 0));
    switch (table) {
      case planning::kNodeValues:
      case planning::kNodeFurtherValues:
        return nodes * d.channels;
      case planning::kNodeTorques:
      case planning::kNodeFurtherTorques:
        return nodes * d.nv;
      case planning::kNodeGradients:
        return nodes * d.channels * d.nv;
      default:
        return nodes * d.nv * d.nv;
    }
  }

  void keep(PyObject* object) {
    Py_INCREF(object);
    kept_.emplace_back(object);
  }

  // Where the numbers of an array are; null with an exception if it is not as it should be, or missing and needed.
  void* array(PyObject* from, const char* name, int type, npy_intp size, bool optional) {
    if (PyErr_Occurred() != nullptr) return nullptr;
    PyObject* object = PyDict_GetItemString(from, name);
    if (object == nullptr && optional) return nullptr;
    PyArrayObject* array = object != nullptr && PyArray_Check(object) ? reinterpret_cast<PyArrayObject*>(object) : nullptr;
    if (array == nullptr || PyArray_TYPE(array) != type || PyArray_SIZE(array) != size || !PyArray_ISCARRAY(array)) {
      PyErr_Format(PyExc_ValueError, "device %s: expected a contiguous array of %zd numbers", name,
                   static_cast<Py_ssize_t>(size));
      return nullptr;
    }
    keep(object);
    return PyArray_DATA(array);
  }

  PyObject* run_ = nullptr;  // kept
  std::vector<PyReference> kept_;
  std::size_t control_size_ = 0;
  double *control_ = nullptr, *sigma_ = nullptr;
  bool failed_ = false;
};

}  // namespace

std::unique_ptr<planning::NodeDevice> read_node_device(PyObject* kernels, const MotionData& data) {
  PyObject* given = PyDict_Check(kernels) ? PyDict_GetItemString(kernels, "device") : nullptr;
  if (given == nullptr) return nullptr;
  if (!PyDict_Check(given)) {
    PyErr_SetString(PyExc_TypeError, "device: expected a dictionary");
    return nullptr;
  }
  auto out = std::make_unique<PythonNodes>();
  if (!out->read(given, data)) return nullptr;
  return out;
}

}  // namespace robomorph

// A motion problem in Python's hands: a capsule that one call at a time may use.
#pragma once

#include <algorithm>
#include <memory>
#include <utility>

#include "planning/motion_problem.h"
#include "python/python_api.h"

namespace robomorph {

inline constexpr char kMotionCapsule[] = "robomorph.motion_problem";

struct MotionHandle {
  std::unique_ptr<planning::NodeDevice> device;  // null: kernels on the CPU
  std::unique_ptr<planning::MotionProblem> problem;
  PyObject* keep = nullptr;  // what owns the kernels' code
  bool busy = false;         // read and written with the GIL held
  ~MotionHandle() { Py_XDECREF(keep); }
};

inline PyObject* wrap_motion(std::unique_ptr<MotionHandle> handle, PyObject* keep) {
  PyObject* capsule = PyCapsule_New(handle.get(), kMotionCapsule, [](PyObject* dying) {
    delete static_cast<MotionHandle*>(PyCapsule_GetPointer(dying, kMotionCapsule));
  });
  if (capsule == nullptr) return nullptr;
  Py_INCREF(keep);
  handle.release()->keep = keep;
  return capsule;
}

// The problem of a capsule for one call; false, with an exception set, for anything else or while another call has it.
class MotionUse {
 public:
  explicit MotionUse(PyObject* capsule)
      : handle_(static_cast<MotionHandle*>(PyCapsule_GetPointer(capsule, kMotionCapsule))) {
    if (handle_ != nullptr && handle_->busy) {
      PyErr_SetString(PyExc_RuntimeError, "this motion problem is in use by another call");
      handle_ = nullptr;
    }
    if (handle_ != nullptr) handle_->busy = true;
  }
  ~MotionUse() {
    if (handle_ != nullptr) handle_->busy = false;
  }
  MotionUse(const MotionUse&) = delete;
  MotionUse& operator=(const MotionUse&) = delete;

  explicit operator bool() const { return handle_ != nullptr; }
  planning::MotionProblem& operator*() const { return *handle_->problem; }
  planning::MotionProblem* operator->() const { return handle_->problem.get(); }

 private:
  MotionHandle* handle_;
};

// Owns a reference.
class PyReference {
 public:
  PyReference() = default;
  explicit PyReference(PyObject* object) : object_(object) {}
  PyReference(PyReference&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  PyReference& operator=(PyReference&& other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  ~PyReference() { Py_XDECREF(object_); }

  explicit operator bool() const { return object_ != nullptr; }
  PyObject* get() const { return object_; }
  PyObject* release() { return std::exchange(object_, nullptr); }
  double* doubles() const { return static_cast<double*>(PyArray_DATA(reinterpret_cast<PyArrayObject*>(object_))); }

 private:
  PyObject* object_ = nullptr;
};

inline PyObject* new_doubles(npy_intp size) { return PyArray_SimpleNew(1, &size, NPY_DOUBLE); }

// A C-contiguous array (size,), converted if need be.
inline PyObject* take_doubles(PyObject* value, npy_intp size, const char* name) {
  PyObject* object = PyArray_FROMANY(value, NPY_DOUBLE, 1, 1, NPY_ARRAY_IN_ARRAY);
  if (object == nullptr || PyArray_DIM(reinterpret_cast<PyArrayObject*>(object), 0) == size) return object;
  PyErr_Format(PyExc_ValueError, "%s: expected %zd numbers", name, static_cast<Py_ssize_t>(size));
  Py_DECREF(object);
  return nullptr;
}

inline bool expect(Py_ssize_t found, Py_ssize_t wanted) {
  if (found != wanted) PyErr_Format(PyExc_TypeError, "expected %zd arguments, found %zd", wanted, found);
  return found == wanted;
}

}  // namespace robomorph

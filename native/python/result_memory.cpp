// NumPy keeps with each array the handler that made its data, and asks it to resize and to free them: arrays stay
// ordinary, whoever holds them or views of them.
#include "python/result_memory.h"

#include <cstring>

#include "core/buffers.h"

namespace robomorph {
namespace {

constexpr std::size_t kLarge = std::size_t{1} << 16;  // the C library keeps smaller ones itself

void* take(void*, std::size_t bytes) { return result_buffers().take(bytes); }

void* take_zeroed(void*, std::size_t count, std::size_t size) {
  if (size != 0 && count > PY_SSIZE_T_MAX / size) return nullptr;
  void* data = result_buffers().take(count * size);
  if (data != nullptr) std::memset(data, 0, count * size);
  return data;
}

void* resize(void*, void* data, std::size_t bytes) { return result_buffers().resize(data, bytes); }

void give(void*, void* data, std::size_t) { result_buffers().give(data); }

PyDataMem_Handler handler = {"robomorph_results", 1, {nullptr, take, take_zeroed, resize, give}};
PyObject* capsule = nullptr;

PyObject* new_array(int nd, const npy_intp* dims, int typenum) { return PyArray_SimpleNew(nd, dims, typenum); }

// False with an exception set, the one that was set before if there was one.
bool restore_handler(PyObject* before) {
  PyObject *type, *value, *trace;
  PyErr_Fetch(&type, &value, &trace);
  PyObject* ours = PyDataMem_SetHandler(before);
  Py_DECREF(before);
  Py_XDECREF(ours);
  if (type != nullptr) PyErr_Restore(type, value, trace);
  return ours != nullptr;
}

}  // namespace

bool prepare_result_memory() {
  result_buffers();  // now: a child forked while another thread makes it would wait for ever
  if (capsule == nullptr) capsule = PyCapsule_New(&handler, "mem_handler", nullptr);
  return capsule != nullptr;
}

PyObject* new_result(int nd, const npy_intp* dims, int typenum, std::size_t bytes) {
  if (bytes < kLarge) return new_array(nd, dims, typenum);
  PyObject* before = PyDataMem_SetHandler(capsule);
  if (before == nullptr) return nullptr;
  // Somebody wants arrays in memory of his own: ours too.
  const bool chosen = before != PyDataMem_DefaultHandler;
  PyObject* array = chosen ? nullptr : new_array(nd, dims, typenum);
  if (!restore_handler(before)) Py_CLEAR(array);
  if (chosen && !PyErr_Occurred()) array = new_array(nd, dims, typenum);
  return array;
}

}  // namespace robomorph

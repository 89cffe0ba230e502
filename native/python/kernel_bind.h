// Fits Python arguments to a kernel: the fast path's checks, and the arrays it makes for results.
#pragma once

#include "python/kernel.h"

namespace robomorph {

// Why the arguments are not ready to be used as they are; reason is nullptr when they are.
struct Misfit {
  const char* reason = nullptr;
  bool is_output = false;
  Py_ssize_t index = 0;
};

struct Binding {
  Work work;
  int lead_nd = 0;                  // number of batch dimensions
  const npy_intp* lead = nullptr;   // borrowed from the first argument
};

// Reads the addresses and the batch shape out of the arguments, and out of `outputs` unless that is None. Sets no
// exception: what does not fit goes to the slow path, which can explain it.
Misfit bind(const KernelObject* kernel, PyObject* const* args, Py_ssize_t nargs, PyObject* outputs,
            Binding& binding);

// Result arrays on their way to the caller; dropped again if the call fails.
class NewOutputs {
 public:
  NewOutputs() = default;
  ~NewOutputs();
  NewOutputs(const NewOutputs&) = delete;
  NewOutputs& operator=(const NewOutputs&) = delete;

  // Makes one array per output with the batch shape in front. False with an exception set.
  bool allocate(const KernelObject* kernel, Binding& binding);
  // Hands the arrays over: the bare array, or the result type around all of them.
  PyObject* release(const KernelObject* kernel);

 private:
  std::size_t count_ = 0;
  PyObject* arrays_[kMaxArrays];
};

}  // namespace robomorph

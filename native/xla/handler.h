// The one function that XLA calls for every kernel: which one is told by the attribute "kernel".
#pragma once

#include "xla/ffi_api.h"

namespace robomorph::xla {

// nullptr: done. Runs on XLA's threads, without Python.
Error* handle_call(CallFrame* frame);

// The minor version that the handler says it was made for, where XLA does not tell its own first.
void set_reported_minor(int minor);

}  // namespace robomorph::xla

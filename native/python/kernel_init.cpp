// NativeKernel.__init__: reads the description of a kernel.
#include <cstring>

#include "core/cpus.h"
#include "python/kernel.h"

namespace robomorph {

bool parse_address(PyObject* value, const char* name, KernelFn& address) {
  if (!PyLong_Check(value)) {
    PyErr_Format(PyExc_TypeError, "%s must be an address (int), not %.100s", name, Py_TYPE(value)->tp_name);
    return false;
  }
  void* pointer = PyLong_AsVoidPtr(value);
  if (pointer == nullptr && PyErr_Occurred()) return false;
  address = reinterpret_cast<KernelFn>(pointer);
  return true;
}

namespace {

constexpr std::size_t kMaxRowCount = std::size_t{1} << 32;
constexpr Py_ssize_t kMaxLanes = 4096;

struct Arguments {
  PyObject* lane_fn = nullptr;
  PyObject* single_fn = nullptr;
  Py_ssize_t lanes = 1;
  PyObject* in_shapes = nullptr;
  PyObject* out_shapes = nullptr;
  const char* dtype = nullptr;
  Py_ssize_t workspace = 0;
  PyObject* result_type = Py_None;
  Py_ssize_t threads = 0;
  int check_finite = 1;
  PyObject* unit_parts = nullptr;
  double unit_tolerance = 0;
};

bool parse(PyObject* args, PyObject* keywords, Arguments& given) {
  static const char* names[] = {"in_shapes", "out_shapes",  "dtype",   "lane_fn",      "lanes",      "single_fn",
                                "workspace", "result_type", "threads", "check_finite", "unit_parts", "unit_tolerance",
                                nullptr};
  if (!PyArg_ParseTupleAndKeywords(args, keywords, "|$O!O!sOnOnOnpO!d:NativeKernel", const_cast<char**>(names),
                                   &PyTuple_Type, &given.in_shapes, &PyTuple_Type, &given.out_shapes, &given.dtype,
                                   &given.lane_fn, &given.lanes, &given.single_fn, &given.workspace,
                                   &given.result_type, &given.threads, &given.check_finite, &PyTuple_Type,
                                   &given.unit_parts, &given.unit_tolerance)) {
    return false;
  }
  if (given.in_shapes == nullptr || given.out_shapes == nullptr || given.dtype == nullptr) {
    PyErr_SetString(PyExc_TypeError, "NativeKernel needs in_shapes, out_shapes and dtype");
    return false;
  }
  return true;
}

bool in_range(Py_ssize_t value, Py_ssize_t low, Py_ssize_t high, const char* name) {
  if (value >= low && value <= high) return true;
  PyErr_Format(PyExc_ValueError, "%s must be between %zd and %zd, not %zd", name, low, high, value);
  return false;
}

bool read_shape(PyObject* dims, RowShape& shape) {
  if (!PyTuple_Check(dims) || PyTuple_GET_SIZE(dims) > kMaxTrailing) {
    PyErr_Format(PyExc_ValueError, "a shape must be a tuple of at most %d sizes, not %R", kMaxTrailing, dims);
    return false;
  }
  shape.nd = static_cast<int>(PyTuple_GET_SIZE(dims));
  shape.count = 1;
  for (int d = 0; d < shape.nd; ++d) {
    const Py_ssize_t size = PyLong_AsSsize_t(PyTuple_GET_ITEM(dims, d));
    if (size == -1 && PyErr_Occurred()) return false;
    if (!in_range(size, 0, static_cast<Py_ssize_t>(kMaxRowCount), "a size in a shape")) return false;
    shape.dims[d] = size;
    shape.count *= static_cast<std::size_t>(size);
    if (shape.count > kMaxRowCount) {
      PyErr_Format(PyExc_ValueError, "shape %R has too many elements", dims);
      return false;
    }
  }
  return true;
}

bool read_shapes(PyObject* tuple, Py_ssize_t at_least, const char* name, RowShape* shapes, std::size_t* row_bytes,
                 std::size_t& count, std::size_t item) {
  const Py_ssize_t n = PyTuple_GET_SIZE(tuple);
  if (!in_range(n, at_least, static_cast<Py_ssize_t>(kMaxArrays), name)) return false;
  for (Py_ssize_t i = 0; i < n; ++i) {
    if (!read_shape(PyTuple_GET_ITEM(tuple, i), shapes[i])) return false;
    row_bytes[i] = shapes[i].count * item;
  }
  count = static_cast<std::size_t>(n);
  return true;
}

bool read_dtype(const char* name, KernelObject* kernel, std::size_t& item) {
  const bool is_double = std::strcmp(name, "float64") == 0;
  if (!is_double && std::strcmp(name, "float32") != 0) {
    PyErr_Format(PyExc_ValueError, "dtype must be 'float32' or 'float64', not '%s'", name);
    return false;
  }
  kernel->typenum = is_double ? NPY_DOUBLE : NPY_FLOAT;
  item = is_double ? sizeof(double) : sizeof(float);
  return true;
}

// Results are built by filling a tuple of that type directly, so it must be a plain extension of tuple.
bool check_result_type(PyObject* type, Py_ssize_t n_out) {
  if (type == Py_None) {
    if (n_out == 1) return true;
    PyErr_Format(PyExc_ValueError, "a kernel with %zd outputs needs a result_type", n_out);
    return false;
  }
  if (!PyType_Check(type) || !PyType_IsSubtype(reinterpret_cast<PyTypeObject*>(type), &PyTuple_Type)) {
    PyErr_Format(PyExc_TypeError, "result_type must be a named tuple class or None, not %R", type);
    return false;
  }
  PyObject* fields = PyObject_GetAttrString(type, "_fields");
  if (fields == nullptr) return false;
  const Py_ssize_t n_fields = PyObject_Length(fields);
  Py_DECREF(fields);
  if (n_fields == n_out) return true;
  if (n_fields >= 0) {
    PyErr_Format(PyExc_ValueError, "result_type %R has %zd fields, but the kernel has %zd outputs", type, n_fields,
                 n_out);
  }
  return false;
}

bool check_numbers(const Arguments& given) {
  return in_range(given.lanes, 1, kMaxLanes, "lanes") && in_range(given.workspace, 0, kMaxWorkspace, "workspace") &&
         in_range(given.threads, 0, static_cast<Py_ssize_t>(kMaxThreads), "threads") &&
         check_result_type(given.result_type, PyTuple_GET_SIZE(given.out_shapes));
}

bool read_layout(const Arguments& given, KernelObject* kernel) {
  std::size_t item = 0;
  Layout& layout = kernel->layout;
  if (!read_dtype(given.dtype, kernel, item) ||
      !read_shapes(given.in_shapes, 0, "the number of inputs", kernel->in, layout.in_row, layout.n_in, item) ||
      !read_shapes(given.out_shapes, 1, "the number of outputs", kernel->out, layout.out_row, layout.n_out, item)) {
    return false;
  }
  layout.lanes = static_cast<std::size_t>(given.lanes);
  plan_scratch(layout);
  return true;
}

bool read_unit_part(PyObject* item, const KernelObject* kernel, UnitPart& part) {
  Py_ssize_t input = 0, first = 0, count = 0;
  if (!PyTuple_Check(item) || !PyArg_ParseTuple(item, "nnn", &input, &first, &count)) {
    PyErr_Format(PyExc_TypeError, "a unit part must be a tuple (input, first, count), not %R", item);
    return false;
  }
  const auto n_in = static_cast<Py_ssize_t>(kernel->layout.n_in);
  if (!in_range(input, 0, n_in - 1, "the input of a unit part")) return false;
  const auto size = static_cast<Py_ssize_t>(kernel->in[input].count);
  if (!in_range(first, 0, size, "the first entry of a unit part")) return false;
  if (!in_range(count, 1, size - first, "the size of a unit part")) return false;
  part = {static_cast<std::size_t>(input), static_cast<std::size_t>(first), static_cast<std::size_t>(count)};
  return true;
}

// A length may be off by the tolerance to either side; squares are compared, which saves the root.
bool read_unit_parts(const Arguments& given, KernelObject* kernel) {
  UnitParts& units = kernel->units;
  PyMem_Free(units.parts);  // of an __init__ that failed
  units = {};
  if (given.unit_parts == nullptr || PyTuple_GET_SIZE(given.unit_parts) == 0) return true;
  if (!(given.unit_tolerance > 0 && given.unit_tolerance < 1)) {
    PyErr_SetString(PyExc_ValueError, "unit_parts need a unit_tolerance between 0 and 1");
    return false;
  }
  const Py_ssize_t n = PyTuple_GET_SIZE(given.unit_parts);
  units.parts = static_cast<UnitPart*>(PyMem_Calloc(static_cast<std::size_t>(n), sizeof(UnitPart)));
  if (units.parts == nullptr) return PyErr_NoMemory() != nullptr;
  for (Py_ssize_t k = 0; k < n; ++k) {
    if (!read_unit_part(PyTuple_GET_ITEM(given.unit_parts, k), kernel, units.parts[k])) return false;
  }
  units.count = static_cast<std::size_t>(n);
  units.low = (1 - given.unit_tolerance) * (1 - given.unit_tolerance);
  units.high = (1 + given.unit_tolerance) * (1 + given.unit_tolerance);
  return true;
}

void set_defaults(const Arguments& given, KernelObject* kernel) {
  kernel->workspace = given.workspace;
  kernel->threads = given.threads;
  kernel->check_finite = given.check_finite != 0;
  kernel->single_limit = 2;
  kernel->min_blocks_per_thread = 1;
  kernel->release_gil_above = 16;
}

bool keep_references(const Arguments& given, KernelObject* kernel) {
  PyObject* dtype = PyUnicode_FromString(given.dtype);
  if (dtype == nullptr) return false;
  kernel->dtype = dtype;
  Py_INCREF(given.in_shapes);
  kernel->in_shapes = given.in_shapes;
  Py_INCREF(given.out_shapes);
  kernel->out_shapes = given.out_shapes;
  if (given.result_type != Py_None) {
    Py_INCREF(given.result_type);
    kernel->result_type = given.result_type;
  }
  return true;
}

}  // namespace

int kernel_init(PyObject* self, PyObject* args, PyObject* keywords) {
  KernelObject* kernel = as_kernel(self);
  if (kernel->ready) {  // another thread may be running it
    PyErr_SetString(PyExc_RuntimeError, "a NativeKernel cannot be initialised twice");
    return -1;
  }
  Arguments given;
  if (!parse(args, keywords, given) || !check_numbers(given) || !read_layout(given, kernel)) return -1;
  if (given.lane_fn != nullptr && !parse_address(given.lane_fn, "lane_fn", kernel->lane_fn)) return -1;
  if (given.single_fn != nullptr && !parse_address(given.single_fn, "single_fn", kernel->single_fn)) return -1;
  if (!read_unit_parts(given, kernel)) return -1;
  set_defaults(given, kernel);
  if (!keep_references(given, kernel)) return -1;
  kernel->ready = true;
  return 0;
}

}  // namespace robomorph

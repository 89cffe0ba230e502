#include "python/ik_module.h"

#include <cmath>
#include <memory>
#include <new>

#include "core/cpus.h"
#include "ik/joints.h"
#include "python/ik_numbers.h"
#include "ik/plan.h"

namespace robomorph {
namespace {

constexpr char kCapsuleName[] = "robomorph.ik_plan";

struct Reference {
  PyObject* object = nullptr;
  ~Reference() { Py_XDECREF(object); }
  PyArrayObject* array() const { return reinterpret_cast<PyArrayObject*>(object); }
};

// A C-contiguous array of the given type and number of dimensions, converted if need be.
bool take_array(PyObject* value, int type, int nd, Reference& out) {
  out.object = PyArray_FROMANY(value, type, nd, nd, NPY_ARRAY_IN_ARRAY);
  return out.object != nullptr;
}

template <typename T>
const T* data(const Reference& reference) {
  return static_cast<const T*>(PyArray_DATA(reference.array()));
}

std::size_t extent(const Reference& reference, int axis) {
  return static_cast<std::size_t>(PyArray_DIM(reference.array(), axis));
}

bool refuse(const char* text) {
  PyErr_SetString(PyExc_ValueError, text);
  return false;
}

bool read_blocks(PyObject* value, IkPlan& plan) {
  Reference blocks;
  if (!take_array(value, NPY_INT32, 2, blocks)) return false;
  if (extent(blocks, 1) != 5) return refuse("blocks: expected (kind, raw, row, rows, bend) each");
  const std::int32_t* row = data<std::int32_t>(blocks);
  for (std::size_t i = 0; i < extent(blocks, 0); ++i, row += 5) {
    if (row[0] < 0 || row[0] > 2) return refuse("blocks: unknown kind");
    const IkBlockKind kind = static_cast<IkBlockKind>(row[0]);
    const IkBlockSize size = ik_block_size(kind, row[3]);
    if (row[3] < 0 || row[3] != size.rows) return refuse("blocks: another number of rows than the kind has");
    const bool fits = row[1] >= 0 && static_cast<std::size_t>(row[1]) + size.raws <= plan.raws && row[2] >= 0 &&
                      static_cast<std::size_t>(row[2]) + size.rows <= plan.rows && row[4] < static_cast<int>(plan.bends);
    if (!fits) return refuse("blocks: outside the arrays");
    plan.blocks.push_back({kind, row[1], row[2], row[3], row[4]});
  }
  return true;
}

// Joints: (kind, q, v, wraps, held) each; limits (n, 2) in the same order.
bool read_joints(PyObject* value, PyObject* limits_value, IkPlan& plan) {
  Reference joints, limits;
  if (!take_array(value, NPY_INT32, 2, joints) || !take_array(limits_value, NPY_DOUBLE, 2, limits)) return false;
  if (extent(joints, 1) != 5 || extent(limits, 1) != 2 || extent(limits, 0) != extent(joints, 0)) {
    return refuse("joints: expected (kind, q, v, wraps, held) and (lower, upper) each");
  }
  const std::int32_t* row = data<std::int32_t>(joints);
  const double* limit = data<double>(limits);
  std::size_t coordinates = 0, freedoms = 0;
  plan.held.assign(plan.nv, 0);
  for (std::size_t i = 0; i < extent(joints, 0); ++i, row += 5, limit += 2) {
    if (row[0] < 0 || row[0] >= kIkJointKinds) return refuse("joints: unknown kind");
    const IkJointKind kind = static_cast<IkJointKind>(row[0]);
    const IkJointSize size = ik_joint_size(kind);
    const bool fits = row[1] >= 0 && static_cast<std::size_t>(row[1] + size.nq) <= plan.nq && row[2] >= 0 &&
                      static_cast<std::size_t>(row[2] + size.nv) <= plan.nv;
    if (!fits) return refuse("joints: outside the configuration");
    for (int k = 0; k < size.nv; ++k) plan.held[row[2] + k] = row[4] != 0;
    coordinates += size.nq;
    freedoms += size.nv;
    if (kind == IkJointKind::kScalar) {
      plan.scalars.push_back({row[1], row[2], limit[0], limit[1], row[3] != 0, row[4] != 0});
      if (std::isfinite(limit[0]) || std::isfinite(limit[1])) plan.limited.push_back(plan.scalars.back());
    } else plan.others.push_back({kind, row[1], row[2]});
  }
  const bool whole = coordinates == plan.nq && freedoms == plan.nv;
  return whole || refuse("joints: expected every coordinate and degree of freedom to belong to one");
}

bool read_rows(PyObject* weights, PyObject* tolerance, PyObject* group, IkPlan& plan) {
  Reference w, t, g;
  if (!take_array(weights, NPY_DOUBLE, 1, w) || !take_array(tolerance, NPY_DOUBLE, 1, t) ||
      !take_array(group, NPY_INT32, 1, g)) {
    return false;
  }
  if (extent(w, 0) != plan.rows || extent(t, 0) != plan.rows || extent(g, 0) != plan.rows) {
    return refuse("weights, tolerance and group: expected one number a row");
  }
  plan.weights.assign(data<double>(w), data<double>(w) + plan.rows);
  plan.inverse_tolerance.assign(data<double>(t), data<double>(t) + plan.rows);
  plan.group.assign(data<std::int32_t>(g), data<std::int32_t>(g) + plan.rows);
  return true;
}

void destroy_plan(PyObject* capsule) {
  delete static_cast<IkPlan*>(PyCapsule_GetPointer(capsule, kCapsuleName));
}

KernelFn as_kernel_fn(unsigned long long address) {
  return reinterpret_cast<KernelFn>(static_cast<std::uintptr_t>(address));
}

bool check_plan(const IkPlan& plan) {
  const std::size_t lanes = plan.lanes, wide = plan.wide_lanes;
  const auto known = [](std::size_t n) { return n == 1 || n == 2 || n == 4 || n == 8; };
  if (!known(lanes) || !known(wide)) return refuse("lanes: expected 1, 2, 4 or 8");
  if (plan.residual == nullptr || plan.step == nullptr) return refuse("programs: an address is missing");
  if (plan.speculations > 0 && (plan.errors == nullptr || lanes != 1)) return refuse("speculation: needs one lane");
  if (!(plan.longest_share > 0.0 && plan.longest_share <= 2.0 && plan.relaxation >= 0.0 && plan.relaxation < 1.0)) {
    return refuse("speculation: lengths out of range");
  }
  if (plan.trig != nullptr && lanes != 1) return refuse("trig: needs one lane");
  if (plan.max_starts < 1 || plan.candidates < 1 || plan.candidates > plan.max_starts || plan.max_iterations < 0) {
    return refuse("starts, candidates and iterations: out of range");
  }
  return true;
}

PyObject* py_ik_plan(PyObject*, PyObject* args, PyObject* keywords) {
  static const char* names[] = {"lanes",  "residual", "step",      "errors",  "trig",   "workspace",  "sizes",
                                "blocks", "joints",   "limits",    "weights",    "tolerance",  "group",
                                "gain_ratio", "polish", "speculations", "longest_share", "relaxation", "wide_lanes",
                                "choice", "max_starts", "candidates", "max_iterations", "near_enough", "seed", nullptr};
  unsigned long long residual, step, errors, trig, seed;
  PyObject *blocks, *joints, *limits, *weights, *tolerance, *group;
  Py_ssize_t lanes, workspace, nq, nv, targets, raws, rows, jacs, bends, wide_lanes;
  int gain_ratio, polish, choice;
  std::unique_ptr<IkPlan> plan(new (std::nothrow) IkPlan);
  if (!plan) return PyErr_NoMemory();
  if (!PyArg_ParseTupleAndKeywords(args, keywords, "$nKKKKn(nnnnnnn)OOOOOOppiddniiiidK", const_cast<char**>(names), &lanes,
                                   &residual, &step, &errors, &trig, &workspace, &nq, &nv, &targets, &raws, &rows, &jacs,
                                   &bends, &blocks, &joints, &limits, &weights, &tolerance, &group, &gain_ratio,
                                   &polish, &plan->speculations, &plan->longest_share, &plan->relaxation, &wide_lanes,
                                   &choice, &plan->max_starts, &plan->candidates, &plan->max_iterations, &plan->near_enough, &seed)) {
    return nullptr;
  }
  plan->lanes = static_cast<std::size_t>(lanes);
  plan->wide_lanes = static_cast<std::size_t>(wide_lanes);
  plan->residual = as_kernel_fn(residual);
  plan->step = as_kernel_fn(step);
  plan->errors = as_kernel_fn(errors);
  plan->trig = as_kernel_fn(trig);
  plan->workspace = static_cast<std::size_t>(workspace);
  plan->nq = static_cast<std::size_t>(nq);
  plan->nv = static_cast<std::size_t>(nv);
  plan->targets = static_cast<std::size_t>(targets);
  plan->raws = static_cast<std::size_t>(raws);
  plan->rows = static_cast<std::size_t>(rows);
  plan->jacs = static_cast<std::size_t>(jacs);
  plan->bends = static_cast<std::size_t>(bends);
  plan->gain_ratio = gain_ratio != 0;
  plan->polish = polish != 0;
  plan->choice = static_cast<IkChoice>(choice);
  plan->seed = seed;
  const bool read = check_plan(*plan) && read_blocks(blocks, *plan) && read_joints(joints, limits, *plan) &&
                    read_rows(weights, tolerance, group, *plan);
  if (!read) return nullptr;
  PyObject* capsule = PyCapsule_New(plan.get(), kCapsuleName, destroy_plan);
  if (capsule != nullptr) plan.release();
  return capsule;
}

// New arrays for the results; entries come after the batch dimension if the plan asks for every start.
bool make_results(const IkPlan& plan, npy_intp count, Reference (&results)[6]) {
  const bool all = plan.choice == IkChoice::kAll;
  npy_intp dims[3] = {count, 0, 0};
  int nd = 1;
  if (all) dims[nd++] = plan.max_starts;
  dims[nd] = static_cast<npy_intp>(plan.nq);
  results[0].object = PyArray_SimpleNew(nd + 1, dims, NPY_DOUBLE);
  static constexpr int kTypes[] = {NPY_BOOL, NPY_DOUBLE, NPY_DOUBLE, NPY_INT32, NPY_INT32};
  for (int i = 0; i < 5; ++i) results[i + 1].object = PyArray_SimpleNew(nd, dims, kTypes[i]);
  for (const Reference& result : results) {
    if (result.object == nullptr) return false;
  }
  return true;
}

PyObject* py_ik_solve(PyObject*, PyObject* const* args, Py_ssize_t nargs) {
  if (nargs != 5) return PyErr_Format(PyExc_TypeError, "expected 5 arguments, found %zd", nargs);
  const auto* plan = static_cast<const IkPlan*>(PyCapsule_GetPointer(args[0], kCapsuleName));
  if (plan == nullptr) return nullptr;
  Reference target, start, posture, results[6];
  if (!take_array(args[1], NPY_DOUBLE, 2, target) || !take_array(args[2], NPY_DOUBLE, 2, start) ||
      !take_array(args[3], NPY_DOUBLE, 2, posture)) {
    return nullptr;
  }
  const Py_ssize_t threads = PyLong_AsSsize_t(args[4]);
  if (threads == -1 && PyErr_Occurred()) return nullptr;
  const std::size_t count = extent(target, 0);
  const bool fits = extent(target, 1) == plan->targets && extent(start, 0) == count && extent(start, 1) == plan->nq &&
                    extent(posture, 0) == count && extent(posture, 1) == plan->nq;
  if (!fits) return PyErr_Format(PyExc_ValueError, "targets, starts and postures do not have the plan's shapes");
  if (!make_results(*plan, static_cast<npy_intp>(count), results)) return nullptr;
  const auto out = [&](int i) { return PyArray_DATA(results[i].array()); };
  IkBatch batch{count,
                data<double>(target),
                data<double>(start),
                data<double>(posture),
                static_cast<double*>(out(0)),
                static_cast<unsigned char*>(out(1)),
                static_cast<double*>(out(2)),
                static_cast<double*>(out(3)),
                static_cast<std::int32_t*>(out(4)),
                static_cast<std::int32_t*>(out(5))};
  bool done = false;
  Py_BEGIN_ALLOW_THREADS
  try {
    done = ik_solve(*plan, batch, threads > 0 ? static_cast<std::size_t>(threads) : default_threads());
  } catch (const std::bad_alloc&) {
  }
  Py_END_ALLOW_THREADS
  if (!done) return PyErr_NoMemory();
  return PyTuple_Pack(6, results[0].object, results[1].object, results[2].object, results[3].object,
                      results[4].object, results[5].object);
}

PyMethodDef functions[] = {
    {"ik_plan", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(py_ik_plan)), METH_VARARGS | METH_KEYWORDS,
     "A compiled inverse-kinematics problem for ik_solve."},
    {"ik_solve", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(py_ik_solve)), METH_FASTCALL,
     "ik_solve(plan, target, start, posture, threads, /)\n--\n\nq, success, position and rotation error, iterations, "
     "starts."},
    {"ik_numbers", py_ik_numbers, METH_O, "ik_numbers(value, /)\n--\n\nAn array, or None if it is not plain numbers."},
    {"ik_pack_poses", py_ik_pack_poses, METH_O, "ik_pack_poses(poses, /)\n--\n\n(n, 12), or None if they need a closer look."},
    {"ik_pack_rows", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(py_ik_pack_rows)), METH_FASTCALL,
     "ik_pack_rows(rows, size, /)\n--\n\n(n, size), or None if they need a closer look."},
    {nullptr, nullptr, 0, nullptr},
};

}  // namespace

bool add_ik_functions(PyObject* module) { return PyModule_AddFunctions(module, functions) == 0; }

}  // namespace robomorph

// CasADi's interface to kernels of the robot "chain_2": casadi.external(name, library) finds these functions.
//
// Made by robomorph 0.2.0. Export again instead of editing.
#include "chain_2/chain_2_inverse_dynamics.hpp"
#include "chain_2/jac_chain_2_inverse_dynamics.hpp"

#ifndef casadi_int
#define casadi_int long long int
#endif
#if defined(_WIN32)
#define CASADI_VISIBLE extern "C" __declspec(dllexport)
#else
#define CASADI_VISIBLE extern "C" __attribute__((visibility("default")))
#endif

// In a namespace that no robot's name can be.
namespace robomorph {
namespace {

/// A matrix: its name, and its pattern as rows, columns, starts of the columns, rows of the entries.
struct Matrix {
  const char* name;
  const casadi_int* pattern;
};

/// What is missing counts as zeros.
const double zeros[2] = {};

inline void tell(casadi_int* place, casadi_int size) {
  if (place) *place = size;
}

}  // namespace
}  // namespace robomorph

// Joint forces for given accelerations (recursive Newton-Euler).
namespace {

const casadi_int chain_2_inverse_dynamics_in0[6] = {2, 1, 0, 2, 0, 1};
const casadi_int chain_2_inverse_dynamics_in1[6] = {2, 1, 0, 2, 0, 1};
const casadi_int chain_2_inverse_dynamics_in2[6] = {2, 1, 0, 2, 0, 1};
const casadi_int chain_2_inverse_dynamics_out0[6] = {2, 1, 0, 2, 0, 1};
const robomorph::Matrix chain_2_inverse_dynamics_in[3] = {{"q", chain_2_inverse_dynamics_in0}, {"qd", chain_2_inverse_dynamics_in1}, {"qdd", chain_2_inverse_dynamics_in2}};
const robomorph::Matrix chain_2_inverse_dynamics_out[1] = {{"tau", chain_2_inverse_dynamics_out0}};

}  // namespace

CASADI_VISIBLE int chain_2_inverse_dynamics(const double** arg, double** res, casadi_int*, double* w, int) {
  chain_2::chain_2_inverse_dynamics<double>(
      arg[0] ? arg[0] : robomorph::zeros,
      arg[1] ? arg[1] : robomorph::zeros,
      arg[2] ? arg[2] : robomorph::zeros,
      res[0] ? res[0] : w + 0);
  return 0;
}
CASADI_VISIBLE casadi_int chain_2_inverse_dynamics_n_in(void) { return 3; }
CASADI_VISIBLE casadi_int chain_2_inverse_dynamics_n_out(void) { return 1; }
CASADI_VISIBLE const char* chain_2_inverse_dynamics_name_in(casadi_int i) {
  return i >= 0 && i < 3 ? chain_2_inverse_dynamics_in[i].name : nullptr;
}
CASADI_VISIBLE const char* chain_2_inverse_dynamics_name_out(casadi_int i) {
  return i >= 0 && i < 1 ? chain_2_inverse_dynamics_out[i].name : nullptr;
}
CASADI_VISIBLE const casadi_int* chain_2_inverse_dynamics_sparsity_in(casadi_int i) {
  return i >= 0 && i < 3 ? chain_2_inverse_dynamics_in[i].pattern : nullptr;
}
CASADI_VISIBLE const casadi_int* chain_2_inverse_dynamics_sparsity_out(casadi_int i) {
  return i >= 0 && i < 1 ? chain_2_inverse_dynamics_out[i].pattern : nullptr;
}
CASADI_VISIBLE int chain_2_inverse_dynamics_work(casadi_int* n_arg, casadi_int* n_res, casadi_int* n_iw, casadi_int* n_w) {
  robomorph::tell(n_arg, 3);
  robomorph::tell(n_res, 1);
  robomorph::tell(n_iw, 0);
  robomorph::tell(n_w, 2);
  return 0;
}

// The derivative of every result by every argument. Of: Joint forces for given accelerations (recursive Newton-Euler).
namespace {

const casadi_int jac_chain_2_inverse_dynamics_in0[6] = {2, 1, 0, 2, 0, 1};
const casadi_int jac_chain_2_inverse_dynamics_in1[6] = {2, 1, 0, 2, 0, 1};
const casadi_int jac_chain_2_inverse_dynamics_in2[6] = {2, 1, 0, 2, 0, 1};
const casadi_int jac_chain_2_inverse_dynamics_in3[4] = {2, 1, 0, 0};
const casadi_int jac_chain_2_inverse_dynamics_out0[7] = {2, 2, 0, 0, 2, 0, 1};
const casadi_int jac_chain_2_inverse_dynamics_out1[8] = {2, 2, 0, 2, 3, 0, 1, 0};
const casadi_int jac_chain_2_inverse_dynamics_out2[7] = {2, 2, 0, 1, 2, 0, 1};
const robomorph::Matrix jac_chain_2_inverse_dynamics_in[4] = {{"q", jac_chain_2_inverse_dynamics_in0}, {"qd", jac_chain_2_inverse_dynamics_in1}, {"qdd", jac_chain_2_inverse_dynamics_in2}, {"out_tau", jac_chain_2_inverse_dynamics_in3}};
const robomorph::Matrix jac_chain_2_inverse_dynamics_out[3] = {{"jac_tau_q", jac_chain_2_inverse_dynamics_out0}, {"jac_tau_qd", jac_chain_2_inverse_dynamics_out1}, {"jac_tau_qdd", jac_chain_2_inverse_dynamics_out2}};

}  // namespace

CASADI_VISIBLE int jac_chain_2_inverse_dynamics(const double** arg, double** res, casadi_int*, double* w, int) {
  chain_2::jac_chain_2_inverse_dynamics<double>(
      arg[0] ? arg[0] : robomorph::zeros,
      arg[1] ? arg[1] : robomorph::zeros,
      arg[2] ? arg[2] : robomorph::zeros,
      res[0] ? res[0] : w + 0,
      res[1] ? res[1] : w + 2,
      res[2] ? res[2] : w + 5);
  return 0;
}
CASADI_VISIBLE casadi_int jac_chain_2_inverse_dynamics_n_in(void) { return 4; }
CASADI_VISIBLE casadi_int jac_chain_2_inverse_dynamics_n_out(void) { return 3; }
CASADI_VISIBLE const char* jac_chain_2_inverse_dynamics_name_in(casadi_int i) {
  return i >= 0 && i < 4 ? jac_chain_2_inverse_dynamics_in[i].name : nullptr;
}
CASADI_VISIBLE const char* jac_chain_2_inverse_dynamics_name_out(casadi_int i) {
  return i >= 0 && i < 3 ? jac_chain_2_inverse_dynamics_out[i].name : nullptr;
}
CASADI_VISIBLE const casadi_int* jac_chain_2_inverse_dynamics_sparsity_in(casadi_int i) {
  return i >= 0 && i < 4 ? jac_chain_2_inverse_dynamics_in[i].pattern : nullptr;
}
CASADI_VISIBLE const casadi_int* jac_chain_2_inverse_dynamics_sparsity_out(casadi_int i) {
  return i >= 0 && i < 3 ? jac_chain_2_inverse_dynamics_out[i].pattern : nullptr;
}
CASADI_VISIBLE int jac_chain_2_inverse_dynamics_work(casadi_int* n_arg, casadi_int* n_res, casadi_int* n_iw, casadi_int* n_w) {
  robomorph::tell(n_arg, 4);
  robomorph::tell(n_res, 3);
  robomorph::tell(n_iw, 0);
  robomorph::tell(n_w, 7);
  return 0;
}


// Drives an exported controller by words from standard input, and counts what is taken from the heap.
//   set <setter> <numbers...>   calls a function that DRIVER_SETTERS names
//   gravity, reset, other <q> <qd>
//   step <q> <qd> <offset> <iterations> <elapsed>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <new>
#include <string>

static long taken = 0;

extern "C" void* __libc_malloc(std::size_t);
extern "C" void* malloc(std::size_t bytes) noexcept {
  ++taken;
  return __libc_malloc(bytes);
}

#include "arm/mpc/controller.hpp"

const arm::Plan& other_unit(arm::Controller& controller, const double* q, const double* qd);

namespace {

namespace problem = arm::problem;
alignas(64) unsigned char storage[sizeof(arm::Controller)];

void read(double* to, int count) {
  for (int k = 0; k < count; ++k) {
    std::string word;
    std::cin >> word;
    to[k] = std::strtod(word.c_str(), nullptr);
  }
}

void print(const double* numbers, int count) {
  for (int k = 0; k < count; ++k) std::printf("%.17g ", numbers[k]);
}

void show(const arm::Plan& p, long heap) {
  constexpr int steps = problem::horizon * problem::nv, states = problem::nodes * problem::nv;
  std::printf("plan %ld %d %d %d %d %d ", heap, p.iterations, static_cast<int>(p.code), p.converged, p.success,
              static_cast<int>(p.origin));
  print(&p.cost, 1);
  print(&p.soft_cost, 1);
  print(&p.violation, 1);
  print(p.tau, problem::nv);
  print(p.q[0], states);
  print(p.qd[0], states);
  print(p.qdd[0], steps);
  print(p.torques[0], steps);
  print(p.gains[0], 2 * problem::nv * problem::nv);
  std::printf("\n");
}

bool set(arm::Controller& c, const std::string& name) {
  double numbers[512];
  bool done = false;
#define SETTER(setter, count) \
  if (name == #setter) read(numbers, count), done = c.setter(numbers);
  DRIVER_SETTERS
  return done;
}

}  // namespace

int main() {
  const long before = taken;
  arm::Controller& controller = *new (storage) arm::Controller();
  std::printf("made %ld %d %zu\n", taken - before, controller.valid(), controller.used());
  for (std::string word; std::cin >> word;) {
    if (word == "reset") {
      controller.reset();
    } else if (word == "gravity") {
      controller.set_effort_to_gravity();
    } else if (word == "set") {
      std::cin >> word;
      std::printf("set %d\n", set(controller, word));
    } else if (word == "other") {  // from another translation unit, with the same headers
      double state[2 * problem::nv];
      read(state, 2 * problem::nv);
      show(other_unit(controller, state, state + problem::nv), 0);
    } else if (word == "step") {
      double state[2 * problem::nv], offset[problem::nv], rest[2];
      read(state, 2 * problem::nv), read(offset, problem::nv), read(rest, 2);
      arm::StepOptions options;
      options.offset = offset;
      options.iterations = static_cast<int>(rest[0]);
      options.elapsed = rest[1];
      const long now = taken;
      const arm::Plan& plan = controller.step(state, state + problem::nv, options);
      show(plan, taken - now);
    }
  }
  controller.~Controller();
  return 0;
}

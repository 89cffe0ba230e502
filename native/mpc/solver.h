// Solves many control problems at once: bundles of them, on the process's threads.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <vector>

#include "mpc/bundle.h"
#include "mpc/problem.h"

namespace robomorph::mpc {

struct StepOptions {
  double deadline = 0.0;  // s from now; infinite: none
  double elapsed = 0.0;   // s since the last step
  int iterations = 0;     // of a warm step; 0: to convergence
  bool warm = false;
  bool (*go_on)(void* context) = nullptr;  // asked now and then by the calling thread; false ends the step
  void* context = nullptr;
};

class Solver {
 public:
  // `problem`'s arrays, its kernels' code and their owner must outlive the solver. Takes all memory here.
  Solver(const Problem& problem, std::size_t threads);

  void step(const StepOptions& options);

 private:
  const Problem problem_;
  const std::size_t threads_;
  std::vector<std::unique_ptr<Bundle>> bundles_;
};

}  // namespace robomorph::mpc

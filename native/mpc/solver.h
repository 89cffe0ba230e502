// Solves many control problems at once: bundles of them, on the process's threads.
#pragma once

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
  bool (*go_on)(void* context) = nullptr;  // asked before iterations by the calling thread; false ends the step
  void* context = nullptr;
};

class Solver {
 public:
  // `problem`'s arrays, its kernels' code and their owner must outlive the solver. Takes all memory here.
  Solver(const Problem& problem, std::size_t threads);
  Solver(const Solver&) = delete;
  Solver& operator=(const Solver&) = delete;

  // Answers are the same to the bit for any number of threads, unless the deadline cuts them short.
  void step(const StepOptions& options);

 private:
  struct Job;
  static void work(void* job, std::size_t part, std::size_t parts);

  const Problem problem_;
  const std::size_t threads_;
  std::vector<std::unique_ptr<Bundle>> bundles_;
};

}  // namespace robomorph::mpc

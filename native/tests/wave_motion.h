// Motion problems of invented functions whose derivatives are known: sines of sums of joints for channels, and for
// torques a chain of unit masses (cosines of differences of angles times accelerations, sines times squared speeds).
#pragma once

#include <cstddef>

#include "planning/motion_data.h"

namespace robomorph::tests {

inline constexpr int kWaveJoints = 3, kWaveChannels = 4;

struct WaveSizes {
  int nodes = 5, points = 8;
  bool border = false, shared = false, sparse = false;
  double jerk = 1.0, energy = 0.0, time = 0.0;
};

// Random numbers, always the same for a seed.
planning::MotionData wave_motion(const WaveSizes& sizes, unsigned seed);
planning::MotionKernels wave_kernels();

// The functions themselves (channels, then torques), for one state.
void wave_functions(const double* q, const double* qd, const double* qdd, const double* references, double* out);

// Numbers in [-1, 1).
class WaveRandom {
 public:
  explicit WaveRandom(unsigned seed) : state_(seed * 2654435761u + 1u) {}
  double operator()() {
    state_ = state_ * 6364136223846793005ull + 1442695040888963407ull;
    return static_cast<double>(state_ >> 11) / 4503599627370496.0 - 1.0;
  }

 private:
  unsigned long long state_;
};

}  // namespace robomorph::tests

// Numbers in memory aligned to whole vectors, taken once.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <new>

namespace robomorph::mpc {

class Doubles {
 public:
  Doubles() = default;
  explicit Doubles(std::size_t size) : size_(size), data_(take(size)) { std::fill_n(data_.get(), size, 0.0); }

  double* data() { return data_.get(); }
  const double* data() const { return data_.get(); }
  std::size_t size() const { return size_; }
  void clear() { std::fill_n(data_.get(), size_, 0.0); }

 private:
  static constexpr std::align_val_t kAlignment{64};
  struct Free {
    void operator()(double* p) const { ::operator delete[](p, kAlignment); }
  };
  static double* take(std::size_t size) {
    return static_cast<double*>(::operator new[](std::max<std::size_t>(size, 1) * sizeof(double), kAlignment));
  }

  std::size_t size_ = 0;
  std::unique_ptr<double[], Free> data_;
};

}  // namespace robomorph::mpc

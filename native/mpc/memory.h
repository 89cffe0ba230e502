// Memory that is taken once, when a solver is made, aligned to whole vectors.
//
// All of native/mpc takes its memory here. An exported controller has another version of this file, which takes it from
// an array of the controller's own.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <new>
#include <vector>

namespace robomorph::mpc {

inline constexpr std::size_t kAlignment = 64;

// Bytes that this thread has ever taken: what a solver needs is the difference.
inline std::size_t& taken_bytes() {
  thread_local std::size_t bytes = 0;
  return bytes;
}

inline void* take_memory(std::size_t bytes) {
  const std::size_t whole = (std::max<std::size_t>(bytes, 1) + kAlignment - 1) / kAlignment * kAlignment;
  taken_bytes() += whole;
  return ::operator new(whole, std::align_val_t{kAlignment});
}

inline void give_back(void* memory) { ::operator delete(memory, std::align_val_t{kAlignment}); }

// Base of what is made with `new`.
struct Taken {
  static void* operator new(std::size_t bytes) { return take_memory(bytes); }
  static void operator delete(void* memory) { give_back(memory); }
};

// Of lists: the standard library's interface.
template <class T>
struct Taking {
  using value_type = T;
  Taking() = default;
  template <class U>
  Taking(const Taking<U>&) {}
  T* allocate(std::size_t count) { return static_cast<T*>(take_memory(count * sizeof(T))); }
  void deallocate(T* memory, std::size_t) { give_back(memory); }
  friend bool operator==(const Taking&, const Taking&) { return true; }
  friend bool operator!=(const Taking&, const Taking&) { return false; }
};

template <class T>
using List = std::vector<T, Taking<T>>;

class Doubles {
 public:
  Doubles() = default;
  explicit Doubles(std::size_t size)
      : size_(size), data_(static_cast<double*>(take_memory(size * sizeof(double)))) {
    clear();
  }

  double* data() { return data_.get(); }
  const double* data() const { return data_.get(); }
  std::size_t size() const { return size_; }
  void clear() { std::fill_n(data_.get(), size_, 0.0); }

 private:
  struct Free {
    void operator()(double* p) const { give_back(p); }
  };

  std::size_t size_ = 0;
  std::unique_ptr<double[], Free> data_;
};

}  // namespace robomorph::mpc

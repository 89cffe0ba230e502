// How often memory was taken: for what must not take any.
#pragma once

namespace robomorph::tests {

// Counts `operator new`, of all threads, from its making on.
class AllocationCount {
 public:
  AllocationCount();
  long taken() const;

 private:
  long before_;
};

}  // namespace robomorph::tests

"""The CPU target: LLVM in process, SIMD lanes across the batch."""

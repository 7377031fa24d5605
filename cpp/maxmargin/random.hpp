// xorshift64* (Marsaglia 2003, Vigna 2016), seeded through one round of splitmix64 so that small seeds differ widely.
// A value: copying it copies the stream.
#pragma once

#include <cstdint>

#ifndef MAXMARGIN_ISA
#define MAXMARGIN_ISA base
#endif

namespace maxmargin {

struct Random {
  std::uint64_t state;

  explicit Random(std::uint64_t seed = 0) {
    std::uint64_t z = seed + 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    state = (z ^ (z >> 31)) | 1u;
  }
};

namespace MAXMARGIN_ISA {

// Uniform on {0, ..., bound - 1} for bound <= 2^32 (Lemire 2019: the high half of a product; bias below bound / 2^32), by
// a remainder beyond.
inline std::int64_t below(Random& random, std::int64_t bound) {
  std::uint64_t& x = random.state;
  x ^= x >> 12;
  x ^= x << 25;
  x ^= x >> 27;
  const std::uint64_t value = x * 0x2545F4914F6CDD1Du;
  const std::uint64_t range = std::uint64_t(bound);
  return std::int64_t(range <= 0xFFFFFFFFu ? ((value >> 32) * range) >> 32 : value % range);
}

}  // namespace MAXMARGIN_ISA
}  // namespace maxmargin

// The state of pair ascent on one working set. It is shared by every instruction set.
#pragma once

#include <cstdint>

namespace maxmargin {

struct PairState {
  const double* K = nullptr;    // m x m inner products of the working set
  const double* low = nullptr;  // the box of each a_i
  const double* high = nullptr;
  double* a = nullptr;        // the signed dual point
  double* g = nullptr;        // y - K a / s
  double* scratch = nullptr;  // 4 m doubles
  std::int64_t m = 0;
  double strength = 1;     // s
  double tolerance = 0;    // stop when no pair violates by more
  std::int64_t steps = 0;  // taken by the last call
  double violation = 0;    // max g over up - min g over down when it stopped
};

}  // namespace maxmargin

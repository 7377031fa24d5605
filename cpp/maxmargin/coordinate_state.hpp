// The state of one coordinate descent between bursts, shared by every instruction set.
#pragma once

#include <cstdint>

namespace maxmargin {

struct CoordinateState {
  // The caller's arrays, n or d long.
  const double* weight = nullptr;  // h_i >= 0: curvature of row i
  double* slope = nullptr;         // q_i: slope of row i, but for the intercept's share shift * h_i
  double* w = nullptr;
  double* curvature = nullptr;          // L_j
  double* mean = nullptr;               // x_j'h / pull of the column, what the intercept takes out of it
  const std::int64_t* order = nullptr;  // the working set
  std::int64_t size = 0;

  double l1 = 0, l2 = 0, low = 0, high = 0;  // psi_j(w) = l1 |w| + l2 w^2 / 2 on [low, high]
  double pull = 0;                           // sum_i h_i + s_b: curvature of the intercept; 0: there is none
  double shift = 0;                          // how far the intercept was lowered

  std::int64_t epochs = 0;
  std::int64_t visits = 0;
  double violation = 0;  // max_j (L_j + l2) |step_j| of the last epoch
};

}  // namespace maxmargin

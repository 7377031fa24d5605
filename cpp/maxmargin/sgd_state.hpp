// The state of stochastic sub-gradient descent between bursts, shared by every instruction set.
#pragma once

#include <cstdint>

#include "maxmargin/dual_state.hpp"
#include "maxmargin/random.hpp"

namespace maxmargin {

struct SgdState {
  // The caller's arrays, n or d long.
  const double* y = nullptr;      // labels in {-1, +1}
  const double* pull = nullptr;   // N c_i / s: the weight of one row that stands for all N
  double* v = nullptr;            // w = scale v
  double* q = nullptr;            // the sum of t w_t is total v - q
  std::int64_t* order = nullptr;  // the rows with cost, permuted
  double* z = nullptr;            // of a batch: minus the slope of each row, weighted
  std::int64_t* rows = nullptr;   // of a batch: the rows

  std::int64_t n = 0;      // entries of order
  std::int64_t batch = 1;  // rows per step
  MarginLoss loss = MarginLoss::hinge;
  bool shuffled = true;         // epochs over a permutation; else independent picks
  double first = 1, decay = 1;  // gamma_t = first / (1 + first t / decay)
  double intercept_shrink = 0;  // 1: b is penalised like w; 0: it is not
  double intercept_pull = 0;    // 0: no intercept; else the square of the constant feature's size
  Random random{0};

  std::int64_t position = 0;
  std::int64_t steps = 0;
  std::int64_t epochs = 0;
  double scale = 1;
  double total = 0;   // sum_t t scale_t, in units of v
  double weight = 0;  // sum_t t
  double b = 0;
  double b_total = 0;  // sum_t t b_t
};

}  // namespace maxmargin

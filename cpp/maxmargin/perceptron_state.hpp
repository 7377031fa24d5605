// The state of a perceptron between bursts, shared by every instruction set.
#pragma once

#include <cstdint>

#include "maxmargin/random.hpp"

namespace maxmargin {

struct PerceptronState {
  // The caller's arrays, n or d long.
  const double* y = nullptr;      // labels in {-1, +1}
  const double* rate = nullptr;   // 1, or 1 / |(x_i, 1)| for normalised updates
  double* w = nullptr;            // sum of rate_i y_i x_i over the mistakes
  double* late = nullptr;         // the same sum, each term times the visits before it
  std::int64_t* order = nullptr;  // the rows that are visited

  std::int64_t n = 0;  // entries of order
  bool shuffled = false;
  double margin = 0;    // a mistake is rate y z <= margin
  double constant = 0;  // 1: the intercept is the weight of a constant feature; 0: there is none
  Random random{0};

  double b = 0, b_late = 0;
  std::int64_t position = 0;
  std::int64_t epoch_mistakes = 0;
  std::int64_t mistakes = 0;
  std::int64_t visits = 0;
  std::int64_t epochs = 0;
  bool separated = false;
};

}  // namespace maxmargin

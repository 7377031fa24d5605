// The state of one dual ascent between bursts. It lives as long as one solve and is shared by every instruction set.
#pragma once

#include <cstdint>

#include "maxmargin/random.hpp"

namespace maxmargin {

enum class MarginLoss { hinge, squared_hinge };

struct DualState {
  // The caller's arrays, n or d long.
  const double* y = nullptr;        // labels in {-1, +1}
  const double* cost = nullptr;     // c_i >= 0
  const double* norm_sq = nullptr;  // |x_i|^2
  double* a = nullptr;              // signed dual point
  double* w = nullptr;              // X'a / strength
  std::int64_t* order = nullptr;    // a permutation; the first `active` entries are visited
  double* residual = nullptr;       // the Fenchel-Young residual of each row when it was last visited
  std::int64_t* due = nullptr;      // the epoch from which on a row is visited again
  std::uint8_t* pause = nullptr;    // for how many epochs it was last left alone

  std::int64_t n = 0;
  MarginLoss loss = MarginLoss::hinge;
  double strength = 1;            // s in s |w|^2 / 2
  double intercept = 0;           // b
  double intercept_strength = 0;  // s_b in s_b b^2 / 2
  double rho = 0;                 // weight of the proximal term (b - centre)^2 / (2 rho); 0: no intercept
  bool shrink = true;
  bool rest = true;  // worth it where a visit costs much more than a look at `due`
  double sum_a = 0;
  double dual = 0;  // sum_i -c_i phi*(y_i, -a_i / c_i) - s |w|^2 / 2
  Random random{0};

  // Position inside the epoch.
  std::int64_t active = 0;
  std::int64_t position = 0;
  double old_highest = 0, old_lowest = 0;  // bounds of the projected gradient in the last epoch: the shrinking test
  double highest = 0, lowest = 0;          // and in this one
  double running_gap = 0;

  // What the last finished epoch says.
  std::int64_t epochs = 0;
  std::int64_t visits = 0;  // stored values touched
  double gap = 0;           // sum of Fenchel-Young residuals met on the way: an estimate, not a certificate
  double violation = 0;     // highest - lowest
};

}  // namespace maxmargin

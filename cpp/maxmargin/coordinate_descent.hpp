// min_w  sum_i (q_i t_i + h_i t_i^2 / 2) + sum_j psi_j(w_j),  t = X (w - w0) + (b - b0),  one w_j at a time.
// psi_j(w) = l1 |w| + l2 w^2 / 2 on [low, high].   (Friedman, Hastie and Tibshirani 2010)
//
// The rows of `columns` are the columns x_j of X. Invariant, before and after every step: q_i - shift h_i is the slope of
// row i, and b is the best one for w. A change of w_j by t moves the best b by -t mean_j, mean_j = x_j'h / (sum h + s_b), so
// that
//   slope of w_j      x_j'q - shift x_j'h
//   curvature of w_j  L_j = x_j'H x_j - mean_j x_j'h.
#pragma once

#include <cstdint>

#include "maxmargin/coordinate_state.hpp"
#include "maxmargin/rows.hpp"

namespace maxmargin::MAXMARGIN_ISA {

constexpr double cancelled = 1e-14;  // a curvature this small beside x_j'H x_j is rounding: a constant column

template <class Rows>
void measure(const Rows& columns, CoordinateState& s) {
  for (std::int64_t k = 0; k < s.size; ++k) {
    const std::int64_t j = s.order[k];
    const double total = s.pull > 0 ? columns.dot(j, s.weight) : 0;
    const double square = columns.weighted_norm_sq(j, s.weight);
    s.mean[j] = s.pull > 0 ? total / s.pull : 0;
    const double left = square - s.mean[j] * total;
    s.curvature[j] = left > cancelled * square ? left : 0;
  }
}

// The minimiser of  g (x - w) + L (x - w)^2 / 2 + psi_j(x);  w itself where nothing tells.
inline double best_weight(const CoordinateState& s, double w, double g, double L) {
  const double bend = L + s.l2;
  if (L <= 0) g = 0;  // a column without curvature has no slope but rounding
  if (bend <= 0) return s.l1 > 0 ? 0 : w;
  const double pulled = L * w - g;
  const double shrunk = pulled > s.l1 ? pulled - s.l1 : pulled < -s.l1 ? pulled + s.l1 : 0;
  const double x = shrunk / bend;
  return x < s.low ? s.low : x > s.high ? s.high : x;
}

// Ends when no step of an epoch exceeded `goal`, or when `epochs` more epochs or `work` stored values are done.
template <class Rows>
void descend_columns(const Rows& columns, CoordinateState& s, double goal, std::int64_t epochs, std::int64_t work) {
  const std::int64_t last_epoch = s.epochs + epochs, last_visit = s.visits + work;
  do {
    s.violation = 0;
    for (std::int64_t k = 0; k < s.size; ++k) {
      const std::int64_t j = s.order[k];
      if (k + 1 < s.size) columns.prefetch(s.order[k + 1]);
      const double L = s.curvature[j];
      const double g = columns.dot(j, s.slope) - s.shift * s.mean[j] * s.pull;
      const double best = best_weight(s, s.w[j], g, L), step = best - s.w[j];
      s.visits += columns.size(j) + 1;
      if (step == 0) continue;
      const double size = (step < 0 ? -step : step) * (L + s.l2);
      if (size > s.violation) s.violation = size;
      s.w[j] = best;  // and not w + step, which may round across a bound
      s.shift += step * s.mean[j];
      columns.add_weighted(j, step, s.weight, s.slope);
    }
    s.epochs += 1;
  } while (s.violation > goal && s.epochs < last_epoch && s.visits < last_visit);
}

}  // namespace maxmargin::MAXMARGIN_ISA

// min_w  |w|^2 / 2 + sum_i (c_i / s) phi(y_i, x_i'w + b)  by stochastic sub-gradient steps.   (Zhang 2004; Pegasos 2007)
//
//   w <- (1 - gamma_t) w - gamma_t (N / B) sum_{i in batch} (c_i / s) phi'(y_i, z_i) x_i,   gamma_t = g0 / (1 + g0 t /
//   decay)
//
// Shrinking w costs nothing: w = scale v. Neither does the average with weights t = 1, 2, ...: with T_t = sum_{k <= t} k
// scale_k and dv_t the change of v in step t,
//
//   sum_t t w_t = sum_t t scale_t v_t = T v - q,   q = sum_t T_{t-1} dv_t,
//
// and q changes only where v does. A call ends with v = w and q = -sum_t t w_t.
#pragma once

#include <cstdint>

#include "maxmargin/random.hpp"
#include "maxmargin/rows.hpp"
#include "maxmargin/sgd_state.hpp"

namespace maxmargin::MAXMARGIN_ISA {

// Closes the books: v = w, and the whole sum stands in -q. Done before the scale is so small that T v - q cancels digits.
inline void fold(SgdState& s, std::int64_t d) {
  for (std::int64_t j = 0; j < d; ++j) {
    s.q[j] -= s.total * s.v[j];
    s.v[j] *= s.scale;
  }
  s.total = 0;
  s.scale = 1;
}

inline double minus_slope(MarginLoss loss, double y, double z) {
  const double h = 1 - y * z;
  if (loss == MarginLoss::hinge) return h > 0 ? y : h == 0 ? 0.5 * y : 0;
  return h > 0 ? 2 * y * h : 0;
}

inline std::int64_t pick(SgdState& s) {
  if (!s.shuffled) return s.order[below(s.random, s.n)];
  if (s.position == 0)
    for (std::int64_t i = s.n - 1; i > 0; --i) {
      const std::int64_t j = below(s.random, i + 1);
      const std::int64_t swapped = s.order[i];
      s.order[i] = s.order[j];
      s.order[j] = swapped;
    }
  return s.order[s.position];
}

template <class Rows>
void descend(const Rows& rows, SgdState& s, std::int64_t epochs) {
  const std::int64_t last = s.epochs + epochs;
  while (s.epochs < last) {
    const std::int64_t left = s.n - s.position, size = s.batch < left ? s.batch : left;
    for (std::int64_t k = 0; k < size; ++k) {
      const std::int64_t i = s.rows[k] = pick(s);
      s.position += 1;
      s.z[k] = minus_slope(s.loss, s.y[i], s.scale * rows.dot(i, s.v) + s.b) * s.pull[i] / double(size);
    }
    const double gamma = s.first / (1 + s.first * double(s.steps) / s.decay);
    s.scale *= 1 - gamma;
    s.b *= 1 - gamma * s.intercept_shrink;
    if (s.scale < 1e-3) fold(s, rows.d);
    for (std::int64_t k = 0; k < size; ++k) {
      if (s.z[k] == 0) continue;
      const double t = gamma * s.z[k] / s.scale;
      rows.add(s.rows[k], t, s.v);
      rows.add(s.rows[k], t * s.total, s.q);
      s.b += gamma * s.intercept_pull * s.z[k];
    }
    s.steps += 1;
    s.total += double(s.steps) * s.scale;
    s.weight += double(s.steps);
    s.b_total += double(s.steps) * s.b;
    if (s.position >= s.n) {
      s.position = 0;
      s.epochs += 1;
    }
  }
  fold(s, rows.d);
}

}  // namespace maxmargin::MAXMARGIN_ISA

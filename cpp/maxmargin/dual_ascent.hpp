// max_a  -sum_i c_i phi*(y_i, -a_i / c_i) - |X'a|^2 / (2s) - intercept term,  one a_i at a time.   (Hsieh et al. 2008)
//
// Invariants, before and after every step:  w = X'a / s,  b = (centre + rho sum_i a_i) / (1 + rho s_b).
//
// With alpha = y a >= 0 both losses are one quadratic in alpha:
//   hinge          alpha in [0, c],    slope  y z - 1
//   squared hinge  alpha in [0, inf),  slope  y z - 1 + alpha / (2c)
//
// Intercept. Its part of the primal is s_b b^2 / 2 (free: s_b = 0). A proximal term (b - centre)^2 / (2 rho) makes it one
// more weight, of a constant feature whose size rho sets, and the centre moves to b after each epoch (the method of
// multipliers). At the fixed point s_b b = sum a, whatever rho is; a small rho keeps the rows from pulling at b against each
// other.
#pragma once

#include <cstdint>

#include "maxmargin/dual_state.hpp"
#include "maxmargin/random.hpp"
#include "maxmargin/rows.hpp"

namespace maxmargin::MAXMARGIN_ISA {

constexpr double infinity = __builtin_huge_val();
constexpr std::uint8_t longest_pause = 16;  // epochs

struct HingeBox {
  static double upper(double c) { return c; }
  static double curvature(double) { return 0; }
  // c max(0, -g) + alpha g,  g = y z - 1
  static double residual(double c, double alpha, double g) { return (g < 0 ? -c * g : 0) + alpha * g; }
};

struct SquaredHingeBox {
  static double upper(double) { return infinity; }
  static double curvature(double c) { return 0.5 / c; }
  // c max(0, -g)^2 + alpha g + alpha^2 / (4c)
  static double residual(double c, double alpha, double g) {
    return (g < 0 ? c * g * g : 0) + alpha * (g + 0.25 * alpha / c);
  }
};

inline void shuffle(DualState& s) {
  for (std::int64_t i = s.active - 1; i > 0; --i) {
    const std::int64_t j = below(s.random, i + 1);
    const std::int64_t swapped = s.order[i];
    s.order[i] = s.order[j];
    s.order[j] = swapped;
  }
}

// Every row is looked at again.
inline void widen(DualState& s) {
  s.active = s.n;
  s.position = 0;
  s.old_highest = infinity;
  s.old_lowest = -infinity;
  for (std::int64_t k = 0; k < s.n; ++k) s.due[s.order[k]] = s.pause[s.order[k]] = 0;
}

// The end of an epoch: report, tighten the shrinking test, move the centre.
inline void close_epoch(DualState& s) {
  s.epochs += 1;
  s.gap = s.running_gap;
  s.violation = s.active == 0 ? 0 : s.highest - s.lowest;
  s.old_highest = s.highest > 0 ? s.highest : infinity;
  s.old_lowest = s.lowest < 0 ? s.lowest : -infinity;
  s.intercept = (s.intercept + s.rho * s.sum_a) / (1 + s.rho * s.intercept_strength);
  s.position = 0;
}

// Leaves rows alone that have little to give. A row at a bound that is pushed outwards rests for 1, 2, 4, ... epochs, and up
// to as many again so that they do not all come back together, as long as each look finds it so; a row whose violation is
// small beside the largest of the last epoch rests for one or two.
inline void rest(DualState& s, std::int64_t i, double slope, double projected) {
  if (projected == 0 && slope != 0) {
    s.pause[i] = s.pause[i] == 0 ? 1 : s.pause[i] < longest_pause ? 2 * s.pause[i] : longest_pause;
    s.due[i] = s.epochs + 1 + s.pause[i] + below(s.random, 1 + s.pause[i]);
    return;
  }
  s.pause[i] = 0;
  const double largest = s.old_highest > -s.old_lowest ? s.old_highest : -s.old_lowest;
  const double size = projected < 0 ? -projected : projected;
  s.due[i] = s.epochs + (largest == infinity || size >= 0.1 * largest ? 1 : size >= 0.02 * largest ? 2 : 3);
}

// Visits rows until `work` stored values were touched or `epochs` epochs were finished.
// A row at a bound whose slope points outwards by more than any violation of the last epoch leaves the active set.
template <class Box, class Rows>
void ascend(const Rows& rows, DualState& s, std::int64_t epochs, std::int64_t work) {
  const std::int64_t last_epoch = s.epochs + epochs;
  const std::int64_t last_visit = s.visits + work;
  const double per_strength = 1 / s.strength;
  const double pull = s.rho / (1 + s.rho * s.intercept_strength);  // db / da
  while (s.epochs < last_epoch && s.visits < last_visit) {
    if (s.position == 0) {
      shuffle(s);
      s.highest = -infinity;
      s.lowest = infinity;
    }
    while (s.position < s.active && s.visits < last_visit) {
      if (s.position + 2 < s.active) rows.prefetch(s.order[s.position + 2]);
      const std::int64_t i = s.order[s.position];
      if (s.due[i] > s.epochs) {
        s.position += 1;
        continue;
      }
      const double y = s.y[i], c = s.cost[i], alpha = y * s.a[i];
      const double upper = Box::upper(c), curvature = Box::curvature(c);
      const double score = rows.dot(i, s.w);
      const double g = y * (score + s.intercept) - 1;
      const double slope = g + curvature * alpha;
      s.visits += rows.size(i) + 1;
      const double residual = Box::residual(c, alpha, g);
      s.running_gap += residual - s.residual[i];
      s.residual[i] = residual;

      const bool leaves = (alpha <= 0 && slope > s.old_highest) || (alpha >= upper && slope < s.old_lowest);
      if (leaves && s.shrink) {
        s.active -= 1;
        s.order[s.position] = s.order[s.active];
        s.order[s.active] = i;
        continue;
      }
      double projected = slope;
      if (alpha <= 0 && slope > 0) projected = 0;
      if (alpha >= upper && slope < 0) projected = 0;
      if (s.rest) rest(s, i, slope, projected);
      if (projected > s.highest) s.highest = projected;
      if (projected < s.lowest) s.lowest = projected;

      if (projected != 0) {
        const double hessian = s.norm_sq[i] * per_strength + pull + curvature;
        double moved = hessian > 0 ? alpha - slope / hessian : upper;  // a zero row without curvature: straight to its bound
        moved = moved < 0 ? 0 : moved > upper ? upper : moved;
        const double step = y * (moved - alpha);
        if (step != 0) {
          s.a[i] = y * moved;
          s.dual += (moved - alpha) * (1 - 0.5 * curvature * (moved + alpha)) -
                    step * (score + 0.5 * step * s.norm_sq[i] * per_strength);
          rows.add(i, step * per_strength, s.w);
          s.sum_a += step;
          s.intercept += pull * step;
        }
      }
      s.position += 1;
    }
    if (s.position >= s.active) close_epoch(s);
  }
}

}  // namespace maxmargin::MAXMARGIN_ISA

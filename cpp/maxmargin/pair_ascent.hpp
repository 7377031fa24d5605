// max_a  y'a - a'K a / (2s),  low_i <= a_i <= high_i,  sum_i a_i = 0,  two at a time.   (SMO: Platt 1998)
//
// Invariants, before and after every step:  sum a is what it was,  g = y - K a / s.
//
// A step raises a_i by t and lowers a_j by t. It gains (g_i - g_j) t - eta t^2 / 2 with eta = (K_ii + K_jj - 2 K_ij) / s. i
// is the row of the largest g that may go up, j the row that may go down and gains most (Fan, Chen and Lin 2005, JMLR 6). No
// pair gains, and a is optimal, when max g over up <= min g over down; any b between the two is an optimal intercept.
#pragma once

#include <cstdint>
#include <limits>

#include "maxmargin/pair_state.hpp"
#include "maxmargin/rows.hpp"

namespace maxmargin::MAXMARGIN_ISA {

// Where rows coincide eta is 0, where K is indefinite it may be negative: the step then goes to the wall.
constexpr double flat = 1e-12;

inline void ascend_pairs(PairState& state, std::int64_t most) {
  constexpr double inf = std::numeric_limits<double>::infinity();
  const std::int64_t m = state.m;
  const double* const K = state.K;
  double* const g = state.g;
  double* const up = state.scratch;        // 0 where a_i may rise, else -inf
  double* const down = state.scratch + m;  // 0 where a_i may fall, else +inf
  double* const gain = state.scratch + 2 * m;
  double* const diagonal = state.scratch + 3 * m;
  double largest = 0;
  for (std::int64_t k = 0; k < m; ++k) {
    up[k] = state.a[k] < state.high[k] ? 0 : -inf;
    down[k] = state.a[k] > state.low[k] ? 0 : inf;
    diagonal[k] = K[k * m + k];
    const double size = diagonal[k] < 0 ? -diagonal[k] : diagonal[k];
    largest = size > largest ? size : largest;
  }
  const double per_s = 1 / state.strength;
  const double least = flat * (largest > 0 ? largest * per_s : 1);
  double best = -inf;
  for (std::int64_t k = 0; k < m; ++k) best = g[k] + up[k] > best ? g[k] + up[k] : best;
  state.steps = 0;
  while (true) {
    std::int64_t i = 0;
    while (i < m && !(g[i] + up[i] == best)) ++i;
    double lowest = inf, most_gain = 0;
    if (i < m) {
      const double* const row = K + i * m;
      const double own = row[i], g_i = g[i];
#pragma omp simd reduction(min : lowest) reduction(max : most_gain)
      for (std::int64_t k = 0; k < m; ++k) {
        const double at = g[k] + down[k], difference = g_i - at;
        const double eta = (own + diagonal[k] - 2 * row[k]) * per_s;
        const double slope = difference > 0 ? difference : 0;  // 0 where a_k may not fall: there the difference is -inf
        const double won = slope * slope / (eta > least ? eta : least);
        gain[k] = won;
        lowest = at < lowest ? at : lowest;
        most_gain = won > most_gain ? won : most_gain;
      }
    }
    state.violation = i < m && lowest < inf ? best - lowest : 0;
    if (!(state.violation > state.tolerance) || !(most_gain > 0) || state.steps >= most) return;
    std::int64_t j = 0;
    while (gain[j] != most_gain) ++j;

    const double* const row_i = K + i * m;
    const double* const row_j = K + j * m;
    const double eta = (row_i[i] + row_j[j] - 2 * row_i[j]) * per_s;
    const double rise = state.high[i] - state.a[i], fall = state.a[j] - state.low[j];
    const double inside = (g[i] - g[j]) / (eta > least ? eta : least);
    const double t = inside < rise ? (inside < fall ? inside : fall) : (rise < fall ? rise : fall);
    state.a[i] = t == rise ? state.high[i] : state.a[i] + t;
    state.a[j] = t == fall ? state.low[j] : state.a[j] - t;
    up[i] = state.a[i] < state.high[i] ? 0 : -inf;
    up[j] = 0;
    down[i] = 0;
    down[j] = state.a[j] > state.low[j] ? 0 : inf;
    const double step = t * per_s;
    best = -inf;
#pragma omp simd reduction(max : best)
    for (std::int64_t k = 0; k < m; ++k) {
      g[k] -= step * (row_i[k] - row_j[k]);
      const double at = g[k] + up[k];
      best = at > best ? at : best;
    }
    state.steps += 1;
  }
}

// g_k -= sum_p t_p values[slot_p][column_k], the sum in double; columns null: column_k = k. Cut by k into `threads` fixed
// pieces, so that the same thread count gives the same bits.
template <class Value>
void subtract_rows(const Value* values, std::int64_t stride, const std::int64_t* slot, const double* t, std::int64_t count,
                   const std::int64_t* columns, double* g, std::int64_t n, int threads) {
  constexpr std::int64_t width = 512;  // sums of a tile stay in the first cache
  const std::int64_t tiles = (n + width - 1) / width;
#pragma omp parallel for num_threads(threads) if (threads > 1) schedule(static)
  for (std::int64_t tile = 0; tile < tiles; ++tile) {
    const std::int64_t first = tile * width, size = n - first < width ? n - first : width;
    double sum[width] = {};
    for (std::int64_t p = 0; p < count; ++p) {
      const Value* row = values + slot[p] * stride;
      const double by = t[p];
      if (columns == nullptr) {
        row += first;
#pragma omp simd
        for (std::int64_t k = 0; k < size; ++k) sum[k] += by * double(row[k]);
      } else {
        const std::int64_t* at = columns + first;
#pragma omp simd
        for (std::int64_t k = 0; k < size; ++k) sum[k] += by * double(row[at[k]]);
      }
    }
    for (std::int64_t k = 0; k < size; ++k) g[first + k] -= sum[k];
  }
}

}  // namespace maxmargin::MAXMARGIN_ISA

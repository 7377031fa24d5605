// Find (w, b) with y_i (x_i'w + b) > 0 for all i, by correcting mistakes.   (Rosenblatt 1958; Novikoff 1962)
//
//   where rate_i y_i (x_i'w + b) <= margin:   w += rate_i y_i x_i,   b += rate_i y_i
//
// Invariant: (w, b) is the sum of the corrections. The average over all visits so far (Freund and Schapire 1999) is
// w - late / visits: a correction made at visit t is missing from the t - 1 visits before it.
#pragma once

#include <cstdint>

#include "maxmargin/perceptron_state.hpp"
#include "maxmargin/random.hpp"
#include "maxmargin/rows.hpp"

namespace maxmargin::MAXMARGIN_ISA {

// Ends at the first epoch without a mistake, or when `visits` more rows or `epochs` more epochs are done.
template <class Rows>
void correct(const Rows& rows, PerceptronState& s, std::int64_t epochs, std::int64_t visits) {
  const std::int64_t last_epoch = s.epochs + epochs, last_visit = s.visits + visits;
  while (s.epochs < last_epoch && s.visits < last_visit && !s.separated) {
    if (s.position == 0) {
      s.epoch_mistakes = 0;
      for (std::int64_t i = s.shuffled ? s.n - 1 : 0; i > 0; --i) {
        const std::int64_t j = below(s.random, i + 1);
        const std::int64_t swapped = s.order[i];
        s.order[i] = s.order[j];
        s.order[j] = swapped;
      }
    }
    const std::int64_t i = s.order[s.position];
    if (s.position + 1 < s.n) rows.prefetch(s.order[s.position + 1]);
    const double step = s.rate[i] * s.y[i];
    if (step * (rows.dot(i, s.w) + s.b) <= s.margin) {
      const double missed = step * double(s.visits);
      rows.add(i, step, s.w);
      rows.add(i, missed, s.late);
      s.b += s.constant * step;
      s.b_late += s.constant * missed;
      s.epoch_mistakes += 1;
      s.mistakes += 1;
    }
    s.visits += 1;
    s.position += 1;
    if (s.position == s.n) {
      s.position = 0;
      s.epochs += 1;
      s.separated = s.epoch_mistakes == 0;
    }
  }
}

}  // namespace maxmargin::MAXMARGIN_ISA

// z = X w + b,  u = X' a,  |x_i|^2, each also with absolute values for error bounds.
// Work is cut by rows into `threads` fixed pieces: the same thread count gives the same bits.
#pragma once

#include "maxmargin/rows.hpp"

namespace maxmargin::MAXMARGIN_ISA {

inline std::int64_t piece(std::int64_t n, int threads, int t) { return n * t / threads; }

template <class Of, class Rows>
void scores(const Rows& rows, const double* w, double b, double* z, int threads) {
#pragma omp parallel for num_threads(threads) if (threads > 1) schedule(static)
  for (std::int64_t i = 0; i < rows.n; ++i) z[i] = rows.template dot<Of>(i, w) + Of::of(b);
}

template <class Rows>
void norms_sq(const Rows& rows, double* out, int threads) {
#pragma omp parallel for num_threads(threads) if (threads > 1) schedule(static)
  for (std::int64_t i = 0; i < rows.n; ++i) out[i] = rows.norm_sq(i);
}

// Rows scatter into columns, so each thread has its own copy of u: `scratch` holds (threads - 1) d zeros.
// The copies are added in the order of the threads.
template <class Of, class Rows>
void combine(const Rows& rows, const double* a, double* u, double* scratch, int threads) {
  const std::int64_t d = rows.d;
#pragma omp parallel for num_threads(threads) if (threads > 1) schedule(static, 1)
  for (int t = 0; t < threads; ++t) {
    double* own = t == 0 ? u : scratch + (t - 1) * d;
    for (std::int64_t i = piece(rows.n, threads, t); i < piece(rows.n, threads, t + 1); ++i)
      if (a[i] != 0) rows.template add<Of>(i, Of::of(a[i]), own);
  }
  for (int t = 1; t < threads; ++t)
    for (std::int64_t j = 0; j < d; ++j) u[j] += scratch[(t - 1) * d + j];
}

}  // namespace maxmargin::MAXMARGIN_ISA

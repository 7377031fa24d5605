// Rows of X as a template over storage, value and index type. Six verbs: dot, add, norm_sq, prefetch,
// and with a weight h per column weighted_norm_sq and add_weighted.
// Every product accumulates in double.
//
// MAXMARGIN_ISA names the namespace, so that one source compiled for several instruction sets gives distinct symbols
// and the linker can never mix them.
#pragma once

#include <cstdint>

#include "maxmargin/view.hpp"

#ifndef MAXMARGIN_ISA
#define MAXMARGIN_ISA base
#endif

namespace maxmargin::MAXMARGIN_ISA {

struct Identity {
  static double of(double v) { return v; }
};

// For error bounds: |x|'|w| in place of x'w.
struct Magnitude {
  static double of(double v) { return v < 0 ? -v : v; }
};

template <class Value>
struct DenseRows {
  const Value* x;
  std::int64_t n, d, stride;

  explicit DenseRows(const RowsView& v) : x(static_cast<const Value*>(v.values)), n(v.n), d(v.d), stride(v.stride) {}

  std::int64_t size(std::int64_t) const { return d; }

  // Four streams hide the latency of the fused multiply-add.
  template <class Of = Identity>
  double dot(std::int64_t i, const double* w) const {
    const Value* row = x + i * stride;
    const std::int64_t q = d / 4;
    double s0 = 0, s1 = 0, s2 = 0, s3 = 0;
#pragma omp simd reduction(+ : s0, s1, s2, s3)
    for (std::int64_t j = 0; j < q; ++j) {
      s0 += Of::of(double(row[j])) * Of::of(w[j]);
      s1 += Of::of(double(row[j + q])) * Of::of(w[j + q]);
      s2 += Of::of(double(row[j + 2 * q])) * Of::of(w[j + 2 * q]);
      s3 += Of::of(double(row[j + 3 * q])) * Of::of(w[j + 3 * q]);
    }
    for (std::int64_t j = 4 * q; j < d; ++j) s0 += Of::of(double(row[j])) * Of::of(w[j]);
    return (s0 + s1) + (s2 + s3);
  }

  template <class Of = Identity>
  void add(std::int64_t i, double t, double* w) const {
    const Value* row = x + i * stride;
#pragma omp simd
    for (std::int64_t j = 0; j < d; ++j) w[j] += t * Of::of(double(row[j]));
  }

  double norm_sq(std::int64_t i) const {
    const Value* row = x + i * stride;
    double s = 0;
#pragma omp simd reduction(+ : s)
    for (std::int64_t j = 0; j < d; ++j) s += double(row[j]) * double(row[j]);
    return s;
  }

  double weighted_norm_sq(std::int64_t i, const double* h) const {
    const Value* row = x + i * stride;
    double s = 0;
#pragma omp simd reduction(+ : s)
    for (std::int64_t j = 0; j < d; ++j) s += h[j] * double(row[j]) * double(row[j]);
    return s;
  }

  void add_weighted(std::int64_t i, double t, const double* h, double* w) const {
    const Value* row = x + i * stride;
#pragma omp simd
    for (std::int64_t j = 0; j < d; ++j) w[j] += t * h[j] * double(row[j]);
  }

  void prefetch(std::int64_t i) const {
    const char* row = reinterpret_cast<const char*>(x + i * stride);
    const std::int64_t bytes = d * std::int64_t(sizeof(Value));
    for (std::int64_t at = 0; at < bytes && at < 512; at += 64) __builtin_prefetch(row + at);
  }
};

template <class Value, class Index>
struct SparseRows {
  const Value* x;
  const Index* column;
  const Index* start;
  std::int64_t n, d;

  explicit SparseRows(const RowsView& v)
      : x(static_cast<const Value*>(v.values)),
        column(static_cast<const Index*>(v.indices)),
        start(static_cast<const Index*>(v.indptr)),
        n(v.n),
        d(v.d) {}

  std::int64_t size(std::int64_t i) const { return std::int64_t(start[i + 1]) - std::int64_t(start[i]); }

  template <class Of = Identity>
  double dot(std::int64_t i, const double* w) const {
    const Value* value = x + start[i];
    const Index* at = column + start[i];
    const std::int64_t stored = size(i);
    double s = 0;
#pragma omp simd reduction(+ : s)
    for (std::int64_t p = 0; p < stored; ++p) s += Of::of(double(value[p])) * Of::of(w[at[p]]);
    return s;
  }

  // Columns of a row are distinct, so four weights can be read before one is written. Scatter instructions are slower.
  template <class Of = Identity>
  void add(std::int64_t i, double t, double* w) const {
    const Value* value = x + start[i];
    const Index* at = column + start[i];
    const std::int64_t stored = size(i);
    std::int64_t p = 0;
    for (; p + 4 <= stored; p += 4) {
      const double w0 = w[at[p]] + t * Of::of(double(value[p]));
      const double w1 = w[at[p + 1]] + t * Of::of(double(value[p + 1]));
      const double w2 = w[at[p + 2]] + t * Of::of(double(value[p + 2]));
      const double w3 = w[at[p + 3]] + t * Of::of(double(value[p + 3]));
      w[at[p]] = w0;
      w[at[p + 1]] = w1;
      w[at[p + 2]] = w2;
      w[at[p + 3]] = w3;
    }
    for (; p < stored; ++p) w[at[p]] += t * Of::of(double(value[p]));
  }

  double norm_sq(std::int64_t i) const {
    const Value* row = x + start[i];
    const std::int64_t stored = size(i);
    double s = 0;
#pragma omp simd reduction(+ : s)
    for (std::int64_t p = 0; p < stored; ++p) s += double(row[p]) * double(row[p]);
    return s;
  }

  double weighted_norm_sq(std::int64_t i, const double* h) const {
    const Value* value = x + start[i];
    const Index* at = column + start[i];
    const std::int64_t stored = size(i);
    double s = 0;
#pragma omp simd reduction(+ : s)
    for (std::int64_t p = 0; p < stored; ++p) s += h[at[p]] * double(value[p]) * double(value[p]);
    return s;
  }

  void add_weighted(std::int64_t i, double t, const double* h, double* w) const {
    const Value* value = x + start[i];
    const Index* at = column + start[i];
    const std::int64_t stored = size(i);
    for (std::int64_t p = 0; p < stored; ++p) w[at[p]] += t * h[at[p]] * double(value[p]);
  }

  // The head of the row; the hardware follows the stream from there.
  void prefetch(std::int64_t i) const {
    const std::int64_t p = start[i];
    const char* values = reinterpret_cast<const char*>(x + p);
    const char* columns = reinterpret_cast<const char*>(column + p);
    for (int at = 0; at < 256; at += 64) {
      __builtin_prefetch(values + at);
      __builtin_prefetch(columns + at);
    }
  }
};

// Calls f with the typed rows behind the view.
template <class F>
void visit(const RowsView& v, F&& f) {
  if (v.indices == nullptr) {
    v.double_values ? f(DenseRows<double>(v)) : f(DenseRows<float>(v));
  } else if (v.long_indices) {
    v.double_values ? f(SparseRows<double, std::int64_t>(v)) : f(SparseRows<float, std::int64_t>(v));
  } else {
    v.double_values ? f(SparseRows<double, std::int32_t>(v)) : f(SparseRows<float, std::int32_t>(v));
  }
}

}  // namespace maxmargin::MAXMARGIN_ISA

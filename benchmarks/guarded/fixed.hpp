// Fixed inputs for counting instructions: the same rows on every machine and in every commit. The generator stands here,
// apart from the library's, so that a change there changes no input.
#pragma once

#include <cstdint>
#include <numeric>
#include <vector>

#include "maxmargin/core.hpp"

#ifndef MAXMARGIN_ISA
#define MAXMARGIN_ISA base
#endif

// The one function that is counted: callgrind collects inside it and writes its sum after each call.
extern "C" __attribute__((noinline)) void counted(void (*work)(void*), void* of);

namespace guarded {

struct Draw {
  std::uint64_t state = 88172645463325252u;
  std::uint64_t bits() {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
  }
  double operator()() { return double(bits() >> 11) / double(std::uint64_t(1) << 53) - 0.5; }
};

// n rows of d columns, dense; and of d * spread columns with d stored values each, sparse.
template <class Value>
struct Rows {
  static constexpr std::int64_t n = 2000, d = 37, spread = 50;
  std::vector<Value> values;
  std::vector<std::int32_t> columns, start;
  std::vector<double> y;
  bool sparse;

  explicit Rows(bool sparse_) : sparse(sparse_) {
    Draw draw;
    for (std::int64_t i = 0; i < n; ++i) {
      start.push_back(std::int32_t(i * d));
      double sum = 0;
      for (std::int64_t j = 0; j < d; ++j) {
        values.push_back(Value(draw()));
        columns.push_back(std::int32_t(j * spread + std::int64_t(draw.bits() % spread)));
        sum += double(values.back()) * double(j % 5 - 2);
      }
      y.push_back(sum + draw() > 0 ? 1.0 : -1.0);
    }
    start.push_back(std::int32_t(n * d));
  }

  std::int64_t width() const { return sparse ? d * spread : d; }
  maxmargin::RowsView view() const {
    maxmargin::RowsView rows;
    rows.values = values.data();
    if (sparse) rows.indices = columns.data(), rows.indptr = start.data();
    rows.n = n, rows.d = width(), rows.stride = sparse ? 0 : d, rows.double_values = sizeof(Value) == 8;
    return rows;
  }
};

inline std::vector<double> filled(std::int64_t size, double value) { return std::vector<double>(std::size_t(size), value); }

inline std::vector<std::int64_t> in_order(std::int64_t size) {
  std::vector<std::int64_t> order(std::size_t(size), 0);
  std::iota(order.begin(), order.end(), std::int64_t(0));
  return order;
}

template <class Work>
void count(Work work) {
  counted([](void* of) { (*static_cast<Work*>(of))(); }, &work);
}

// Calls a measure with each kind of rows, in the order of STORAGES in guard.py.
template <class Measure>
void for_each_storage(Measure measure) {
  measure(Rows<double>(false));
  measure(Rows<float>(false));
  measure(Rows<double>(true));
  measure(Rows<float>(true));
}

inline maxmargin::Core core() { return maxmargin::MAXMARGIN_ISA::core(); }

}  // namespace guarded

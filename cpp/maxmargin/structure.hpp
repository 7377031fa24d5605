// What must hold of CSR arrays before a loop may read through them.
#pragma once

#include <cstdint>

namespace maxmargin {

// Returns null when start rises from 0 to nnz and every column lies in [0, d); else what is wrong. `canonical` tells whether
// the columns rise strictly inside each row, so that no place is stored twice.
template <class Index>
const char* csr_fault(const Index* column, const Index* start, std::int64_t n, std::int64_t d, std::int64_t nnz,
                      bool& canonical) {
  if (start[0] != 0) return "indptr must start at 0";
  for (std::int64_t i = 0; i < n; ++i)
    if (start[i] > start[i + 1]) return "indptr must not fall";
  if (std::int64_t(start[n]) != nnz) return "indptr must end at the number of stored values";
  // Sums of comparisons, not branches, so that the compiler can take several columns at a time.
  Index lowest = 0, highest = -1;
  std::int64_t falls = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    const Index* row = column + start[i];
    const std::int64_t size = std::int64_t(start[i + 1]) - std::int64_t(start[i]);
    Index low = 0, high = -1, fallen = 0;
#pragma omp simd reduction(min : low) reduction(max : high)
    for (std::int64_t p = 0; p < size; ++p) {
      low = row[p] < low ? row[p] : low;
      high = row[p] > high ? row[p] : high;
    }
#pragma omp simd reduction(+ : fallen)
    for (std::int64_t p = 1; p < size; ++p) fallen += Index(row[p - 1] >= row[p]);
    lowest = low < lowest ? low : lowest;
    highest = high > highest ? high : highest;
    falls += fallen;
  }
  const bool inside = lowest >= 0 && std::int64_t(highest) < d, rising = falls == 0;
  canonical = rising;
  return inside ? nullptr : "a column index lies outside the matrix";
}

}  // namespace maxmargin

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
  bool inside = true, rising = true;
  for (std::int64_t i = 0; i < n; ++i) {
    for (std::int64_t p = start[i]; p < start[i + 1]; ++p) inside &= column[p] >= 0 && std::int64_t(column[p]) < d;
    for (std::int64_t p = std::int64_t(start[i]) + 1; p < start[i + 1]; ++p) rising &= column[p - 1] < column[p];
  }
  canonical = rising;
  return inside ? nullptr : "a column index lies outside the matrix";
}

}  // namespace maxmargin

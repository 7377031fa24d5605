// What crosses the boundary: plain pointers into arrays that the caller owns. No code lives here, so that these types mean
// the same to every instruction set.
#pragma once

#include <cstdint>

namespace maxmargin {

// The rows of X. Dense: `stride` elements from one row to the next, columns contiguous. Sparse (CSR): `indices` is not null.
struct RowsView {
  const void* values = nullptr;
  const void* indices = nullptr;
  const void* indptr = nullptr;
  std::int64_t n = 0;
  std::int64_t d = 0;
  std::int64_t stride = 0;
  bool double_values = true;
  bool long_indices = false;
};

}  // namespace maxmargin

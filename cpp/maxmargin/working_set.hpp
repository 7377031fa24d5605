// Which rows a burst of pair ascent works on.
//
// It stands outside the namespaces of the instruction sets, as selection instantiates library code that the linker would
// share.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace maxmargin {

// The next working set of at most `size` rows into `chosen`; returns how many.
//
// g is the gradient of the dual. A row may go up where a < high, and down where a > low; the pair that promises most is the
// largest g of those that may go up and the smallest g of those that may go down. Up to half of the last set is kept, rows
// strictly inside their box first; the rest is half the best of either side, by selection in linear time. The two best rows
// are always in.
inline std::int64_t choose_working_set(const double* g, const double* a, const double* low, const double* high,
                                       std::int64_t n, const std::int64_t* last, std::int64_t lasts, std::int64_t size,
                                       std::int64_t* chosen) {
  std::vector<std::uint8_t> taken(std::size_t(n), 0);
  std::int64_t count = 0;
  const auto take = [&](std::int64_t i) {
    taken[std::size_t(i)] = 1;
    chosen[count++] = i;
  };
  const std::int64_t most = std::min(size / 2, size - 2);
  for (const bool inside : {true, false})
    for (std::int64_t p = 0; p < lasts && count < most; ++p) {
      const std::int64_t i = last[p];
      if (!taken[std::size_t(i)] && low[i] < high[i] && (a[i] > low[i] && a[i] < high[i]) == inside) take(i);
    }
  std::vector<std::int64_t> candidates;
  candidates.reserve(std::size_t(n));
  for (const bool up : {true, false}) {
    candidates.clear();
    for (std::int64_t i = 0; i < n; ++i)
      if (!taken[std::size_t(i)] && (up ? a[i] < high[i] : a[i] > low[i])) candidates.push_back(i);
    const std::int64_t wanted =
        std::min<std::int64_t>(up ? (size - count + 1) / 2 : size - count, std::int64_t(candidates.size()));
    const auto better = [&](std::int64_t i, std::int64_t j) {
      return g[i] != g[j] ? (up ? g[i] > g[j] : g[i] < g[j]) : i < j;
    };
    std::nth_element(candidates.begin(), candidates.begin() + wanted, candidates.end(), better);
    for (std::int64_t p = 0; p < wanted; ++p) take(candidates[std::size_t(p)]);
  }
  return count;
}

}  // namespace maxmargin

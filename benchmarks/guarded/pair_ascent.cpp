// Five thousand steps on the inner products of 256 rows, whose values do not depend on how they are stored.
#include "fixed.hpp"

int main() {
  guarded::for_each_storage([](const auto& rows) {
    constexpr std::int64_t m = 256;
    std::vector<double> K;
    for (std::int64_t i = 0; i < m; ++i)
      for (std::int64_t j = 0; j < m; ++j) {
        double sum = i == j ? 0.1 : 0.0;
        for (std::int64_t k = 0; k < rows.d; ++k)
          sum += double(rows.values[std::size_t(i * rows.d + k)]) * double(rows.values[std::size_t(j * rows.d + k)]);
        K.push_back(sum);
      }
    auto a = guarded::filled(m, 0), low = guarded::filled(m, 0), high = low, g = low, scratch = guarded::filled(4 * m, 0);
    for (std::int64_t i = 0; i < m; ++i) {
      const double y = rows.y[std::size_t(i)];
      g[std::size_t(i)] = y;
      (y > 0 ? high : low)[std::size_t(i)] = 10 * y;
    }
    maxmargin::PairState state;
    state.K = K.data(), state.low = low.data(), state.high = high.data(), state.a = a.data(), state.g = g.data();
    state.scratch = scratch.data();
    state.m = m;
    guarded::count([&] { guarded::core().pair_ascent(state, 5000); });
  });
}

// Ten epochs over the rows taken as columns, with L1 and an intercept, after their curvatures are measured.
#include "fixed.hpp"

int main() {
  guarded::for_each_storage([](const auto& rows) {
    const auto view = rows.view();
    const auto weight = guarded::filled(rows.width(), 0.5);
    auto slope = guarded::filled(rows.width(), 0), w = guarded::filled(rows.n, 0);
    auto curvature = guarded::filled(rows.n, 0), mean = guarded::filled(rows.n, 0);
    const auto order = guarded::in_order(rows.n);
    for (std::size_t i = 0; i < slope.size(); ++i) slope[i] = double(std::int64_t(i % 7) - 3);
    maxmargin::CoordinateState state;
    state.weight = weight.data(), state.slope = slope.data(), state.w = w.data();
    state.curvature = curvature.data(), state.mean = mean.data();
    state.order = order.data(), state.size = rows.n;
    state.l1 = 0.1, state.low = -__builtin_huge_val(), state.high = __builtin_huge_val();
    state.pull = 0.5 * double(rows.width());
    guarded::core().measure(view, state);
    guarded::count([&] { guarded::core().coordinate_descent(view, state, 0.0, 10, std::int64_t(1) << 60); });
  });
}

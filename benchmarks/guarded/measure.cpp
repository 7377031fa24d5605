// The curvature and the weighted mean of every column; the rows are taken as columns.
#include "fixed.hpp"

int main() {
  guarded::for_each_storage([](const auto& rows) {
    const auto view = rows.view();
    const auto weight = guarded::filled(rows.width(), 0.5);
    auto slope = guarded::filled(rows.width(), 0), w = guarded::filled(rows.n, 0);
    auto curvature = guarded::filled(rows.n, 0), mean = guarded::filled(rows.n, 0);
    const auto order = guarded::in_order(rows.n);
    maxmargin::CoordinateState state;
    state.weight = weight.data(), state.slope = slope.data(), state.w = w.data();
    state.curvature = curvature.data(), state.mean = mean.data();
    state.order = order.data(), state.size = rows.n;
    state.pull = 0.5 * double(rows.width());
    guarded::count([&] { guarded::core().measure(view, state); });
  });
}

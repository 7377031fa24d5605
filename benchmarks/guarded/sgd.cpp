// Three shuffled epochs, one row per step.
#include "fixed.hpp"

int main() {
  guarded::for_each_storage([](const auto& rows) {
    const auto view = rows.view();
    const auto pull = guarded::filled(rows.n, double(rows.n));
    auto v = guarded::filled(rows.width(), 0), q = guarded::filled(rows.width(), 0), z = guarded::filled(1, 0);
    auto order = guarded::in_order(rows.n), batch = guarded::in_order(1);
    maxmargin::SgdState state;
    state.y = rows.y.data(), state.pull = pull.data(), state.v = v.data(), state.q = q.data();
    state.order = order.data(), state.z = z.data(), state.rows = batch.data();
    state.n = rows.n;
    state.first = 0.5, state.decay = double(rows.n), state.intercept_pull = 1;
    state.random = maxmargin::Random(1);
    guarded::count([&] { guarded::core().sgd(view, state, 3); });
  });
}

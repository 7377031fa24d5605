// Three shuffled epochs on rows that no plane separates.
#include "fixed.hpp"

int main() {
  guarded::for_each_storage([](const auto& rows) {
    const auto view = rows.view();
    const auto rate = guarded::filled(rows.n, 1);
    auto w = guarded::filled(rows.width(), 0), late = guarded::filled(rows.width(), 0);
    auto order = guarded::in_order(rows.n);
    maxmargin::PerceptronState state;
    state.y = rows.y.data(), state.rate = rate.data(), state.w = w.data(), state.late = late.data();
    state.order = order.data();
    state.n = rows.n;
    state.shuffled = true, state.constant = 1;
    state.random = maxmargin::Random(1);
    guarded::count([&] { guarded::core().perceptron(view, state, 3, std::int64_t(1) << 60); });
  });
}

// Ten epochs with shrinking; the hinge with a free intercept, then the squared hinge with none.
#include "fixed.hpp"

int main() {
  for (const auto loss : {maxmargin::MarginLoss::hinge, maxmargin::MarginLoss::squared_hinge})
    guarded::for_each_storage([&](const auto& rows) {
      const auto view = rows.view();
      const auto cost = guarded::filled(rows.n, 1);
      auto a = guarded::filled(rows.n, 0), norms = guarded::filled(rows.n, 0), w = guarded::filled(rows.width(), 0);
      auto order = guarded::in_order(rows.n);
      std::vector<std::int64_t> due(std::size_t(rows.n), 0);
      std::vector<std::uint8_t> pause(std::size_t(rows.n), 0);
      auto residual = guarded::filled(rows.n, 0);
      guarded::core().norms_sq(view, norms.data(), 1);
      maxmargin::DualState state;
      state.y = rows.y.data(), state.cost = cost.data(), state.norm_sq = norms.data();
      state.a = a.data(), state.w = w.data(), state.order = order.data();
      state.due = due.data(), state.pause = pause.data(), state.residual = residual.data();
      state.n = state.active = rows.n;
      state.loss = loss;
      state.rho = loss == maxmargin::MarginLoss::hinge ? 0.01 : 0;
      state.old_highest = __builtin_huge_val(), state.old_lowest = -__builtin_huge_val();
      state.random = maxmargin::Random(1);
      guarded::count([&] { guarded::core().dual_ascent(view, state, 10, std::int64_t(1) << 60); });
    });
}

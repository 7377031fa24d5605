#include "fixed.hpp"

int main() {
  guarded::for_each_storage([](const auto& rows) {
    const auto view = rows.view();
    const auto a = guarded::filled(rows.n, 0.5);
    auto u = guarded::filled(rows.width(), 0);
    guarded::count([&] { guarded::core().combine(view, a.data(), false, u.data(), nullptr, 1); });
  });
}

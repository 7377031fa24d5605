#include "fixed.hpp"

int main() {
  guarded::for_each_storage([](const auto& rows) {
    const auto view = rows.view();
    const auto w = guarded::filled(rows.width(), 0.5);
    auto z = guarded::filled(rows.n, 0);
    guarded::count([&] { guarded::core().scores(view, w.data(), 0.25, false, z.data(), 1); });
  });
}

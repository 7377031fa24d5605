#include "fixed.hpp"

int main() {
  guarded::for_each_storage([](const auto& rows) {
    const auto view = rows.view();
    auto norms = guarded::filled(rows.n, 0);
    guarded::count([&] { guarded::core().norms_sq(view, norms.data(), 1); });
  });
}

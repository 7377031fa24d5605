// 37 rows of 2000 values, in the columns' own order; for "sparse" by named columns.
#include "fixed.hpp"

int main() {
  guarded::for_each_storage([](const auto& rows) {
    const auto slots = guarded::in_order(rows.d), columns = guarded::in_order(rows.n);
    const auto t = guarded::filled(rows.d, 0.5);
    auto g = guarded::filled(rows.n, 0);
    guarded::count([&] {
      guarded::core().subtract_rows(rows.values.data(), sizeof(rows.values[0]) == 8, rows.n, slots.data(), t.data(), rows.d,
                                    rows.sparse ? columns.data() : nullptr, g.data(), rows.n, 1);
    });
  });
}

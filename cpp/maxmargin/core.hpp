// The loops of one instruction set behind plain function pointers.
#pragma once

#include <cstdint>

#include "maxmargin/coordinate_state.hpp"
#include "maxmargin/dual_state.hpp"
#include "maxmargin/pair_state.hpp"
#include "maxmargin/perceptron_state.hpp"
#include "maxmargin/sgd_state.hpp"
#include "maxmargin/view.hpp"

namespace maxmargin {

struct Core {
  void (*scores)(const RowsView&, const double* w, double b, bool absolute, double* z, int threads);
  void (*combine)(const RowsView&, const double* a, bool absolute, double* u, double* scratch, int threads);
  void (*norms_sq)(const RowsView&, double* out, int threads);
  void (*dual_ascent)(const RowsView&, DualState&, std::int64_t epochs, std::int64_t work);
  void (*sgd)(const RowsView&, SgdState&, std::int64_t epochs);
  void (*measure)(const RowsView&, CoordinateState&);
  void (*coordinate_descent)(const RowsView&, CoordinateState&, double goal, std::int64_t epochs, std::int64_t work);
  void (*perceptron)(const RowsView&, PerceptronState&, std::int64_t epochs, std::int64_t visits);
  void (*pair_ascent)(PairState&, std::int64_t most);
  void (*subtract_rows)(const void* values, bool double_values, std::int64_t stride, const std::int64_t* slot,
                        const double* t, std::int64_t count, const std::int64_t* columns, double* g, std::int64_t n,
                        int threads);
};

namespace base {
Core core();
}
namespace avx2 {
Core core();
}
namespace avx512 {
Core core();
}

}  // namespace maxmargin

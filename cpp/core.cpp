// Compiled once per instruction set, with MAXMARGIN_ISA set to its name.
#include "maxmargin/core.hpp"

#include "maxmargin/coordinate_descent.hpp"
#include "maxmargin/dual_ascent.hpp"
#include "maxmargin/pair_ascent.hpp"
#include "maxmargin/perceptron.hpp"
#include "maxmargin/products.hpp"
#include "maxmargin/sgd.hpp"

namespace maxmargin::MAXMARGIN_ISA {
namespace {

void any_scores(const RowsView& view, const double* w, double b, bool absolute, double* z, int threads) {
  visit(view, [&](const auto& rows) {
    absolute ? scores<Magnitude>(rows, w, b, z, threads) : scores<Identity>(rows, w, b, z, threads);
  });
}

void any_combine(const RowsView& view, const double* a, bool absolute, double* u, double* scratch, int threads) {
  visit(view, [&](const auto& rows) {
    absolute ? combine<Magnitude>(rows, a, u, scratch, threads) : combine<Identity>(rows, a, u, scratch, threads);
  });
}

void any_norms_sq(const RowsView& view, double* out, int threads) {
  visit(view, [&](const auto& rows) { norms_sq(rows, out, threads); });
}

void any_dual_ascent(const RowsView& view, DualState& state, std::int64_t epochs, std::int64_t work) {
  visit(view, [&](const auto& rows) {
    state.loss == MarginLoss::hinge ? ascend<HingeBox>(rows, state, epochs, work)
                                    : ascend<SquaredHingeBox>(rows, state, epochs, work);
  });
}

void any_sgd(const RowsView& view, SgdState& state, std::int64_t epochs) {
  visit(view, [&](const auto& rows) { descend(rows, state, epochs); });
}

void any_measure(const RowsView& view, CoordinateState& state) {
  visit(view, [&](const auto& columns) { measure(columns, state); });
}

void any_coordinate_descent(const RowsView& view, CoordinateState& state, double goal, std::int64_t epochs,
                            std::int64_t work) {
  visit(view, [&](const auto& columns) { descend_columns(columns, state, goal, epochs, work); });
}

void any_perceptron(const RowsView& view, PerceptronState& state, std::int64_t epochs, std::int64_t visits) {
  visit(view, [&](const auto& rows) { correct(rows, state, epochs, visits); });
}

void any_subtract_rows(const void* values, bool double_values, std::int64_t stride, const std::int64_t* slot,
                       const double* t, std::int64_t count, const std::int64_t* columns, double* g, std::int64_t n,
                       int threads) {
  double_values ? subtract_rows(static_cast<const double*>(values), stride, slot, t, count, columns, g, n, threads)
                : subtract_rows(static_cast<const float*>(values), stride, slot, t, count, columns, g, n, threads);
}

}  // namespace

Core core() {
  return {any_scores,     any_combine,  any_norms_sq,     any_dual_ascent, any_sgd, any_measure, any_coordinate_descent,
          any_perceptron, ascend_pairs, any_subtract_rows};
}

}  // namespace maxmargin::MAXMARGIN_ISA

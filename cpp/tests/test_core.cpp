// Each loop against brute force: products for every storage, dual ascent against exhaustive coordinate search and the KKT
// conditions. A plain program: prints one line per check and returns the number of failures.
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <vector>

#include "maxmargin/dual_ascent.hpp"
#include "maxmargin/products.hpp"
#include "maxmargin/structure.hpp"

using namespace maxmargin;
using namespace maxmargin::base;

namespace {

int failures = 0;

void check(bool holds, const char* what) {
  std::printf("%s: %s\n", holds ? "ok" : "FAILED", what);
  failures += !holds;
}

struct Uniform {
  Random random;
  double operator()() { return double(below(random, 2001) - 1000) / 500.0; }
};

template <class Value, class Index>
struct Data {
  std::int64_t n, d;
  std::vector<Value> dense, values;
  std::vector<Index> columns, start{0};
  std::vector<double> y, cost;

  Data(std::int64_t n_, std::int64_t d_, std::uint64_t seed) : n(n_), d(d_), dense(std::size_t(n_ * d_)) {
    Uniform draw{Random(seed)};
    for (std::int64_t i = 0; i < n; ++i) {
      for (std::int64_t j = 0; j < d; ++j) {
        const double x = draw();
        if (x < 0.3) continue;
        dense[std::size_t(i * d + j)] = Value(x);
        values.push_back(Value(x));
        columns.push_back(Index(j));
      }
      start.push_back(Index(values.size()));
      y.push_back(draw() < 0 ? -1.0 : 1.0);
      cost.push_back(0.1 + std::fabs(draw()));
    }
  }

  RowsView dense_view() const { return {dense.data(), nullptr, nullptr, n, d, d, sizeof(Value) == 8, false}; }
  RowsView sparse_view() const {
    return {values.data(), columns.data(), start.data(), n, d, 0, sizeof(Value) == 8, sizeof(Index) == 8};
  }
  double at(std::int64_t i, std::int64_t j) const { return double(dense[std::size_t(i * d + j)]); }
};

bool close(double a, double b) { return std::fabs(a - b) <= 1e-10 * (1 + std::fabs(a) + std::fabs(b)); }

template <class Value, class Index>
void test_products(std::int64_t n, std::int64_t d, int threads) {
  const Data<Value, Index> data(n, d, 3);
  Uniform draw{Random(4)};
  std::vector<double> w, a, z(std::size_t(n), 0.0), u, scratch;
  for (std::int64_t j = 0; j < d; ++j) w.push_back(draw());
  for (std::int64_t i = 0; i < n; ++i) a.push_back(i % 3 ? draw() : 0.0);
  bool right = true;
  for (const RowsView& view : {data.dense_view(), data.sparse_view()}) {
    visit(view, [&](const auto& rows) {
      scores<Identity>(rows, w.data(), 0.25, z.data(), threads);
      u.assign(std::size_t(d), 0.0);
      scratch.assign(std::size_t((threads - 1) * d), 0.0);
      combine<Identity>(rows, a.data(), u.data(), scratch.data(), threads);
      for (std::int64_t i = 0; i < n; ++i) {
        double dot = 0.25, norm = 0;
        for (std::int64_t j = 0; j < d; ++j) dot += data.at(i, j) * w[std::size_t(j)], norm += data.at(i, j) * data.at(i, j);
        right &= close(dot, z[std::size_t(i)]) && close(norm, rows.norm_sq(i));
      }
      for (std::int64_t j = 0; j < d; ++j) {
        double sum = 0;
        for (std::int64_t i = 0; i < n; ++i) sum += data.at(i, j) * a[std::size_t(i)];
        right &= close(sum, u[std::size_t(j)]);
      }
    });
  }
  check(right, "products of every storage agree with double loops");
}

struct Solve {
  std::vector<double> a, w, norms, residual;
  std::vector<std::int64_t> order, due;
  std::vector<std::uint8_t> pause;
  DualState state;

  template <class Value, class Index>
  Solve(const Data<Value, Index>& data, const RowsView& view, MarginLoss loss, double rho, double strength_b,
        std::int64_t work)
      : a(std::size_t(data.n), 0.0), w(std::size_t(data.d), 0.0), norms(std::size_t(data.n), 0.0) {
    for (std::int64_t i = 0; i < data.n; ++i) order.push_back(i);
    state.y = data.y.data();
    state.cost = data.cost.data();
    state.norm_sq = norms.data();
    state.a = a.data();
    state.w = w.data();
    state.order = order.data();
    due.assign(std::size_t(data.n), 0);
    pause.assign(std::size_t(data.n), 0);
    residual.assign(std::size_t(data.n), 0.0);
    state.residual = residual.data();
    state.due = due.data();
    state.pause = pause.data();
    state.n = data.n;
    state.loss = loss;
    state.rho = rho;
    state.intercept_strength = strength_b;
    widen(state);
    visit(view, [&](const auto& rows) {
      norms_sq(rows, norms.data(), 1);
      for (int burst = 0; burst < 4000; ++burst) {
        if (burst % 40 == 0 && state.position == 0) widen(state);
        loss == MarginLoss::hinge ? ascend<HingeBox>(rows, state, 5, work) : ascend<SquaredHingeBox>(rows, state, 5, work);
      }
    });
  }
};

template <class Value, class Index>
void test_ascent(MarginLoss loss, double rho, double strength_b) {
  const Data<Value, Index> data(40, 7, 11);
  for (const std::int64_t work : {std::int64_t(1) << 40, std::int64_t(37)}) {
    const Solve dense(data, data.dense_view(), loss, rho, strength_b, work);
    const Solve sparse(data, data.sparse_view(), loss, rho, strength_b, work);
    bool kkt = true, same = true, kept = true;
    double sum = 0;
    for (std::int64_t i = 0; i < data.n; ++i) {
      const double y = data.y[std::size_t(i)], c = data.cost[std::size_t(i)], alpha = y * dense.a[std::size_t(i)];
      double z = dense.state.intercept;
      for (std::int64_t j = 0; j < data.d; ++j) z += data.at(i, j) * dense.w[std::size_t(j)];
      const double slope = y * z - 1 + (loss == MarginLoss::hinge ? 0 : alpha / (2 * c));
      const double upper = loss == MarginLoss::hinge ? c : infinity;
      kkt &= alpha >= 0 && alpha <= upper;
      kkt &= (alpha <= 0 || slope <= 1e-7) && (alpha >= upper || slope >= -1e-7);
      same &= std::fabs(dense.w[std::size_t(i % data.d)] - sparse.w[std::size_t(i % data.d)]) < 1e-6;
      sum += dense.a[std::size_t(i)];
    }
    for (std::int64_t j = 0; j < data.d; ++j) {
      double u = 0;
      for (std::int64_t i = 0; i < data.n; ++i) u += data.at(i, j) * dense.a[std::size_t(i)];
      kept &= close(u, dense.w[std::size_t(j)]);
    }
    check(kkt, "dual ascent ends at a KKT point");
    check(same, "dense and sparse end at the same point");
    check(kept, "w = X'a is kept");
    if (rho > 0)
      check(std::fabs(sum - strength_b * dense.state.intercept) < 1e-7, "the intercept agrees with the dual point");
  }
}

void test_structure() {
  const std::int32_t columns[] = {0, 2, 1}, twice[] = {0, 0, 1}, start[] = {0, 2, 3}, falling[] = {0, 3, 2};
  bool canonical = false;
  check(csr_fault(columns, start, 2, 3, 3, canonical) == nullptr && canonical, "a sound CSR matrix passes");
  check(csr_fault(twice, start, 2, 3, 3, canonical) == nullptr && !canonical, "a place stored twice is seen");
  check(csr_fault(columns, start, 2, 2, 3, canonical) != nullptr, "a column outside is found");
  check(csr_fault(columns, falling, 2, 3, 2, canonical) != nullptr, "falling starts are found");
  check(csr_fault(columns, start, 2, 3, 4, canonical) != nullptr, "a wrong end is found");
}

void test_random() {
  Random random(5);
  std::int64_t counts[6] = {};
  for (int k = 0; k < 60000; ++k) counts[below(random, 6)] += 1;
  bool even = true;
  for (const std::int64_t count : counts) even &= count > 9600 && count < 10400;  // 4 standard deviations
  check(even, "draws are uniform");
  check(below(random, (std::int64_t(1) << 40)) >= 0, "large bounds work");
}

}  // namespace

int main() {
  for (const int threads : {1, 2, 3}) {
    test_products<double, std::int32_t>(23, 9, threads);
    test_products<float, std::int64_t>(17, 64, threads);
    test_products<float, std::int32_t>(1, 1, threads);
  }
  for (const MarginLoss loss : {MarginLoss::hinge, MarginLoss::squared_hinge}) {
    test_ascent<double, std::int32_t>(loss, 0.0, 0.0);
    test_ascent<float, std::int64_t>(loss, 0.3, 1.0);
    test_ascent<double, std::int64_t>(loss, 0.1, 0.0);
  }
  test_structure();
  test_random();
  return failures;
}

// Each loop against brute force: products for every storage, dual ascent against exhaustive coordinate search and the KKT
// conditions. A plain program: prints one line per check and returns the number of failures.
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <vector>

#include "maxmargin/coordinate_descent.hpp"
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
  std::vector<double> a, w, norms;
  std::vector<std::int64_t> order;
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

// The rows of Data serve as the columns: slope of w_j at the end against the optimality conditions of each penalty,
// recomputed.
template <class Value, class Index>
void test_coordinates(double l1, double l2, double low, double high, double strength_b, bool intercept) {
  const Data<Value, Index> data(9, 30, 5);
  Uniform draw{Random(6)};
  std::vector<double> h, q0;
  double pull = 0, sum = 0;
  for (std::int64_t i = 0; i < data.d; ++i) {
    h.push_back(0.2 + std::fabs(draw()));
    q0.push_back(3 * draw());
    pull += h.back();
    sum += q0.back();
  }
  pull = intercept ? pull + strength_b : 0;
  for (const RowsView& view : {data.dense_view(), data.sparse_view()}) {
    std::vector<double> q = q0, w(9, 0.0), curvature(9, 0.0), mean(9, 0.0);
    std::vector<std::int64_t> order;
    for (std::int64_t j = 0; j < 8; ++j) order.push_back(j);  // the ninth column stays out
    CoordinateState s;
    s.weight = h.data(), s.slope = q.data(), s.w = w.data(), s.curvature = curvature.data(), s.mean = mean.data();
    s.order = order.data(), s.size = 8;
    s.l1 = l1, s.l2 = l2, s.low = low, s.high = high, s.pull = pull, s.shift = intercept ? sum / pull : 0;
    visit(view, [&](const auto& columns) {
      measure(columns, s);
      descend_columns(columns, s, 1e-11, 100000, std::int64_t(1) << 40);
    });
    bool optimal = w[8] == 0, balanced = true;
    double total = -strength_b * s.shift;
    std::vector<double> slope = q0;
    for (std::int64_t i = 0; i < data.d; ++i) {
      for (std::int64_t j = 0; j < 9; ++j) slope[std::size_t(i)] += h[std::size_t(i)] * data.at(j, i) * w[std::size_t(j)];
      slope[std::size_t(i)] -= s.shift * h[std::size_t(i)];
      total += slope[std::size_t(i)];
    }
    if (intercept) balanced = std::fabs(total) < 1e-8;
    for (std::int64_t j = 0; j < 8; ++j) {
      const double x = w[std::size_t(j)];
      double g = l2 * x;
      for (std::int64_t i = 0; i < data.d; ++i) g += slope[std::size_t(i)] * data.at(j, i);
      const double left = g + (x > 0 ? l1 : -l1), right = g + (x >= 0 ? l1 : -l1);  // one-sided slopes
      optimal &= x >= low && x <= high && (x <= low || left <= 1e-8) && (x >= high || right >= -1e-8);
    }
    check(optimal, "coordinate descent ends where no weight can move");
    check(balanced, "the eliminated intercept is the best one");
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
  for (const bool intercept : {false, true}) {
    test_coordinates<double, std::int32_t>(2.0, 0.0, -infinity, infinity, 0.0, intercept);
    test_coordinates<float, std::int64_t>(1.0, 0.5, -infinity, infinity, 0.0, intercept);
    test_coordinates<double, std::int64_t>(0.0, 1.0, -infinity, infinity, 0.7, intercept);
    test_coordinates<float, std::int32_t>(0.0, 0.3, 0.0, infinity, 0.0, intercept);
    test_coordinates<double, std::int32_t>(0.0, 0.0, -0.2, 0.1, 0.0, intercept);
  }
  test_structure();
  test_random();
  return failures;
}

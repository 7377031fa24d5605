// Each loop against brute force: products for every storage, dual ascent against exhaustive coordinate search and the KKT
// conditions, the perceptron and stochastic steps against the same loops written down plainly. A plain program: prints one
// line per check and returns the number of failures.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "maxmargin/coordinate_descent.hpp"
#include "maxmargin/dual_ascent.hpp"
#include "maxmargin/pair_ascent.hpp"
#include "maxmargin/perceptron.hpp"
#include "maxmargin/products.hpp"
#include "maxmargin/sgd.hpp"
#include "maxmargin/strings.hpp"
#include "maxmargin/structure.hpp"
#include "maxmargin/working_set.hpp"

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

// What both online loops share: a plain copy of w and b, and their sums over all visits or steps.
struct Plain {
  std::vector<double> w, sum_w;
  double b = 0, sum_b = 0;

  explicit Plain(std::int64_t d) : w(std::size_t(d), 0.0), sum_w(std::size_t(d), 0.0) {}

  template <class Data>
  double score(const Data& data, std::int64_t i) const {
    double z = b;
    for (std::int64_t j = 0; j < data.d; ++j) z += data.at(i, j) * w[std::size_t(j)];
    return z;
  }
  template <class Data>
  void add(const Data& data, std::int64_t i, double t) {
    for (std::int64_t j = 0; j < data.d; ++j) w[std::size_t(j)] += t * data.at(i, j);
  }
  void count(double weight) {
    for (std::size_t j = 0; j < w.size(); ++j) sum_w[j] += weight * w[j];
    sum_b += weight * b;
  }
};

void shuffle(Random& random, std::vector<std::int64_t>& order) {
  for (std::int64_t i = std::int64_t(order.size()) - 1; i > 0; --i)
    std::swap(order[std::size_t(i)], order[std::size_t(below(random, i + 1))]);
}

std::vector<std::int64_t> every_other(std::int64_t n) {
  std::vector<std::int64_t> order;
  for (std::int64_t i = 0; i < n; ++i)
    if (i % 5 != 3) order.push_back(i);
  return order;
}

template <class Value, class Index>
void test_perceptron(bool shuffled, double margin, double constant, bool normalized, std::int64_t burst) {
  const Data<Value, Index> data(40, 7, 21);
  std::vector<double> rate;
  for (std::int64_t i = 0; i < data.n; ++i) {
    double norm = constant;
    for (std::int64_t j = 0; j < data.d; ++j) norm += data.at(i, j) * data.at(i, j);
    rate.push_back(normalized ? 1 / std::sqrt(norm + 0.01) : 1.0);
  }
  Plain plain(data.d);
  std::vector<std::int64_t> order = every_other(data.n);
  const std::int64_t epochs = 6, used = std::int64_t(order.size());
  std::int64_t mistakes = 0;
  Random random(9);
  for (std::int64_t epoch = 0; epoch < epochs; ++epoch) {
    if (shuffled) shuffle(random, order);
    for (const std::int64_t i : order) {
      const double step = rate[std::size_t(i)] * data.y[std::size_t(i)];
      if (step * plain.score(data, i) <= margin) plain.add(data, i, step), plain.b += constant * step, mistakes += 1;
      plain.count(1);
    }
  }
  for (const RowsView& view : {data.dense_view(), data.sparse_view()}) {
    std::vector<double> w(std::size_t(data.d), 0.0), late(std::size_t(data.d), 0.0);
    std::vector<std::int64_t> visited = every_other(data.n);
    PerceptronState state;
    state.y = data.y.data();
    state.rate = rate.data();
    state.w = w.data();
    state.late = late.data();
    state.order = visited.data();
    state.n = used;
    state.shuffled = shuffled;
    state.margin = margin;
    state.constant = constant;
    state.random = Random(9);
    visit(view, [&](const auto& rows) {
      while (state.epochs < epochs && !state.separated) correct(rows, state, epochs - state.epochs, burst);
    });
    const double visits = double(state.visits);
    bool same = state.mistakes == mistakes && state.visits == epochs * used && close(state.b, plain.b);
    same &= close(state.b - state.b_late / visits, plain.sum_b / visits);
    for (std::size_t j = 0; j < w.size(); ++j)
      same &= close(w[j], plain.w[j]) && close(w[j] - late[j] / visits, plain.sum_w[j] / visits);
    check(same, "the perceptron, its mistakes and its average agree with the plain loop");
  }
}

void test_perceptron_ends() {
  Data<double, std::int32_t> data(30, 4, 5);
  for (std::int64_t i = 0; i < data.n; ++i) data.y[std::size_t(i)] = data.at(i, 0) - data.at(i, 1) + 0.25 > 0 ? 1.0 : -1.0;
  std::vector<double> rate(30, 1.0), w(4, 0.0), late(4, 0.0);
  std::vector<std::int64_t> order;
  for (std::int64_t i = 0; i < data.n; ++i) order.push_back(i);
  PerceptronState state;
  state.y = data.y.data(), state.rate = rate.data(), state.w = w.data(), state.late = late.data();
  state.order = order.data(), state.n = data.n, state.constant = 1;
  visit(data.dense_view(), [&](const auto& rows) { correct(rows, state, 100000, std::int64_t(1) << 40); });
  bool right = state.separated && state.epoch_mistakes == 0 && state.visits == state.epochs * data.n;
  for (std::int64_t i = 0; i < data.n; ++i) {
    double z = state.b;
    for (std::int64_t j = 0; j < data.d; ++j) z += data.at(i, j) * w[std::size_t(j)];
    right &= data.y[std::size_t(i)] * z > 0;
  }
  check(right, "the perceptron ends at the first epoch without a mistake");
  const std::int64_t before = state.visits;
  visit(data.dense_view(), [&](const auto& rows) { correct(rows, state, 5, 1000); });
  check(state.visits == before, "and stays there");
}

template <class Value, class Index>
void test_descent(MarginLoss loss, std::int64_t batch, bool shuffled, double shrink, double pull_b, double cost,
                  double first = 0.01) {
  const Data<Value, Index> data(40, 7, 31);
  const std::int64_t epochs = 5;
  const double decay = 2;
  std::vector<std::int64_t> order = every_other(data.n);
  const std::int64_t used = std::int64_t(order.size()), size = batch < used ? batch : used;
  std::vector<double> pull;
  for (const double c : data.cost) pull.push_back(cost * double(used) * c);
  Plain plain(data.d);
  Random random(4);
  double weight = 0;
  std::int64_t t = 0;
  for (std::int64_t epoch = 0; epoch < epochs; ++epoch) {
    if (shuffled) shuffle(random, order);
    for (std::int64_t start = 0; start < used; start += size) {
      const std::int64_t count = size < used - start ? size : used - start;
      std::vector<std::int64_t> rows;
      std::vector<double> slopes;
      for (std::int64_t k = 0; k < count; ++k) {
        const std::int64_t i = order[std::size_t(shuffled ? start + k : below(random, used))];
        const double y = data.y[std::size_t(i)], h = 1 - y * plain.score(data, i);
        const double slope = h <= 0 ? 0 : loss == MarginLoss::hinge ? -y : -2 * y * h;
        rows.push_back(i), slopes.push_back(slope * pull[std::size_t(i)] / double(count));
      }
      const double gamma = first / (1 + first * double(t) / decay);
      for (double& v : plain.w) v *= 1 - gamma;
      plain.b *= 1 - gamma * shrink;
      for (std::size_t k = 0; k < rows.size(); ++k) {
        plain.add(data, rows[k], -gamma * slopes[k]);
        plain.b -= gamma * pull_b * slopes[k];
      }
      t += 1, weight += double(t), plain.count(double(t));
    }
  }
  for (const RowsView& view : {data.dense_view(), data.sparse_view()}) {
    std::vector<double> v(std::size_t(data.d), 0.0), q(std::size_t(data.d), 0.0), z(std::size_t(size), 0.0);
    std::vector<std::int64_t> picked = every_other(data.n), rows_of_batch(std::size_t(size), 0);
    SgdState state;
    state.y = data.y.data();
    state.pull = pull.data();
    state.v = v.data();
    state.q = q.data();
    state.order = picked.data();
    state.z = z.data();
    state.rows = rows_of_batch.data();
    state.n = used;
    state.batch = size;
    state.loss = loss;
    state.shuffled = shuffled;
    state.first = first;
    state.decay = decay;
    state.intercept_shrink = shrink;
    state.intercept_pull = pull_b;
    state.random = Random(4);
    visit(view, [&](const auto& rows) {
      descend(rows, state, 2);  // the books are closed in between, and opened again
      descend(rows, state, epochs - 2);
    });
    bool same = state.steps == t && state.weight == weight && close(state.b, plain.b) && close(state.b_total, plain.sum_b);
    for (std::size_t j = 0; j < v.size(); ++j)
      same &= close(v[j], plain.w[j]) && close(-q[j] / weight, plain.sum_w[j] / weight);
    check(same, "stochastic steps and their weighted average agree with the plain loop");
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

struct Text {
  std::string letters;
  std::vector<std::int64_t> start{0};

  Text(std::int64_t n, std::uint64_t seed) {
    Random random(seed);
    for (std::int64_t i = 0; i < n; ++i) {
      for (std::int64_t size = below(random, 12); size > 0; --size) letters += "ACGTN"[below(random, 5)];
      start.push_back(std::int64_t(letters.size()));
    }
  }
  Strings view() const {
    return {reinterpret_cast<const std::uint8_t*>(letters.data()), start.data(), std::int64_t(start.size()) - 1};
  }
  std::string at(std::int64_t i) const {
    return letters.substr(std::size_t(start[std::size_t(i)]),
                          std::size_t(start[std::size_t(i) + 1] - start[std::size_t(i)]));
  }
};

bool known(const std::string& s) { return s.find('N') == std::string::npos; }

void test_spectrum(int k, int threads) {
  const Text left(9, 21), right(7, 22);
  std::uint16_t code[256];
  for (std::uint16_t& each : code) each = no_letter;
  for (int c = 0; c < 4; ++c) code[std::uint8_t("ACGT"[c])] = std::uint16_t(c);
  const auto profiled = [&](const Text& text, std::vector<std::uint64_t>& words, std::vector<double>& counts,
                            std::vector<std::int64_t>& start) {
    std::vector<std::uint64_t> room(text.letters.size());
    std::vector<double> times(text.letters.size());
    std::vector<std::int64_t> distinct(text.start.size() - 1);
    profiles(text.view(), {code, 2, k}, text.start.data(), room.data(), times.data(), distinct.data(), threads);
    start = {0};
    for (std::size_t i = 0; i < distinct.size(); ++i) {
      for (std::int64_t p = 0; p < distinct[i]; ++p) {
        words.push_back(room[std::size_t(text.start[i] + p)]);
        counts.push_back(times[std::size_t(text.start[i] + p)]);
      }
      start.push_back(std::int64_t(words.size()));
    }
  };
  std::vector<std::uint64_t> words, others, sorted;
  std::vector<double> counts, other_counts, posted;
  std::vector<std::int64_t> start, other_start, first{0}, rows;
  profiled(left, words, counts, start);
  profiled(right, others, other_counts, other_start);
  sorted = others;
  std::sort(sorted.begin(), sorted.end());
  sorted.erase(std::unique(sorted.begin(), sorted.end()), sorted.end());
  for (const std::uint64_t word : sorted) {
    for (std::size_t j = 0; j + 1 < other_start.size(); ++j)
      for (std::int64_t p = other_start[j]; p < other_start[j + 1]; ++p)
        if (others[std::size_t(p)] == word) rows.push_back(std::int64_t(j)), posted.push_back(other_counts[std::size_t(p)]);
    first.push_back(std::int64_t(rows.size()));
  }
  std::vector<double> K(9 * 7, 0.0);
  spectrum({words.data(), counts.data(), start.data(), 9},
           {sorted.data(), first.data(), rows.data(), posted.data(), std::int64_t(sorted.size())}, 7, K.data(), threads);
  bool right_values = true;
  for (std::int64_t i = 0; i < 9; ++i)
    for (std::int64_t j = 0; j < 7; ++j) {
      const std::string x = left.at(i), z = right.at(j);
      double sum = 0;
      for (std::size_t s = 0; s + std::size_t(k) <= x.size(); ++s)
        for (std::size_t t = 0; t + std::size_t(k) <= z.size(); ++t)
          sum += x.substr(s, std::size_t(k)) == z.substr(t, std::size_t(k)) && known(x.substr(s, std::size_t(k)));
      right_values &= sum == K[std::size_t(i * 7 + j)];
    }
  check(right_values, "the spectrum counts every pair of equal k-mers");
}

void test_weighted_degree(std::int64_t d, int threads) {
  const Text left(9, 31), right(7, 32);
  bool letter[256] = {};
  for (const char c : {'A', 'C', 'G', 'T'}) letter[std::uint8_t(c)] = true;
  std::vector<double> beta, worth{0.0}, K(9 * 7, -1.0), own(9, -1.0);
  for (std::int64_t l = 1; l <= d; ++l) {
    beta.push_back(double(1 << l));  // whole numbers: exact
    worth.push_back(worth.back() + beta.back());
  }
  const Degree by{letter, worth.data(), d};
  weighted_degrees(left.view(), right.view(), by, K.data(), threads);
  own_degrees(left.view(), by, own.data(), threads);
  const auto brute = [&](const std::string& x, const std::string& z) {
    double sum = 0;
    for (std::size_t l = 1; l <= std::size_t(d); ++l)
      for (std::size_t t = 0; t + l <= std::min(x.size(), z.size()); ++t)
        if (x.substr(t, l) == z.substr(t, l) && known(x.substr(t, l))) sum += beta[l - 1];
    return sum;
  };
  bool right_values = true;
  for (std::int64_t i = 0; i < 9; ++i) {
    for (std::int64_t j = 0; j < 7; ++j) right_values &= brute(left.at(i), right.at(j)) == K[std::size_t(i * 7 + j)];
    right_values &= brute(left.at(i), left.at(i)) == own[std::size_t(i)];
  }
  check(right_values, "the weighted degree counts every common substring in place");
}

void test_strings() {
  for (const int threads : {1, 2, 3}) {
    for (const int k : {1, 2, 3, 5, 32}) test_spectrum(k, threads);
    for (const std::int64_t d : {1, 2, 4, 20}) test_weighted_degree(d, threads);
  }
  const std::int64_t rising[] = {0, 2, 2, 5}, falling[] = {0, 3, 2, 5}, before[] = {-1, 0, 0, 0};
  check(strings_fault(rising, 3, 5) == nullptr, "offsets that rise pass");
  check(strings_fault(falling, 3, 5) != nullptr, "offsets that fall are found");
  check(strings_fault(before, 3, 5) != nullptr, "an offset before the buffer is found");
  check(strings_fault(rising, 3, 4) != nullptr, "an offset beyond the buffer is found");
}

// Pair ascent against every pair: where it stops no exchange between two rows gains, the sum and the box hold, and g is y -
// Ka/s.
void test_pairs(std::int64_t m, std::int64_t rank, double s, double c) {
  Uniform draw{Random(std::uint64_t(m * 10 + rank))};
  std::vector<double> x, K, y, low, high, a, scratch;
  x.resize(std::size_t(m * rank));
  K.resize(std::size_t(m * m));
  a.resize(std::size_t(m));
  scratch.resize(std::size_t(4 * m));
  for (double& each : x) each = draw();
  for (std::int64_t i = 0; i < m; ++i)
    for (std::int64_t j = 0; j < m; ++j) {
      double sum = 0;
      for (std::int64_t k = 0; k < rank; ++k) sum += x[std::size_t(i * rank + k)] * x[std::size_t(j * rank + k)];
      K[std::size_t(i * m + j)] = sum;
    }
  for (std::int64_t i = 0; i < m; ++i) {
    y.push_back(i % 2 == 0 ? 1.0 : -1.0);
    low.push_back(y.back() > 0 ? 0 : -c);
    high.push_back(y.back() > 0 ? c : 0);
  }
  std::vector<double> g = y;
  PairState state;
  state.K = K.data();
  state.low = low.data();
  state.high = high.data();
  state.a = a.data();
  state.g = g.data();
  state.scratch = scratch.data();
  state.m = m;
  state.strength = s;
  state.tolerance = 1e-9;
  ascend_pairs(state, 1000000);
  const auto at = [&](std::int64_t i, std::int64_t j) { return K[std::size_t(i * m + j)]; };
  double total = 0, drift = 0, most_gain = 0;
  bool inside = true;
  for (std::int64_t i = 0; i < m; ++i) {
    const std::size_t k = std::size_t(i);
    total += a[k];
    inside &= a[k] >= low[k] && a[k] <= high[k];
    double exact = y[k];
    for (std::int64_t j = 0; j < m; ++j) exact -= at(i, j) * a[std::size_t(j)] / s;
    drift = std::max(drift, std::fabs(exact - g[k]));
    for (std::int64_t j = 0; j < m; ++j) {
      const double room = std::min(high[k] - a[k], a[std::size_t(j)] - low[std::size_t(j)]);
      const double slope = g[k] - g[std::size_t(j)];
      if (i != j && room > 0 && slope > 0) most_gain = std::max(most_gain, slope);
    }
  }
  check(std::fabs(total) <= 1e-12 * double(m) * c, "pair ascent keeps the sum");
  check(inside, "pair ascent keeps the box");
  check(drift <= 1e-10 * (1 + c), "pair ascent keeps g = y - Ka/s");
  check(most_gain <= 1e-9 && std::fabs(most_gain - std::max(0.0, state.violation)) <= 1e-15, "no pair gains any more");
}

template <class Value>
void test_subtract_rows(std::int64_t n, int threads) {
  Uniform draw{Random(std::uint64_t(n))};
  std::vector<Value> values(std::size_t(5 * n));
  for (Value& each : values) each = Value(draw());
  const std::int64_t slots[] = {3, 0, 4};
  const double t[] = {0.5, -2.0, 1.25};
  std::vector<std::int64_t> columns;
  for (std::int64_t k = 0; k < n; ++k) columns.push_back(n - 1 - k);
  for (const bool named : {false, true}) {
    std::vector<double> g(std::size_t(n), 1.0);
    subtract_rows(values.data(), n, slots, t, 3, named ? columns.data() : nullptr, g.data(), n, threads);
    double worst = 0;
    for (std::int64_t k = 0; k < n; ++k) {
      double expected = 1.0;
      for (int p = 0; p < 3; ++p)
        expected -= t[p] * double(values[std::size_t(slots[p] * n + (named ? columns[std::size_t(k)] : k))]);
      worst = std::max(worst, std::fabs(expected - g[std::size_t(k)]));
    }
    check(worst <= 1e-14, "rows are subtracted");
  }
}

void test_working_set() {
  const double g[] = {3, 2, 1, 0, -1, -2}, low[] = {0, 0, 0, 0, 0, 0}, high[] = {1, 1, 1, 1, 1, 1};
  const double a[] = {1, 0, 0.5, 0.5, 1, 0};  // 0 may only fall, 1 and 5 only rise
  const std::int64_t last[] = {5, 4, 3, 2};
  std::int64_t chosen[6];
  check(choose_working_set(g, a, low, high, 6, last, 0, 2, chosen) == 2 && chosen[0] == 1 && chosen[1] == 4,
        "the two rows that violate most are chosen");
  check(choose_working_set(g, a, low, high, 6, last, 4, 4, chosen) == 4 && chosen[0] == 3 && chosen[1] == 2 &&
            chosen[2] == 1 && chosen[3] == 4,
        "rows inside their box are kept first");
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
  for (const std::int64_t burst : {std::int64_t(1) << 40, std::int64_t(7)}) {
    test_perceptron<double, std::int32_t>(false, 0.0, 1.0, false, burst);
    test_perceptron<float, std::int64_t>(true, 0.5, 1.0, false, burst);
    test_perceptron<double, std::int64_t>(true, 0.0, 0.0, true, burst);
  }
  test_perceptron_ends();
  for (const MarginLoss loss : {MarginLoss::hinge, MarginLoss::squared_hinge}) {
    test_descent<double, std::int32_t>(loss, 1, true, 0.0, 1.0, 0.01);
    test_descent<float, std::int64_t>(loss, 6, true, 1.0, 2.25, 0.01);
    test_descent<double, std::int64_t>(loss, 1000, false, 0.0, 0.0, 0.01);
    test_descent<float, std::int32_t>(loss, 3, false, 1.0, 1.0, 0.001);
    test_descent<double, std::int32_t>(loss, 2, true, 1.0, 1.0, 0.001, 1.0);  // the first step forgets all: the scale is 0
  }
  for (const double c : {0.1, 10.0}) {
    test_pairs(2, 1, 1.0, c);
    test_pairs(12, 3, 0.5, c);
    test_pairs(40, 40, 2.0, c);
  }
  for (const int threads : {1, 3}) {
    test_subtract_rows<double>(7, threads);
    test_subtract_rows<float>(1500, threads);
  }
  test_working_set();
  for (const bool intercept : {false, true}) {
    test_coordinates<double, std::int32_t>(2.0, 0.0, -infinity, infinity, 0.0, intercept);
    test_coordinates<float, std::int64_t>(1.0, 0.5, -infinity, infinity, 0.0, intercept);
    test_coordinates<double, std::int64_t>(0.0, 1.0, -infinity, infinity, 0.7, intercept);
    test_coordinates<float, std::int32_t>(0.0, 0.3, 0.0, infinity, 0.0, intercept);
    test_coordinates<double, std::int32_t>(0.0, 0.0, -0.2, 0.1, 0.0, intercept);
  }
  test_structure();
  test_strings();
  test_random();
  return failures;
}

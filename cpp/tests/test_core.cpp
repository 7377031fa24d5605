// Each loop against brute force: products for every storage, dual ascent against exhaustive coordinate search and the KKT
// conditions. A plain program: prints one line per check and returns the number of failures.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "maxmargin/dual_ascent.hpp"
#include "maxmargin/products.hpp"
#include "maxmargin/strings.hpp"
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
  test_strings();
  test_random();
  return failures;
}

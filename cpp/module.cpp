// The binding. It checks shapes and types, holds references, releases the GIL, and computes nothing.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <atomic>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#ifdef _OPENMP
#include <omp.h>
#endif
#ifndef _WIN32
#include <pthread.h>
#endif

#include "maxmargin/core.hpp"
#include "maxmargin/dual_ascent.hpp"
#include "maxmargin/strings.hpp"
#include "maxmargin/structure.hpp"
#include "maxmargin/working_set.hpp"

namespace nb = nanobind;
using namespace nb::literals;
using maxmargin::CoordinateState;
using maxmargin::Core;
using maxmargin::DualState;
using maxmargin::PerceptronState;
using maxmargin::RowsView;
using maxmargin::SgdState;

namespace {

template <class T>
using In = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T>
using Out = nb::ndarray<T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

void expect(bool holds, const char* message) {
  if (!holds) throw std::invalid_argument(message);
}

// --- instruction sets ----------------------------------------------------------------------------------------------

struct Named {
  std::string name;
  Core core;
};

const std::vector<Named>& cores() {
  static const std::vector<Named> found = [] {
    std::vector<Named> list{{"base", maxmargin::base::core()}};
#ifdef MAXMARGIN_X86
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) list.push_back({"avx2", maxmargin::avx2::core()});
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
        __builtin_cpu_supports("avx512bw"))
      list.push_back({"avx512", maxmargin::avx512::core()});
#endif
    return list;
  }();
  return found;
}

std::atomic<const Named*> chosen{nullptr};

const Core& core() { return chosen.load()->core; }

std::vector<std::string> isas() {
  std::vector<std::string> names;
  for (const Named& each : cores()) names.push_back(each.name);
  return names;
}

void use_isa(const std::string& name) {
  for (const Named& each : cores())
    if (each.name == name) return chosen.store(&each);
  throw std::invalid_argument("this processor or build has no such instruction set");
}

// --- threads -------------------------------------------------------------------------------------------------------

// libgomp's team does not survive fork: a parallel region in a child deadlocks. A child therefore stays serial.
std::atomic<bool> forked{false};

constexpr std::int64_t worth_a_team = 1 << 17;  // stored values; below, starting threads costs more than it saves

int max_threads() {
#ifdef _OPENMP
  return forked ? 1 : omp_get_max_threads();
#else
  return 1;
#endif
}

int team(int asked, std::int64_t work) {
  if (work < worth_a_team || asked < 1) return 1;
  const int most = max_threads();
  return asked < most ? asked : most;
}

// --- rows ----------------------------------------------------------------------------------------------------------

// Keeps the caller's arrays alive beside the view of them.
struct Rows {
  RowsView view;
  std::int64_t stored = 0;
  bool canonical = true;  // sparse: columns rise strictly inside each row
  std::vector<nb::object> owners;
};

template <class T>
Rows dense(nb::ndarray<const T, nb::ndim<2>, nb::device::cpu> x) {
  expect(x.size() == 0 || x.shape(1) == 1 || x.stride(1) == 1, "rows must be contiguous");
  Rows rows;
  rows.view.values = x.data();
  rows.view.n = std::int64_t(x.shape(0));
  rows.view.d = std::int64_t(x.shape(1));
  rows.view.stride = x.stride(0);
  rows.view.double_values = sizeof(T) == 8;
  rows.stored = rows.view.n * rows.view.d;
  rows.owners.push_back(nb::cast(x));
  return rows;
}

template <class T, class I>
Rows sparse(In<T> values, In<I> indices, In<I> indptr, std::int64_t d) {
  expect(indptr.shape(0) >= 1 && values.shape(0) == indices.shape(0), "data, indices and indptr must fit together");
  Rows rows;
  rows.view.values = values.data();
  // An empty matrix may come with a null pointer, which would read as dense.
  rows.view.indices = indices.data() != nullptr ? static_cast<const void*>(indices.data()) : indptr.data();
  rows.view.indptr = indptr.data();
  rows.view.n = std::int64_t(indptr.shape(0)) - 1;
  rows.view.d = d;
  rows.view.double_values = sizeof(T) == 8;
  rows.view.long_indices = sizeof(I) == 8;
  rows.stored = std::int64_t(values.shape(0));
  const char* fault = maxmargin::csr_fault(indices.data(), indptr.data(), rows.view.n, d, rows.stored, rows.canonical);
  expect(fault == nullptr, fault);
  rows.owners = {nb::cast(values), nb::cast(indices), nb::cast(indptr)};
  return rows;
}

void scores(const Rows& rows, In<double> w, double b, Out<double> z, int threads, bool absolute) {
  expect(std::int64_t(w.shape(0)) == rows.view.d && std::int64_t(z.shape(0)) == rows.view.n, "w or z has the wrong length");
  nb::gil_scoped_release free;
  core().scores(rows.view, w.data(), b, absolute, z.data(), team(threads, rows.stored));
}

void combine(const Rows& rows, In<double> a, Out<double> u, int threads, bool absolute) {
  const std::int64_t n = rows.view.n, d = rows.view.d;
  expect(std::int64_t(a.shape(0)) == n && std::int64_t(u.shape(0)) == d, "a or u has the wrong length");
  nb::gil_scoped_release free;
  // A private copy of u per thread pays only where rows outweigh it.
  const int size = rows.stored > 4 * d ? team(threads, rows.stored) : 1;
  std::vector<double> scratch(std::size_t(size - 1) * std::size_t(d), 0.0);
  for (std::int64_t j = 0; j < d; ++j) u.data()[j] = 0;
  core().combine(rows.view, a.data(), absolute, u.data(), scratch.data(), size);
}

void norms_sq(const Rows& rows, Out<double> out, int threads) {
  expect(std::int64_t(out.shape(0)) == rows.view.n, "out has the wrong length");
  nb::gil_scoped_release free;
  core().norms_sq(rows.view, out.data(), team(threads, rows.stored));
}

// --- strings -------------------------------------------------------------------------------------------------------

using maxmargin::Strings;

Strings strings(const In<std::uint8_t>& letters, const In<std::int64_t>& start) {
  expect(start.shape(0) >= 1, "offsets must hold at least one number");
  const Strings x{letters.data(), start.data(), std::int64_t(start.shape(0)) - 1};
  const char* fault = maxmargin::strings_fault(x.start, x.n, std::int64_t(letters.shape(0)));
  expect(fault == nullptr, fault);
  return x;
}

// Profile i is written to words and counts from start[i] - start[0] on, where the string has as much room as letters.
void profiles(In<std::uint8_t> letters, In<std::int64_t> start, In<std::uint16_t> code, int bits, int k,
              Out<std::uint64_t> words, Out<double> counts, Out<std::int64_t> distinct, int threads) {
  const Strings x = strings(letters, start);
  const std::int64_t size = x.start[x.n] - x.start[0];
  expect(code.shape(0) == 256 && bits >= 1 && bits <= 8 && k >= 1 && k * bits <= 64, "a word must fit into 64 bits");
  expect(std::int64_t(words.shape(0)) == size && std::int64_t(counts.shape(0)) == size,
         "words and counts need one entry per letter");
  expect(std::int64_t(distinct.shape(0)) == x.n, "distinct needs one entry per string");
  nb::gil_scoped_release free;
  std::vector<std::int64_t> room(std::size_t(x.n));
  for (std::int64_t i = 0; i < x.n; ++i) room[std::size_t(i)] = x.start[i] - x.start[0];
  maxmargin::profiles(x, {code.data(), bits, k}, room.data(), words.data(), counts.data(), distinct.data(),
                      team(threads, size));
}

void spectrum(In<std::uint64_t> words, In<double> counts, In<std::int64_t> start, In<std::uint64_t> other_words,
              In<std::int64_t> other_start, In<std::int64_t> other_rows, In<double> other_counts,
              nb::ndarray<double, nb::ndim<2>, nb::c_contig, nb::device::cpu> K, int threads) {
  const std::int64_t n = std::int64_t(K.shape(0)), m = std::int64_t(K.shape(1));
  const std::int64_t stored = std::int64_t(words.shape(0)), posted = std::int64_t(other_rows.shape(0));
  const std::int64_t distinct = std::int64_t(other_words.shape(0));
  expect(std::int64_t(start.shape(0)) == n + 1 && std::int64_t(counts.shape(0)) == stored, "one profile per row of K");
  expect(maxmargin::strings_fault(start.data(), n, stored) == nullptr, "start must rise to the number of words");
  expect(std::int64_t(other_start.shape(0)) == distinct + 1 && std::int64_t(other_counts.shape(0)) == posted,
         "postings must fit together");
  expect(maxmargin::strings_fault(other_start.data(), distinct, posted) == nullptr, "the starts of postings must rise");
  for (std::int64_t q = 0; q < posted; ++q)
    expect(other_rows.data()[q] >= 0 && other_rows.data()[q] < m, "postings must name columns of K");
  nb::gil_scoped_release free;
  for (std::int64_t p = 0; p < n * m; ++p) K.data()[p] = 0;
  maxmargin::spectrum({words.data(), counts.data(), start.data(), n},
                      {other_words.data(), other_start.data(), other_rows.data(), other_counts.data(), distinct}, m,
                      K.data(), team(threads, n * m));
}

maxmargin::Degree degree(const In<bool>& letter, const In<double>& worth) {
  expect(letter.shape(0) == 256 && worth.shape(0) >= 1, "one flag per byte, and the worth of a run of 0");
  return {letter.data(), worth.data(), std::int64_t(worth.shape(0)) - 1};
}

void weighted_degrees(In<std::uint8_t> letters, In<std::int64_t> start, In<std::uint8_t> other_letters,
                      In<std::int64_t> other_start, In<bool> letter, In<double> worth,
                      nb::ndarray<double, nb::ndim<2>, nb::c_contig, nb::device::cpu> K, int threads) {
  const Strings x = strings(letters, start), z = strings(other_letters, other_start);
  const maxmargin::Degree by = degree(letter, worth);
  expect(std::int64_t(K.shape(0)) == x.n && std::int64_t(K.shape(1)) == z.n, "K needs one row and column per string");
  nb::gil_scoped_release free;
  maxmargin::weighted_degrees(x, z, by, K.data(), team(threads, (x.start[x.n] - x.start[0]) * z.n));
}

void own_degrees(In<std::uint8_t> letters, In<std::int64_t> start, In<bool> letter, In<double> worth, Out<double> own,
                 int threads) {
  const Strings x = strings(letters, start);
  const maxmargin::Degree by = degree(letter, worth);
  expect(std::int64_t(own.shape(0)) == x.n, "own needs one entry per string");
  nb::gil_scoped_release free;
  maxmargin::own_degrees(x, by, own.data(), team(threads, x.start[x.n] - x.start[0]));
}

// --- dual ascent ---------------------------------------------------------------------------------------------------

constexpr std::int64_t worth_a_rest = 24;  // columns; not stored values, so that dense and sparse rows are visited alike

struct DualAscent {
  const Rows* rows;
  DualState state;
  std::vector<nb::object> owners;
  std::vector<std::int64_t> due;
  std::vector<std::uint8_t> pause;
  std::vector<double> residual;

  DualAscent(nb::object keep, In<double> y, In<double> cost, In<double> norm_sq, Out<double> a, Out<double> w,
             Out<std::int64_t> order, bool squared, double strength, double intercept, double sum_a, double dual, double rho,
             double intercept_strength, bool shrink, std::uint64_t seed)
      : rows(nb::cast<const Rows*>(keep)) {
    const std::int64_t n = rows->view.n;
    for (const std::size_t length : {y.shape(0), cost.shape(0), norm_sq.shape(0), a.shape(0)})
      expect(std::int64_t(length) == n, "y, cost, norm_sq and a need one entry per row");
    expect(std::int64_t(w.shape(0)) == rows->view.d, "w needs one entry per column");
    state.n = std::int64_t(order.shape(0));
    for (std::int64_t k = 0; k < state.n; ++k)
      expect(order.data()[k] >= 0 && order.data()[k] < n, "order must hold row numbers");
    state.y = y.data();
    state.cost = cost.data();
    state.norm_sq = norm_sq.data();
    state.a = a.data();
    state.w = w.data();
    state.order = order.data();
    due.assign(std::size_t(n), 0);
    pause.assign(std::size_t(n), 0);
    residual.assign(std::size_t(n), 0.0);
    state.residual = residual.data();
    state.due = due.data();
    state.pause = pause.data();
    state.loss = squared ? maxmargin::MarginLoss::squared_hinge : maxmargin::MarginLoss::hinge;
    state.strength = strength;
    state.intercept = intercept;
    state.sum_a = sum_a;
    state.dual = dual;
    state.rho = rho;
    state.intercept_strength = intercept_strength;
    state.shrink = shrink;
    state.rest = shrink && rows->view.d >= worth_a_rest;
    state.random = maxmargin::Random(seed);
    maxmargin::base::widen(state);
    owners = {keep, nb::cast(y), nb::cast(cost), nb::cast(norm_sq), nb::cast(a), nb::cast(w), nb::cast(order)};
  }

  void run(std::int64_t epochs, std::int64_t work) {
    nb::gil_scoped_release free;
    core().dual_ascent(rows->view, state, epochs, work);
  }
};

// --- stochastic sub-gradient descent -------------------------------------------------------------------------------

// v, q and order are changed in place. Returns what else a later call needs: steps, weight, b, and the sum of t b_t.
nb::tuple sgd(const Rows& rows, In<double> y, In<double> pull, Out<double> v, Out<double> q, Out<std::int64_t> order,
              std::int64_t batch, bool squared, bool shuffled, double first, double decay, double intercept_shrink,
              double intercept_pull, std::uint64_t seed, std::int64_t steps, double weight, double b, double b_total,
              std::int64_t epochs) {
  const std::int64_t n = rows.view.n;
  expect(std::int64_t(y.shape(0)) == n && std::int64_t(pull.shape(0)) == n, "y and pull need one entry per row");
  expect(std::int64_t(v.shape(0)) == rows.view.d && std::int64_t(q.shape(0)) == rows.view.d,
         "v and q need one entry per column");
  expect(batch >= 1 && order.shape(0) >= 1, "a batch needs a row");
  for (std::size_t k = 0; k < order.shape(0); ++k)
    expect(order.data()[k] >= 0 && order.data()[k] < n, "order must hold row numbers");
  SgdState state;
  state.n = std::int64_t(order.shape(0));
  state.batch = batch < state.n ? batch : state.n;
  std::vector<double> z(std::size_t(state.batch));
  std::vector<std::int64_t> chosen(std::size_t(state.batch));
  state.y = y.data();
  state.pull = pull.data();
  state.v = v.data();
  state.q = q.data();
  state.order = order.data();
  state.z = z.data();
  state.rows = chosen.data();
  state.loss = squared ? maxmargin::MarginLoss::squared_hinge : maxmargin::MarginLoss::hinge;
  state.shuffled = shuffled;
  state.first = first;
  state.decay = decay;
  state.intercept_shrink = intercept_shrink;
  state.intercept_pull = intercept_pull;
  state.random = maxmargin::Random(seed);
  state.steps = steps;
  state.weight = weight;
  state.b = b;
  state.b_total = b_total;
  {
    nb::gil_scoped_release free;
    core().sgd(rows.view, state, epochs);
  }
  return nb::make_tuple(state.steps, state.weight, state.b, state.b_total);
}

// --- coordinate descent --------------------------------------------------------------------------------------------

struct CoordinateDescent {
  const Rows* columns;
  CoordinateState state;
  std::vector<nb::object> owners;

  CoordinateDescent(nb::object keep, In<double> weight, Out<double> slope, Out<double> w, Out<double> curvature,
                    Out<double> mean, In<std::int64_t> order, double l1, double l2, double low, double high, double pull,
                    double shift)
      : columns(nb::cast<const Rows*>(keep)) {
    const std::int64_t d = columns->view.n, n = columns->view.d;
    expect(std::int64_t(weight.shape(0)) == n && std::int64_t(slope.shape(0)) == n,
           "weight and slope need one entry per row");
    for (const std::size_t length : {w.shape(0), curvature.shape(0), mean.shape(0)})
      expect(std::int64_t(length) == d, "w, curvature and mean need one entry per column");
    state.size = std::int64_t(order.shape(0));
    for (std::int64_t k = 0; k < state.size; ++k)
      expect(order.data()[k] >= 0 && order.data()[k] < d, "order must hold column numbers");
    state.weight = weight.data();
    state.slope = slope.data();
    state.w = w.data();
    state.curvature = curvature.data();
    state.mean = mean.data();
    state.order = order.data();
    state.l1 = l1;
    state.l2 = l2;
    state.low = low;
    state.high = high;
    state.pull = pull;
    state.shift = shift;
    owners = {keep, nb::cast(weight), nb::cast(slope), nb::cast(w), nb::cast(curvature), nb::cast(mean), nb::cast(order)};
    nb::gil_scoped_release free;
    core().measure(columns->view, state);
  }

  void run(double goal, std::int64_t epochs, std::int64_t work) {
    nb::gil_scoped_release free;
    core().coordinate_descent(columns->view, state, goal, epochs, work);
  }
};

// --- perceptron ----------------------------------------------------------------------------------------------------

struct Perceptron {
  const Rows* rows;
  PerceptronState state;
  std::vector<nb::object> owners;

  Perceptron(nb::object keep, In<double> y, In<double> rate, Out<double> w, Out<double> late, Out<std::int64_t> order,
             bool shuffled, double margin, bool intercept, std::uint64_t seed, double b, double b_late, std::int64_t visits)
      : rows(nb::cast<const Rows*>(keep)) {
    const std::int64_t n = rows->view.n, d = rows->view.d;
    expect(std::int64_t(y.shape(0)) == n && std::int64_t(rate.shape(0)) == n, "y and rate need one entry per row");
    expect(std::int64_t(w.shape(0)) == d && std::int64_t(late.shape(0)) == d, "w and late need one entry per column");
    state.n = std::int64_t(order.shape(0));
    expect(state.n >= 1, "order must hold a row");
    for (std::int64_t k = 0; k < state.n; ++k)
      expect(order.data()[k] >= 0 && order.data()[k] < n, "order must hold row numbers");
    state.y = y.data();
    state.rate = rate.data();
    state.w = w.data();
    state.late = late.data();
    state.order = order.data();
    state.shuffled = shuffled;
    state.margin = margin;
    state.constant = intercept ? 1 : 0;
    state.random = maxmargin::Random(seed);
    state.b = b;
    state.b_late = b_late;
    state.visits = visits;
    owners = {keep, nb::cast(y), nb::cast(rate), nb::cast(w), nb::cast(late), nb::cast(order)};
  }

  void run(std::int64_t epochs, std::int64_t visits) {
    nb::gil_scoped_release free;
    core().perceptron(rows->view, state, epochs, visits);
  }
};

// --- pair ascent ---------------------------------------------------------------------------------------------------

using Square = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

std::int64_t choose_working_set(In<double> g, In<double> a, In<double> low, In<double> high, In<std::int64_t> last,
                                Out<std::int64_t> chosen) {
  const std::int64_t n = std::int64_t(g.shape(0));
  expect(std::int64_t(a.shape(0)) == n && std::int64_t(low.shape(0)) == n && std::int64_t(high.shape(0)) == n,
         "g, a, low and high need one entry per row");
  for (std::size_t p = 0; p < last.shape(0); ++p)
    expect(last.data()[p] >= 0 && last.data()[p] < n, "last must hold row numbers");
  nb::gil_scoped_release free;
  return maxmargin::choose_working_set(g.data(), a.data(), low.data(), high.data(), n, last.data(),
                                       std::int64_t(last.shape(0)), std::int64_t(chosen.shape(0)), chosen.data());
}

// a and g are changed in place. Returns the number of steps, and the violation that is left.
nb::tuple ascend_pairs(Square K, In<double> low, In<double> high, Out<double> a, Out<double> g, double strength,
                       double tolerance, std::int64_t most) {
  maxmargin::PairState state;
  state.m = std::int64_t(K.shape(0));
  expect(std::int64_t(K.shape(1)) == state.m, "K must be square");
  for (const std::size_t length : {low.shape(0), high.shape(0), a.shape(0), g.shape(0)})
    expect(std::int64_t(length) == state.m, "low, high, a and g need one entry per row of K");
  std::vector<double> scratch(std::size_t(4 * state.m));
  state.K = K.data();
  state.low = low.data();
  state.high = high.data();
  state.a = a.data();
  state.g = g.data();
  state.scratch = scratch.data();
  state.strength = strength;
  state.tolerance = tolerance;
  {
    nb::gil_scoped_release free;
    core().pair_ascent(state, most);
  }
  return nb::make_tuple(state.steps, state.violation);
}

template <class T>
void subtract_rows(nb::ndarray<const T, nb::ndim<2>, nb::c_contig, nb::device::cpu> values, In<std::int64_t> slots,
                   In<double> t, In<std::int64_t> columns, Out<double> g, int threads) {
  const std::int64_t count = std::int64_t(slots.shape(0)), width = std::int64_t(values.shape(1));
  const std::int64_t n = std::int64_t(g.shape(0)), named = std::int64_t(columns.shape(0));
  expect(std::int64_t(t.shape(0)) == count, "t needs one entry per slot");
  expect(named == n || (named == 0 && width == n), "g needs one entry per column");
  for (std::int64_t p = 0; p < count; ++p)
    expect(slots.data()[p] >= 0 && slots.data()[p] < std::int64_t(values.shape(0)), "slots must hold row numbers");
  for (std::int64_t k = 0; k < named; ++k)
    expect(columns.data()[k] >= 0 && columns.data()[k] < width, "columns must hold column numbers");
  nb::gil_scoped_release free;
  core().subtract_rows(values.data(), sizeof(T) == 8, width, slots.data(), t.data(), count,
                       named == 0 ? nullptr : columns.data(), g.data(), n, team(threads, count * n));
}

}  // namespace

NB_MODULE(_core, m) {
  m.doc() = "The native loops of maxmargin. Private: import maxmargin instead.";
  use_isa(cores().back().name);
#ifndef _WIN32
  pthread_atfork(nullptr, nullptr, [] { forked = true; });
#endif

  m.def("isas", &isas);
  m.def("isa", [] { return chosen.load()->name; });
  m.def("use_isa", &use_isa, "name"_a);
  m.def("max_threads", &max_threads);

  nb::class_<Rows>(m, "Rows")
      .def_prop_ro("stored", [](const Rows& r) { return r.stored; })
      .def_prop_ro("canonical", [](const Rows& r) { return r.canonical; })
      .def_prop_ro("shape", [](const Rows& r) { return nb::make_tuple(r.view.n, r.view.d); });
  m.def("dense", &dense<float>, "x"_a.noconvert());
  m.def("dense", &dense<double>, "x"_a.noconvert());
#define MAXMARGIN_SPARSE(T, I) \
  m.def("sparse", &sparse<T, I>, "values"_a.noconvert(), "indices"_a.noconvert(), "indptr"_a.noconvert(), "d"_a)
  MAXMARGIN_SPARSE(float, std::int32_t);
  MAXMARGIN_SPARSE(double, std::int32_t);
  MAXMARGIN_SPARSE(float, std::int64_t);
  MAXMARGIN_SPARSE(double, std::int64_t);
#undef MAXMARGIN_SPARSE

  m.def("scores", &scores, "rows"_a, "w"_a, "b"_a, "z"_a, "threads"_a, "absolute"_a = false);
  m.def("combine", &combine, "rows"_a, "a"_a, "u"_a, "threads"_a, "absolute"_a = false);
  m.def("norms_sq", &norms_sq, "rows"_a, "out"_a, "threads"_a);

  m.def("profiles", &profiles, "letters"_a, "start"_a, "code"_a, "bits"_a, "k"_a, "words"_a, "counts"_a, "distinct"_a,
        "threads"_a);
  m.def("spectrum", &spectrum, "words"_a, "counts"_a, "start"_a, "other_words"_a, "other_start"_a, "other_rows"_a,
        "other_counts"_a, "K"_a, "threads"_a);
  m.def("weighted_degrees", &weighted_degrees, "letters"_a, "start"_a, "other_letters"_a, "other_start"_a, "letter"_a,
        "worth"_a, "K"_a, "threads"_a);
  m.def("own_degrees", &own_degrees, "letters"_a, "start"_a, "letter"_a, "worth"_a, "own"_a, "threads"_a);

  m.def("sgd", &sgd, "rows"_a, "y"_a, "pull"_a, "v"_a, "q"_a, "order"_a, "batch"_a, "squared"_a, "shuffled"_a, "first"_a,
        "decay"_a, "intercept_shrink"_a, "intercept_pull"_a, "seed"_a, "steps"_a, "weight"_a, "b"_a, "b_total"_a,
        "epochs"_a);

  m.def("choose_working_set", &choose_working_set, "g"_a, "a"_a, "low"_a, "high"_a, "last"_a, "chosen"_a);
  m.def("ascend_pairs", &ascend_pairs, "K"_a, "low"_a, "high"_a, "a"_a, "g"_a, "strength"_a, "tolerance"_a, "most"_a);
  m.def("subtract_rows", &subtract_rows<float>, "values"_a.noconvert(), "slots"_a, "t"_a, "columns"_a, "g"_a, "threads"_a);
  m.def("subtract_rows", &subtract_rows<double>, "values"_a.noconvert(), "slots"_a, "t"_a, "columns"_a, "g"_a, "threads"_a);

  nb::class_<CoordinateDescent>(m, "CoordinateDescent")
      .def(nb::init<nb::object, In<double>, Out<double>, Out<double>, Out<double>, Out<double>, In<std::int64_t>, double,
                    double, double, double, double, double>(),
           "columns"_a, "weight"_a, "slope"_a, "w"_a, "curvature"_a, "mean"_a, "order"_a, "l1"_a, "l2"_a, "low"_a, "high"_a,
           "pull"_a, "shift"_a)
      .def("run", &CoordinateDescent::run, "goal"_a, "epochs"_a, "work"_a)
      .def_prop_ro("epochs", [](const CoordinateDescent& s) { return s.state.epochs; })
      .def_prop_ro("visits", [](const CoordinateDescent& s) { return s.state.visits; })
      .def_prop_ro("violation", [](const CoordinateDescent& s) { return s.state.violation; })
      .def_prop_ro("shift", [](const CoordinateDescent& s) { return s.state.shift; });

  nb::class_<Perceptron>(m, "Perceptron")
      .def(nb::init<nb::object, In<double>, In<double>, Out<double>, Out<double>, Out<std::int64_t>, bool, double, bool,
                    std::uint64_t, double, double, std::int64_t>(),
           "rows"_a, "y"_a, "rate"_a, "w"_a, "late"_a, "order"_a, "shuffled"_a, "margin"_a, "intercept"_a, "seed"_a, "b"_a,
           "b_late"_a, "visits"_a)
      .def("run", &Perceptron::run, "epochs"_a, "visits"_a)
      .def_prop_ro("b", [](const Perceptron& s) { return s.state.b; })
      .def_prop_ro("b_late", [](const Perceptron& s) { return s.state.b_late; })
      .def_prop_ro("mistakes", [](const Perceptron& s) { return s.state.mistakes; })
      .def_prop_ro("visits", [](const Perceptron& s) { return s.state.visits; })
      .def_prop_ro("epochs", [](const Perceptron& s) { return s.state.epochs; })
      .def_prop_ro("separated", [](const Perceptron& s) { return s.state.separated; });

  nb::class_<DualAscent>(m, "DualAscent")
      .def(nb::init<nb::object, In<double>, In<double>, In<double>, Out<double>, Out<double>, Out<std::int64_t>, bool,
                    double, double, double, double, double, double, bool, std::uint64_t>(),
           "rows"_a, "y"_a, "cost"_a, "norm_sq"_a, "a"_a, "w"_a, "order"_a, "squared"_a, "strength"_a, "intercept"_a,
           "sum_a"_a, "dual"_a, "rho"_a, "intercept_strength"_a, "shrink"_a, "seed"_a)
      .def("run", &DualAscent::run, "epochs"_a, "work"_a)
      .def("widen", [](DualAscent& s) { maxmargin::base::widen(s.state); })
      .def_prop_ro("epochs", [](const DualAscent& s) { return s.state.epochs; })
      .def_prop_ro("visits", [](const DualAscent& s) { return s.state.visits; })
      .def_prop_ro("gap", [](const DualAscent& s) { return s.state.gap; })
      .def_prop_ro("violation", [](const DualAscent& s) { return s.state.violation; })
      .def_prop_ro("active", [](const DualAscent& s) { return s.state.active; })
      .def_prop_rw(
          "intercept", [](const DualAscent& s) { return s.state.intercept; },
          [](DualAscent& s, double b) { s.state.intercept = b; })
      .def_prop_rw(
          "rho", [](const DualAscent& s) { return s.state.rho; }, [](DualAscent& s, double r) { s.state.rho = r; })
      .def_prop_ro("sum_a", [](const DualAscent& s) { return s.state.sum_a; })
      .def_prop_ro("dual", [](const DualAscent& s) { return s.state.dual; });
}

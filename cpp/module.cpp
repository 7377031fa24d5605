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
#include "maxmargin/structure.hpp"

namespace nb = nanobind;
using namespace nb::literals;
using maxmargin::Core;
using maxmargin::DualState;
using maxmargin::RowsView;

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

// --- dual ascent ---------------------------------------------------------------------------------------------------

struct DualAscent {
  const Rows* rows;
  DualState state;
  std::vector<nb::object> owners;

  DualAscent(nb::object keep, In<double> y, In<double> cost, In<double> norm_sq, Out<double> a, Out<double> w,
             Out<std::int64_t> order, bool squared, double strength, double intercept, double sum_a, double rho,
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
    state.loss = squared ? maxmargin::MarginLoss::squared_hinge : maxmargin::MarginLoss::hinge;
    state.strength = strength;
    state.intercept = intercept;
    state.sum_a = sum_a;
    state.rho = rho;
    state.intercept_strength = intercept_strength;
    state.shrink = shrink;
    state.random = maxmargin::Random(seed);
    widen();
    owners = {keep, nb::cast(y), nb::cast(cost), nb::cast(norm_sq), nb::cast(a), nb::cast(w), nb::cast(order)};
  }

  void widen() {
    state.active = state.n;
    state.position = 0;
    state.old_highest = __builtin_huge_val();
    state.old_lowest = -__builtin_huge_val();
  }

  void run(std::int64_t epochs, std::int64_t work) {
    nb::gil_scoped_release free;
    core().dual_ascent(rows->view, state, epochs, work);
  }
};

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

  nb::class_<DualAscent>(m, "DualAscent")
      .def(nb::init<nb::object, In<double>, In<double>, In<double>, Out<double>, Out<double>, Out<std::int64_t>, bool,
                    double, double, double, double, double, bool, std::uint64_t>(),
           "rows"_a, "y"_a, "cost"_a, "norm_sq"_a, "a"_a, "w"_a, "order"_a, "squared"_a, "strength"_a, "intercept"_a,
           "sum_a"_a, "rho"_a, "intercept_strength"_a, "shrink"_a, "seed"_a)
      .def("run", &DualAscent::run, "epochs"_a, "work"_a)
      .def("widen", &DualAscent::widen)
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
      .def_prop_ro("sum_a", [](const DualAscent& s) { return s.state.sum_a; });
}

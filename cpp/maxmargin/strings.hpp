// Kernels of strings over bytes: k-mer profiles with their inner products, and the weighted degree.
// Rows are cut among threads by number; each value is written by one thread in one order, so that any count gives the same
// bits.
#pragma once

#include <algorithm>
#include <cstdint>

namespace maxmargin {

// Strings one after the other: the i-th is letters[start[i]] to letters[start[i + 1] - 1].
struct Strings {
  const std::uint8_t* letters;
  const std::int64_t* start;
  std::int64_t n;

  const std::uint8_t* row(std::int64_t i) const { return letters + start[i]; }
  std::int64_t size(std::int64_t i) const { return start[i + 1] - start[i]; }
};

constexpr std::uint16_t no_letter = 0xffff;

// What a k-mer becomes: the codes of its letters, `bits` bits each, in one word. k bits <= 64.
struct Letters {
  const std::uint16_t* code;  // of each of the 256 bytes; no_letter for bytes outside the alphabet
  int bits;
  int k;
};

// The k-mers of one string that hold letters alone: their words in rising order, how often each occurs, and how many there
// are. `words` and `counts` have room for size - k + 1 entries.
inline std::int64_t profile(const std::uint8_t* x, std::int64_t size, const Letters& by, std::uint64_t* words,
                            double* counts) {
  const int used = by.bits * by.k;
  const std::uint64_t mask = used < 64 ? (std::uint64_t(1) << used) - 1 : ~std::uint64_t(0);
  std::uint64_t word = 0;
  std::int64_t run = 0, found = 0;
  for (std::int64_t t = 0; t < size; ++t) {
    const std::uint16_t code = by.code[x[t]];
    run = code == no_letter ? 0 : run + 1;
    word = ((word << by.bits) | (code & 0xff)) & mask;
    if (run >= by.k) words[found++] = word;
  }
  std::sort(words, words + found);
  std::int64_t distinct = 0;
  for (std::int64_t p = 0; p < found;) {
    std::int64_t q = p;
    while (q < found && words[q] == words[p]) ++q;
    words[distinct] = words[p];
    counts[distinct++] = double(q - p);
    p = q;
  }
  return distinct;
}

// Profiles of all strings. That of string i goes to room[i] and has distinct[i] entries.
inline void profiles(const Strings& x, const Letters& by, const std::int64_t* room, std::uint64_t* words, double* counts,
                     std::int64_t* distinct, int threads) {
#pragma omp parallel for num_threads(threads) if (threads > 1) schedule(static)
  for (std::int64_t i = 0; i < x.n; ++i) distinct[i] = profile(x.row(i), x.size(i), by, words + room[i], counts + room[i]);
}

// Profiles by row: entries start[i] to start[i + 1] - 1, words rising.
struct Profiles {
  const std::uint64_t* words;
  const double* counts;
  const std::int64_t* start;
  std::int64_t n;
};

// The same by word: word w[v] occurs in rows[start[v]] to rows[start[v + 1] - 1], counts[...] times; words rise strictly.
struct Postings {
  const std::uint64_t* words;
  const std::int64_t* start;
  const std::int64_t* rows;
  const double* counts;
  std::int64_t distinct;
};

// K_ij = Σ_s n_s(x_i) n_s(z_j), n_s(x) the number of places where s occurs in x. K is n x m and 0.
// One left profile at a time meets only the right rows that share a word with it.
inline void spectrum(const Profiles& x, const Postings& z, std::int64_t m, double* K, int threads) {
#pragma omp parallel for num_threads(threads) if (threads > 1) schedule(static)
  for (std::int64_t i = 0; i < x.n; ++i) {
    double* row = K + i * m;
    const std::uint64_t* at = z.words;
    const std::uint64_t* const end = z.words + z.distinct;
    for (std::int64_t p = x.start[i]; p < x.start[i + 1]; ++p) {
      at = std::lower_bound(at, end, x.words[p]);
      if (at == end) break;
      if (*at != x.words[p]) continue;
      const std::int64_t v = at - z.words;
      for (std::int64_t q = z.start[v]; q < z.start[v + 1]; ++q) row[z.rows[q]] += x.counts[p] * z.counts[q];
    }
  }
}

// What the places of agreement are worth: a run of r agreeing letters that ends at a place adds worth[min(r, d)] there.
struct Degree {
  const bool* letter;  // of each of the 256 bytes: whether it is in the alphabet; others agree with nothing
  const double* worth;
  std::int64_t d;
};

// Σ_t worth[min(r_t, d)], r_t the length of the run of places up to t on which x and z agree.
inline double weighted_degree(const std::uint8_t* x, const std::uint8_t* z, std::int64_t size, const Degree& by) {
  double sum = 0;
  std::int64_t run = 0;
  for (std::int64_t t = 0; t < size; ++t) {
    run = x[t] == z[t] && by.letter[x[t]] ? (run < by.d ? run + 1 : run) : 0;
    sum += by.worth[run];
  }
  return sum;
}

// K is n x m; strings of different lengths are compared on the places that both have.
inline void weighted_degrees(const Strings& x, const Strings& z, const Degree& by, double* K, int threads) {
#pragma omp parallel for num_threads(threads) if (threads > 1) schedule(static)
  for (std::int64_t i = 0; i < x.n; ++i)
    for (std::int64_t j = 0; j < z.n; ++j)
      K[i * z.n + j] = weighted_degree(x.row(i), z.row(j), std::min(x.size(i), z.size(j)), by);
}

// k(x, x) of each string.
inline void own_degrees(const Strings& x, const Degree& by, double* own, int threads) {
#pragma omp parallel for num_threads(threads) if (threads > 1) schedule(static)
  for (std::int64_t i = 0; i < x.n; ++i) own[i] = weighted_degree(x.row(i), x.row(i), x.size(i), by);
}

// nullptr if the offsets rise within the buffer.
inline const char* strings_fault(const std::int64_t* start, std::int64_t n, std::int64_t bytes) {
  if (start[0] < 0 || start[n] > bytes) return "offsets must lie inside the buffer";
  for (std::int64_t i = 0; i < n; ++i)
    if (start[i + 1] < start[i]) return "offsets must rise";
  return nullptr;
}

}  // namespace maxmargin

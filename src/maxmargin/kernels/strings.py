"""Kernels of strings: proteins, DNA, text of one byte per letter.

Letters are bytes; upper and lower case differ. Without an `alphabet` every byte is a letter. With one, all other bytes are
unknown: a k-mer that holds one is not counted, and it agrees with nothing, not even with itself. A string too short for a
k-mer, such as the empty one, has φ = 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from maxmargin import _native
from maxmargin.kernels.base import Kernel, checked
from maxmargin.kernels.rows import Floats, Pairs, Rows, Sequences, as_rows, gamma

AMINO_ACIDS = "ACDEFGHIKLMNPQRSTVWY"
NUCLEOTIDES = "ACGT"

WORD_BITS = 64  # a k-mer is one machine word
NO_LETTER = 0xFFFF
MOST_KMERS = 2**62  # columns of the explicit map, numbered in 64 bits


def _check_alphabet(kernel: Spectrum | WeightedDegree) -> None:
    alphabet = kernel.alphabet
    if alphabet is None:
        return
    if not isinstance(alphabet, str) or not alphabet or not alphabet.isascii() or len(set(alphabet)) < len(alphabet):
        raise ValueError(
            f"{type(kernel).__name__}(alphabet={alphabet!r}): alphabet must be a str of distinct ASCII letters, such as 'ACGT', "
            "or None for every byte."
        )


def _codes(alphabet: str | None) -> NDArray[np.uint16]:
    """The number of each byte in the alphabet, NO_LETTER for others."""
    if alphabet is None:
        return np.arange(256, dtype=np.uint16)
    codes = np.full(256, NO_LETTER, dtype=np.uint16)
    codes[np.frombuffer(alphabet.encode("ascii"), dtype=np.uint8)] = np.arange(len(alphabet))
    return codes


def _sequences(rows: Rows) -> Sequences:
    return Pairs(rows, rows).sequences[0]


@dataclass(frozen=True, slots=True, eq=False)
class _Profiles:
    """The k-mers of each row as rising words, and how often each occurs: entries start[i] to start[i + 1] - 1 are of row i."""

    words: NDArray[np.uint64]
    counts: Floats
    start: NDArray[np.int64]

    @property
    def rows(self) -> NDArray[np.int64]:
        """The row of each entry."""
        return np.repeat(np.arange(self.start.size - 1), np.diff(self.start))


@final
@dataclass(frozen=True, slots=True)
class Spectrum(Kernel):
    """k(x, z) = Σ_s n_s(x) n_s(z) over all strings s of length k, n_s(x) the number of places where s occurs in x.

    φ(x) = (n_s(x))_s, of which only the k-mers that occur are ever formed (Leslie, Eskin and Noble 2002). Values are whole
    numbers, exact below 2^53.
    """

    k: int
    alphabet: str | None = None

    def __post_init__(self) -> None:
        checked(self, "k", lambda k: k >= 1, "a whole number of 1 or more", int)
        _check_alphabet(self)
        if self.k * self._bits > WORD_BITS:
            raise ValueError(
                f"Spectrum(k={self.k}): k must be at most {WORD_BITS // self._bits} for letters of {self._bits} bits, so that a k-mer "
                "fits into a word. A smaller alphabet has shorter letters: 'ACGT' reaches 32."
            )

    @property
    def _size(self) -> int:
        return 256 if self.alphabet is None else len(self.alphabet)

    @property
    def _bits(self) -> int:
        return max(1, (self._size - 1).bit_length())

    @property
    def positive(self) -> bool:
        return True

    def _profiles(self, rows: Rows, threads: int = 1) -> _Profiles:
        strings = _sequences(rows)

        def make() -> _Profiles:
            first, last = int(strings.offsets[0]), int(strings.offsets[-1])
            words, counts = np.empty(last - first, dtype=np.uint64), np.empty(last - first)
            distinct = np.empty(strings.n, dtype=np.int64)
            _native.profiles(
                strings.buffer, strings.offsets, _codes(self.alphabet), self._bits, self.k, words, counts, distinct, threads
            )
            start = np.concatenate([[0], np.cumsum(distinct)])
            # Each profile was written where its string begins; here they close up.
            at = np.repeat(strings.offsets[:-1] - first - start[:-1], distinct) + np.arange(start[-1])
            return _Profiles(words[at], counts[at], start)

        return strings.kept((self, "profiles"), make)

    def tile(self, pairs: Pairs) -> Floats:
        left, right = pairs.sequences
        x, z = self._profiles(left, pairs.threads), self._profiles(right, pairs.threads)

        def post() -> tuple[Any, ...]:
            order = np.argsort(z.words, kind="stable")
            sorted_words = z.words[order]
            first = np.flatnonzero(np.concatenate([[True], sorted_words[1:] != sorted_words[:-1]])[: sorted_words.size])
            start = np.append(first, sorted_words.size).astype(np.int64)
            return sorted_words[first], start, z.rows[order], z.counts[order]

        K = np.empty((left.n, right.n))
        _native.spectrum(x.words, x.counts, x.start, *right.kept((self, "postings"), post), K, pairs.threads)
        return K

    def own(self, rows: Rows) -> Floats:
        x = self._profiles(rows)
        return np.bincount(x.rows, weights=x.counts**2, minlength=rows.n).astype(np.float64)

    def tile_error(self, pairs: Pairs, tile: Floats) -> Floats:
        # Sums of whole numbers: exact below 2^53, beyond with at most one rounding per term.
        left, _ = pairs.sequences
        terms = int(np.diff(left.offsets).max(initial=0)) + 1
        return np.where(tile < 2.0**53, 0.0, gamma(terms + 1) * tile)

    def features(self, X: Any) -> Any:
        """The counts as a CSR matrix with one column per string of k letters of the alphabet, in its order."""
        if self.alphabet is None or self._size**self.k > MOST_KMERS:
            raise ValueError(f"{self!r}.features: give an alphabet with at most 2^62 strings of length k. Or use block.")
        rows = as_rows(X)
        x = self._profiles(rows)
        columns = np.zeros(x.words.size, dtype=np.int64)
        for place in range(self.k):  # from the word's base 2^bits to the base of the alphabet
            digit = (x.words >> np.uint64(self._bits * (self.k - 1 - place))) & np.uint64(2**self._bits - 1)
            columns = columns * self._size + digit.astype(np.int64)
        return sp.csr_array((x.counts, columns, x.start), shape=(rows.n, self._size**self.k))


@final
@dataclass(frozen=True, slots=True)
class WeightedDegree(Kernel):
    """k(x, z) = Σ_{l=1..d} β_l Σ_t [x_t..x_{t+l-1} = z_t..z_{t+l-1}],  β_l = 2 (d - l + 1) / (d (d + 1)),  Σ β_l = 1.

    For strings that are aligned, such as windows of DNA around a site (Rätsch and Sonnenburg 2004): φ has a column √β_l for each
    length l, place t and string of l letters. Strings of different lengths are compared on the places that both have.
    """

    degree: int
    alphabet: str | None = None

    def __post_init__(self) -> None:
        checked(self, "degree", lambda d: d >= 1, "a whole number of 1 or more", int)
        _check_alphabet(self)

    @property
    def positive(self) -> bool:
        return True

    def _worth(self) -> Floats:
        """worth[r] = Σ_{l<=r} β_l: what the strings add that end at the r-th place of a run of agreement."""
        d = self.degree
        return np.array([r * (2 * d - r + 1) / (d * (d + 1)) for r in range(d + 1)])

    def _letters(self) -> NDArray[np.bool_]:
        return np.not_equal(_codes(self.alphabet), NO_LETTER)

    def tile(self, pairs: Pairs) -> Floats:
        x, z = pairs.sequences
        K = np.empty((x.n, z.n))
        _native.weighted_degrees(x.buffer, x.offsets, z.buffer, z.offsets, self._letters(), self._worth(), K, pairs.threads)
        return K

    def own(self, rows: Rows) -> Floats:
        x, own = _sequences(rows), np.empty(rows.n)
        _native.own_degrees(x.buffer, x.offsets, self._letters(), self._worth(), own, 1)
        return own

    def tile_error(self, pairs: Pairs, tile: Floats) -> Floats:
        left, right = pairs.sequences
        places = min(int(np.diff(side.offsets).max(initial=0)) for side in (left, right))
        return gamma(places + 4) * tile

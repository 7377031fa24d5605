"""Rows that kernels are evaluated on, and Pairs of them: the inner products and distances that kernels share.

`Numbers` holds a dense array or CSR matrix of float32 or float64, `Sequences` strings over bytes. `Table` is a small dense
matrix as a value, for kernels that carry one.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Iterator, Sequence
from functools import cached_property
from typing import Any, Self, TypeVar, cast, final

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.spatial.distance import cdist

from maxmargin.design import VALUE_TYPES, as_design, check_structure

Floats = NDArray[np.float64]
Made = TypeVar("Made")

UNIT = 2.0**-53  # half the distance from 1 to the next double
TINY = 2.0**-1022  # the largest error of an underflow
LARGEST_PART = 1024  # rows of a part: a tile of two parts has at most 2^20 values
LARGEST_COPY = 1 << 22  # values of a part that may be converted to float64 at once


def gamma(terms: int) -> float:
    """γ_k = k u / (1 - k u), a little more: the relative error of a sum of k products, in any order."""
    return terms * UNIT / (1.0 - 2.0 * terms * UNIT)


class Rows(ABC):
    """n rows. `kept` remembers what a kernel works out per row, for the other tiles of a block."""

    n: int
    size_of_part: int

    def __init__(self, n: int) -> None:
        self.n = n
        self._kept: dict[Hashable, Any] = {}

    @property
    @abstractmethod
    def data(self) -> Any:
        """The rows in the form in which functions of the user receive them."""

    @abstractmethod
    def part(self, first: int, last: int) -> Self:
        """Rows first to last - 1."""

    @abstractmethod
    def take(self, chosen: NDArray[np.int64]) -> Self:
        """The chosen rows, in the order given, repeated where named twice."""

    def parts(self) -> list[Self]:
        """The rows in pieces of bounded size, in their order."""
        return [self.part(at, min(at + self.size_of_part, self.n)) for at in range(0, self.n, self.size_of_part)]

    def kept(self, key: Hashable, make: Callable[[], Made]) -> Made:
        """What was made under this key, made once."""
        if key not in self._kept:
            self._kept[key] = make()
        return cast(Made, self._kept[key])


@final
class Numbers(Rows):
    """Rows x_i of length d, stored as they came."""

    def __init__(self, data: Any) -> None:
        super().__init__(data.shape[0])
        self._data = data
        self.d = int(data.shape[1])
        width = 1 if sp.issparse(data) else max(1, self.d)
        self.size_of_part = max(16, min(LARGEST_PART, LARGEST_COPY // width))

    @property
    def data(self) -> Any:
        return self._data

    @property
    def values(self) -> Any:
        """The rows in float64: products of float32 values are exact there."""
        return self._data.astype(np.float64, copy=False)

    @property
    def dense(self) -> Floats:
        """The rows as a dense array."""
        return np.asarray(self.values.toarray() if sp.issparse(self._data) else self.values)

    @cached_property
    def norms_sq(self) -> Floats:
        """|x_i|²."""
        return as_design(self._data).norms_sq

    @cached_property
    def sums(self) -> Floats:
        """Σ_j x_ij."""
        return np.asarray(self.values.sum(axis=1), dtype=np.float64).ravel()

    @cached_property
    def longest(self) -> int:
        """The most terms that one inner product sums."""
        return int(np.diff(self._data.indptr).max(initial=0)) if sp.issparse(self._data) else self.d

    def part(self, first: int, last: int) -> Numbers:
        return self if first == 0 and last == self.n else Numbers(self._data[first:last])

    def take(self, chosen: NDArray[np.int64]) -> Numbers:
        return Numbers(self._data[chosen])


@final
class Sequences(Rows):
    """Strings over bytes, one after the other in `buffer`: the i-th is buffer[offsets[i]:offsets[i + 1]]."""

    size_of_part = 2 * LARGEST_PART

    def __init__(self, buffer: NDArray[np.uint8], offsets: NDArray[np.int64]) -> None:
        buffer = np.ascontiguousarray(buffer, dtype=np.uint8)
        offsets = np.ascontiguousarray(offsets, dtype=np.int64)
        falls = offsets.ndim != 1 or offsets.size == 0 or offsets[0] < 0 or (np.diff(offsets) < 0).any()
        if falls or buffer.ndim != 1 or offsets[-1] > buffer.size:
            raise ValueError("Sequences(buffer, offsets): offsets must rise from 0 or more to at most the length of buffer.")
        super().__init__(offsets.size - 1)
        self.buffer, self.offsets = buffer, offsets

    @staticmethod
    def of(strings: Sequence[Any]) -> Sequences:
        """From str (of ASCII characters) or bytes."""
        pieces = [_as_bytes(i, each) for i, each in enumerate(strings)]
        offsets = np.zeros(len(pieces) + 1, dtype=np.int64)
        np.cumsum([len(each) for each in pieces], out=offsets[1:])
        return Sequences(np.frombuffer(b"".join(pieces), dtype=np.uint8), offsets)

    @property
    def data(self) -> list[bytes]:
        return [self.buffer[i:j].tobytes() for i, j in zip(self.offsets[:-1], self.offsets[1:], strict=True)]

    def part(self, first: int, last: int) -> Sequences:
        return self if first == 0 and last == self.n else Sequences(self.buffer, self.offsets[first : last + 1])

    def take(self, chosen: NDArray[np.int64]) -> Sequences:
        strings = self.data
        return Sequences.of([strings[i] for i in chosen])


def _as_bytes(i: int, each: Any) -> bytes:
    if isinstance(each, bytes):
        return each
    if not isinstance(each, str):
        raise TypeError(f"Sequences: row {i} is {each!r}; every row must be a str or bytes.")
    if not each.isascii():
        raise ValueError(f"Sequences: row {i} holds a character beyond ASCII; one letter is one byte: encode it first.")
    return each.encode("ascii")


def as_rows(A: Any) -> Rows:
    """Numbers from a 2-D array, table or sparse matrix; Sequences from a list, array or column of strings."""
    if isinstance(A, Rows):
        return A
    if sp.issparse(A):
        check_structure(A)
        return _numbers(A if A.dtype in VALUE_TYPES else A.astype(_float_type(A.dtype)))
    if isinstance(A, str | bytes):
        raise TypeError(f"rows must come as a list of strings; [{A[:20]!r}] is a list of one.")
    if isinstance(A, list | tuple) and len(A) > 0 and isinstance(A[0], str | bytes):
        return Sequences.of(A)
    table = np.asarray(A)
    if table.dtype.kind in "OSTU" and (table.ndim == 1 or (table.ndim == 2 and table.shape[1] == 1)):
        return Sequences.of(table.ravel().tolist())
    if table.ndim == 1 and table.size == 0:
        return Sequences.of([])
    if table.ndim != 2:
        raise ValueError(f"rows must form a 2-D array; this one has shape {table.shape}. One column is X.reshape(-1, 1).")
    return _numbers(table if table.dtype in VALUE_TYPES else table.astype(_float_type(table.dtype)))


def _float_type(dtype: np.dtype[Any]) -> type[np.float64]:
    if dtype.kind not in "biuf":
        raise TypeError(f"rows must hold real numbers, or strings in one column; these have dtype {dtype}.")
    return np.float64


def _numbers(X: Any) -> Numbers:
    values = X.data if sp.issparse(X) else X
    if not np.isfinite(values).all():
        raise ValueError("rows must hold finite numbers; these hold NaN or infinity.")
    return Numbers(as_design(X).data)


class Pairs:
    """Every left row with every right row; what several kernels need of them is worked out once.

    The arrays are shared: a kernel that changes one copies it first.
    """

    def __init__(self, left: Rows, right: Rows, threads: int = 1) -> None:
        self.left, self.right, self.threads = left, right, threads

    @property
    def numbers(self) -> tuple[Numbers, Numbers]:
        """Both sides, which must be Numbers of the same length."""
        if not isinstance(self.left, Numbers) or not isinstance(self.right, Numbers):
            raise TypeError("this kernel is for numbers: rows must be a 2-D array or sparse matrix, not strings.")
        if self.left.d != self.right.d:
            raise ValueError(f"rows of {self.left.d} and of {self.right.d} columns: both sides must have the same columns.")
        return self.left, self.right

    @property
    def sequences(self) -> tuple[Sequences, Sequences]:
        """Both sides, which must be Sequences."""
        if not isinstance(self.left, Sequences) or not isinstance(self.right, Sequences):
            raise TypeError("this kernel is for strings: rows must be a list or column of str or bytes, not numbers.")
        return self.left, self.right

    @property
    def terms(self) -> int:
        """The most terms of one inner product."""
        left, right = self.numbers
        return min(left.longest, right.longest)

    @cached_property
    def inner(self) -> Floats:
        """x'z."""
        left, right = self.numbers
        X = left.values
        product = X @ (X if left is right else right.values).T
        return np.asarray(product.toarray() if sp.issparse(product) else product)

    @cached_property
    def norms(self) -> Floats:
        """|x| |z|."""
        left, right = self.numbers
        return np.sqrt(left.norms_sq)[:, None] * np.sqrt(right.norms_sq)

    @property
    def inner_error(self) -> Floats:
        """γ_k |x| |z|, by which `inner` may be off; the norms are themselves rounded."""
        g = gamma(self.terms + 2)
        return g * (1.0 + 2.0 * g) * self.norms + self.terms * TINY

    @cached_property
    def distances_sq(self) -> Floats:
        """|x - z|² = |x|² + |z|² - 2 x'z, not below 0."""
        left, right = self.numbers
        squared = left.norms_sq[:, None] + right.norms_sq
        squared -= 2.0 * self.inner
        np.maximum(squared, 0.0, out=squared)
        if left is right:
            np.fill_diagonal(squared, 0.0)
        return squared

    @property
    def distances_sq_error(self) -> Floats:
        """γ_k (|x| + |z|)²: where rows are far from the origin and near each other, digits cancel."""
        left, right = self.numbers
        # The norms sum whole rows, the products only common places.
        terms = max(left.longest, right.longest) + 4
        g = gamma(terms)
        return g * (1.0 + 2.0 * g) * (np.sqrt(left.norms_sq)[:, None] + np.sqrt(right.norms_sq)) ** 2 + 4 * terms * TINY

    @cached_property
    def distances(self) -> Floats:
        """|x - z|_1 = Σ_j |x_j - z_j|."""
        from sklearn.metrics.pairwise import manhattan_distances  # loads much that nothing else of maxmargin needs

        left, right = self.numbers
        if not sp.issparse(left.data) and not sp.issparse(right.data):
            return np.asarray(cdist(left.values, right.values, "cityblock"))
        return np.asarray(manhattan_distances(sp.csr_matrix(left.values), sp.csr_matrix(right.values)))

    @property
    def distances_error(self) -> Floats:
        """γ_k |x - z|_1: differences and sums of one sign lose nothing else."""
        left, right = self.numbers
        return gamma(left.longest + right.longest + 2) * self.distances


def tiles(left: Rows, right: Rows, threads: int) -> Iterator[tuple[slice, slice, Pairs]]:
    """All pairs in tiles of bounded size; where both sides are the same rows, those on and below the diagonal."""
    lower = left is right
    lefts = left.parts()
    rights = lefts if lower else right.parts()
    i = 0
    for p, part in enumerate(lefts):
        j = 0
        for other in rights[: p + 1] if lower else rights:
            yield slice(i, i + part.n), slice(j, j + other.n), Pairs(part, other, threads)
            j += other.n
        i += part.n


@final
class Table:
    """A matrix of doubles as a value: read-only, equal by content, and eval(repr(t)) == t."""

    __slots__ = ("_hash", "array")

    def __init__(self, values: Any) -> None:
        array = np.array(values.toarray() if sp.issparse(values) else values, dtype=np.float64, order="C")
        if array.ndim != 2 or not np.isfinite(array).all():
            raise ValueError(f"Table(shape={array.shape}): a table holds finite numbers in rows and columns.")
        array.flags.writeable = False
        self.array = array
        self._hash = hash((array.shape, (array + 0.0).tobytes()))  # + 0.0: the two zeros are equal

    def __reduce__(self) -> tuple[type[Table], tuple[Floats]]:
        return Table, (self.array,)  # copies are read-only too, and hash anew where hashes of bytes differ

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Table) and np.array_equal(self.array, other.array)

    def __hash__(self) -> int:
        return self._hash

    def __repr__(self) -> str:
        return f"Table({self.array.tolist()!r})" if self.array.size else f"Table(np.empty({self.array.shape}))"

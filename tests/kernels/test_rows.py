import copy
import pickle
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from maxmargin.kernels import Pairs, Sequences, Table, as_rows
from maxmargin.kernels.rows import LARGEST_COPY, LARGEST_PART, Numbers, tiles

X = np.array([[1.0, 0.0, 2.0], [0.0, -1.5, 0.25]])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("form", [np.asarray, sp.csr_matrix, sp.csr_array, sp.csc_matrix, pd.DataFrame])
def test_numbers_come_in_every_form(form, dtype):
    rows = as_rows(form(X.astype(dtype)))
    assert isinstance(rows, Numbers)
    assert (rows.n, rows.d) == (2, 3)
    assert rows.data.dtype == dtype
    assert np.array_equal(rows.dense, X)
    assert rows.norms_sq.tolist() == [5.0, 2.3125]
    assert rows.sums.tolist() == [3.0, -1.25]


def test_dense_floats_are_used_where_they_lie():
    rows = as_rows(X)
    assert rows.data is X
    assert rows.values is X
    assert as_rows(rows) is rows


@pytest.mark.parametrize("values", [[[1, 2], [3, 4]], np.array([[True, False]]), np.array([[1, 2]], dtype=np.int8)])
def test_whole_numbers_become_doubles(values):
    assert as_rows(values).data.dtype == np.float64
    assert as_rows(sp.csr_matrix(np.asarray(values))).data.dtype == np.float64


STRINGS = ["ACGT", "", "AC"]
COLUMNS = {
    "list of str": STRINGS,
    "tuple of bytes": (b"ACGT", b"", b"AC"),
    "array of str": np.array(STRINGS),
    "array of objects": np.array(STRINGS, dtype=object),
    "array of bytes": np.array([b"ACGT", b"", b"AC"]),
    "one column": np.array(STRINGS)[:, None],
    "pandas objects": pd.Series(STRINGS, dtype=object),
    "pandas strings": pd.Series(STRINGS, dtype="string"),
    "pandas frame": pd.DataFrame({"sequence": STRINGS}),
    "buffer and offsets": Sequences(np.frombuffer(b"ACGTAC", dtype=np.uint8), np.array([0, 4, 4, 6])),
}


@pytest.mark.parametrize("column", COLUMNS.values(), ids=COLUMNS.keys())
def test_strings_come_in_every_form(column):
    rows = as_rows(column)
    assert isinstance(rows, Sequences)
    assert rows.data == [b"ACGT", b"", b"AC"]
    assert rows.part(1, 3).data == [b"", b"AC"]
    assert rows.take(np.array([2, 0, 2])).data == [b"AC", b"ACGT", b"AC"]


def test_no_strings_are_rows_too():
    assert as_rows([]).data == []
    assert as_rows(np.array([], dtype=str)).n == 0


@pytest.mark.parametrize(
    ("rows", "error", "message"),
    [
        ("ACGT", TypeError, "a list of one"),
        (np.arange(3.0), ValueError, "shape \\(3,\\)"),
        (np.zeros((2, 2, 2)), ValueError, "shape \\(2, 2, 2\\)"),
        (np.array([[1.0, np.nan]]), ValueError, "NaN or infinity"),
        (sp.csr_matrix(np.array([[1.0, np.inf]])), ValueError, "NaN or infinity"),
        (np.array([[1j]]), TypeError, "real numbers"),
        (np.array([["a", "b"]]), TypeError, "one column"),
        (["A", 3], TypeError, "row 1 is 3"),
        (pd.Series(["A", None], dtype=object), TypeError, "row 1 is None"),
        (["A", "é"], ValueError, "row 1 holds a character beyond ASCII"),
    ],
)
def test_what_is_no_row_is_named(rows, error, message):
    with pytest.raises(error, match=message):
        as_rows(rows)


@pytest.mark.parametrize("offsets", [[], [-1, 2], [0, 3, 2], [0, 5], [[0, 1]]])
def test_offsets_are_checked(offsets):
    with pytest.raises(ValueError, match="offsets must rise"):
        Sequences(np.frombuffer(b"ACGT", dtype=np.uint8), np.array(offsets, dtype=np.int64))


@pytest.mark.parametrize("left_form", [np.asarray, sp.csr_matrix, sp.csr_array])
@pytest.mark.parametrize("right_form", [np.asarray, sp.csr_matrix])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_products_and_distances_keep_their_bounds_against_fractions(left_form, right_form, dtype):
    rng = np.random.default_rng(3)
    A, B = (rng.normal(scale=1e3, size=(n, 6)).astype(dtype) for n in (5, 4))
    A[:, 1] += 1e5  # far from the origin: digits cancel in the distances
    B[:, 1] += 1e5
    A[rng.uniform(size=A.shape) < 0.3] = 0.0
    B[0] = A[0]
    pairs = Pairs(as_rows(left_form(A)), as_rows(right_form(B)))
    for i, x in enumerate([[Fraction(float(v)) for v in row] for row in A]):
        for j, z in enumerate([[Fraction(float(v)) for v in row] for row in B]):
            inner = sum(p * q for p, q in zip(x, z, strict=True))
            squared = sum((p - q) ** 2 for p, q in zip(x, z, strict=True))
            absolute = sum(abs(p - q) for p, q in zip(x, z, strict=True))
            assert abs(Fraction(float(pairs.inner[i, j])) - inner) <= Fraction(float(pairs.inner_error[i, j]))
            assert abs(Fraction(float(pairs.distances_sq[i, j])) - squared) <= Fraction(
                float(pairs.distances_sq_error[i, j])
            )
            assert abs(Fraction(float(pairs.distances[i, j])) - absolute) <= Fraction(float(pairs.distances_error[i, j]))


def test_tiles_cover_every_pair_once_and_are_bounded():
    left, right = as_rows(np.zeros((2 * LARGEST_PART + 7, 1))), as_rows(np.zeros((LARGEST_PART + 1, 1)))
    seen = np.zeros((left.n, right.n), dtype=np.int8)
    for i, j, pairs in tiles(left, right, 1):
        assert pairs.left.n * pairs.right.n <= LARGEST_PART**2
        seen[i, j] += 1
    assert (seen == 1).all()
    lower = np.zeros((left.n, left.n), dtype=np.int8)
    for i, j, _ in tiles(left, left, 1):
        lower[i, j] += 1
    assert (lower[np.tril_indices(left.n)] == 1).all()
    assert lower[0, -1] == 0


def test_wide_rows_make_small_parts():
    wide = as_rows(np.zeros((40, LARGEST_COPY // 32), dtype=np.float32))
    assert [part.n for part in wide.parts()] == [32, 8]


def test_a_table_is_a_value():
    table = Table([[1.0, -0.0], [0.1, 2.0]])
    assert eval(repr(table)) == table
    assert Table([[1, 0], [0.1, 2]]) == table
    assert hash(Table([[1, 0], [0.1, 2]])) == hash(table)
    assert Table([[1.0]]) != table
    assert Table(np.empty((0, 3))) == eval(repr(Table(np.empty((0, 3)))))
    for again in (table, copy.deepcopy(table), pickle.loads(pickle.dumps(table))):
        assert again == table
        assert hash(again) == hash(table)
        with pytest.raises(ValueError, match="read-only"):
            again.array[0, 0] = 3.0
    with pytest.raises(ValueError, match="finite"):
        Table([[np.nan]])

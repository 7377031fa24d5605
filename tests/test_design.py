import math
import tracemalloc

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from maxmargin import Dense, Sparse, as_design
from maxmargin.design import check_structure


def draw(seed=0, n=17, d=9, dtype=float):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)).astype(dtype)
    X[np.abs(X) < 0.6] = 0.0
    return X


def storages(X):
    yield as_design(X)
    yield as_design(np.asfortranarray(X))
    yield as_design(np.repeat(X, 2, axis=0)[::2])
    yield as_design(np.hstack([X, X])[:, : X.shape[1]])
    frozen = X.copy()
    frozen.flags.writeable = False
    yield as_design(frozen)
    for index in (np.int32, np.int64):
        S = sp.csr_array(X)
        S.indices, S.indptr = S.indices.astype(index), S.indptr.astype(index)
        yield as_design(S)
    yield as_design(sp.csc_matrix(X))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@given(n=st.integers(0, 40), d=st.integers(0, 70), seed=st.integers(0, 99))
def test_every_storage_gives_the_products(dtype, n, d, seed):
    X = draw(seed, n, d, dtype)
    rng = np.random.default_rng(seed)
    w, a = rng.normal(size=d), rng.normal(size=n)
    wide = X.astype(np.float64)
    error = 4 * (n + d + 1) * 2.0**-53
    rows = rng.integers(0, n, size=3) if n else np.empty(0, dtype=np.int64)
    for design in storages(X):
        assert (design.n, design.d, design.dtype) == (n, d, dtype)
        assert np.all(np.abs(design.scores(w, 0.5) - (wide @ w + 0.5)) <= error * (np.abs(wide) @ np.abs(w) + 0.5))
        assert np.all(np.abs(design.combine(a) - wide.T @ a) <= error * (np.abs(wide).T @ np.abs(a)))
        assert np.allclose(design.scores(w, -0.5, absolute=True), np.abs(wide) @ np.abs(w) + 0.5, rtol=1e-13)
        assert np.allclose(design.combine(a, absolute=True), np.abs(wide).T @ np.abs(a), rtol=1e-13)
        assert np.allclose(design.norms_sq, (wide**2).sum(axis=1), rtol=1e-13)
        assert np.allclose(design.inner(rows, rows[:1]), wide[rows] @ wide[rows[:1]].T, rtol=1e-12, atol=1e-12)
        weights = np.abs(a)
        assert np.allclose(design.weighted_gram(weights), (wide * weights[:, None]).T @ wide, rtol=1e-10, atol=1e-10)


def test_columns_of_w_give_columns_of_scores():
    X = draw()
    W, A = np.random.default_rng(1).normal(size=(9, 3)), np.random.default_rng(2).normal(size=(17, 3))
    design = as_design(X)
    assert np.allclose(design.scores(W, np.array([1.0, 2.0, 3.0])), X @ W + [1.0, 2.0, 3.0])
    assert np.allclose(design.combine(A), X.T @ A)


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_a_team_gives_the_same_products(threads):
    X = np.random.default_rng(0).normal(size=(4000, 60))
    w, a = np.ones(60), np.ones(4000)
    for stored in (X, sp.csr_array(X)):
        alone, team = as_design(stored), as_design(stored, threads)
        assert np.array_equal(alone.scores(w), team.scores(w))
        assert np.allclose(alone.combine(a), team.combine(a), rtol=1e-12)
        assert np.array_equal(team.combine(a), team.combine(a))


def test_nothing_is_copied():
    X = np.random.default_rng(0).normal(size=(2000, 300)).astype(np.float32)
    tracemalloc.start()
    design = as_design(X)
    design.scores(np.ones(300))
    design.combine(np.ones(2000))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < X.nbytes / 10


def test_entries_stored_twice_are_summed_in_a_copy():
    S = sp.csr_array((np.array([1.0, 2.0, 4.0]), np.array([1, 1, 0]), np.array([0, 2, 3])), shape=(2, 3))
    design = as_design(S)
    assert design.norms_sq.tolist() == [9.0, 16.0]
    assert S.nnz == 3


def corrupt(field, place, value):
    S = sp.csr_array(np.eye(4))
    getattr(S, field)[place] = value
    return S


@pytest.mark.parametrize(
    ("S", "fault"),
    [
        (corrupt("indices", 2, 4), "column index lies outside"),
        (corrupt("indices", 2, -1), "column index lies outside"),
        (corrupt("indices", 0, 2**31 - 1), "column index lies outside"),
        (corrupt("indptr", 2, 9), "must not fall"),
        (corrupt("indptr", 1, -3), "must not fall"),
        (corrupt("indptr", 0, 1), "must start at 0"),
        (corrupt("indptr", 4, 40), "must end at"),
    ],
)
def test_corrupt_csr_is_refused_before_it_is_read(S, fault):
    with pytest.raises(ValueError, match=f"corrupt CSR matrix of shape .*{fault}"):
        as_design(S)


def test_other_corrupt_formats_are_refused_before_a_conversion_reads_them():
    columns, places = sp.csc_array(np.eye(4)), sp.coo_array(np.eye(4))
    columns.indices[1] = 77
    places.coords[0][1] = 77
    falling = sp.csc_array(np.eye(4))
    falling.indptr[2] = 9
    for S in (columns, places, falling):
        for check in (as_design, check_structure):
            with pytest.raises(ValueError, match=r"corrupt (CSC|COO) matrix"):
                check(S)


def test_other_value_types_are_refused():
    with pytest.raises(TypeError, match="float32 or float64"):
        as_design(np.eye(2, dtype=int))
    with pytest.raises(TypeError, match="float32 or float64"):
        as_design(sp.csr_array(np.eye(2, dtype=int)))


def test_kinds():
    assert isinstance(as_design(np.eye(2)), Dense)
    assert isinstance(as_design(sp.csr_array(np.eye(2))), Sparse)


def test_spare_capacity_behind_a_csr_matrix_is_not_read():
    S = sp.csr_array(np.eye(3))
    S.data, S.indices = np.append(S.data, 7.0), np.append(S.indices, np.int32(99))
    assert math.isclose(as_design(S).scores(np.ones(3)).sum(), 3.0)


@pytest.mark.parametrize("stored", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_transposed_design_holds_the_columns_in_their_own_type(stored, dtype):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(7, 4)).astype(dtype) * (rng.uniform(size=(7, 4)) < 0.6)
    design = as_design(stored(X))
    columns = design.transposed()
    assert (columns.n, columns.d, columns.dtype) == (4, 7, dtype)
    w, a, h = rng.normal(size=4), rng.normal(size=7), rng.uniform(size=7)
    assert np.allclose(columns.scores(a), design.combine(a), rtol=1e-14)
    assert np.allclose(columns.combine(w), design.scores(w), rtol=1e-14)
    some = np.array([2, 0])
    wide = X.astype(np.float64)[:, some]
    assert np.allclose(columns.weighted_inner(some, h), wide.T @ (h[:, None] * wide), rtol=1e-13)

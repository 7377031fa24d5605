from collections import Counter

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from maxmargin import _native
from maxmargin.kernels import AMINO_ACIDS, NUCLEOTIDES, Gaussian, Linear, Sequences, Spectrum, WeightedDegree
from maxmargin.testing import check_kernel

dna = st.lists(st.text("ACGTN", max_size=12), min_size=1, max_size=8)
KERNELS = [
    Spectrum(1),
    Spectrum(3),
    Spectrum(2, NUCLEOTIDES),
    WeightedDegree(1),
    WeightedDegree(3),
    WeightedDegree(4, "ACGT"),
]


def kmers(x, k, alphabet):
    every = (x[t : t + k] for t in range(len(x) - k + 1))
    return Counter(s for s in every if alphabet is None or set(s) <= set(alphabet))


def by_counting(kernel, x, z):
    """The kernel by its definition, one substring at a time."""
    if isinstance(kernel, Spectrum):
        counts = kmers(z, kernel.k, kernel.alphabet)
        return sum(n * counts[s] for s, n in kmers(x, kernel.k, kernel.alphabet).items())
    d, total = kernel.degree, 0.0
    for length in range(1, d + 1):
        beta = 2 * (d - length + 1) / (d * (d + 1))
        for t in range(min(len(x), len(z)) - length + 1):
            s = x[t : t + length]
            total += beta * (s == z[t : t + length] and (kernel.alphabet is None or set(s) <= set(kernel.alphabet)))
    return total


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
@given(left=dna, right=dna)
def test_brute_force_counting(kernel, left, right):
    K, error = kernel.block(left, right), kernel.error(left, right)
    expected = np.array([[by_counting(kernel, x, z) for z in right] for x in left])
    rounding = 2.0**-50 * expected if isinstance(kernel, WeightedDegree) else 0.0  # of the sums by definition
    assert (np.abs(K - expected) <= error + rounding).all()
    if isinstance(kernel, Spectrum):
        assert not error.max(initial=0.0) > 1e-300


@pytest.mark.parametrize("kernel", [*KERNELS, Spectrum(2).normalized(), Spectrum(1) + Spectrum(2) * 0.5], ids=repr)
@pytest.mark.parametrize("seed", range(3))
def test_laws(kernel, seed):
    rng = np.random.default_rng(seed)
    strings = ["".join(rng.choice(list("ACGTN"), size=rng.integers(0, 15))) for _ in range(20)]
    check_kernel(kernel, [*strings, "", strings[0]])


def test_the_protein_of_the_notes():
    """001: φ counts 4-mers; BAJT occurs twice, TSIA once in BAJTSIAIBAJTAU. B, J and U name no amino acid of the twenty."""
    protein = "BAJTSIAIBAJTAU"
    assert Spectrum(4)(protein, "BAJT") == 2.0
    assert Spectrum(4)(protein, "TSIA") == 1.0
    assert Spectrum(4)(protein, "AAAA") == 0.0
    assert Spectrum(4)(protein, protein) == 13.0  # 2² + 9 others once
    assert Spectrum(4, AMINO_ACIDS)(protein, "BAJT") == 0.0
    assert Spectrum(4, AMINO_ACIDS)(protein, protein) == 2.0  # TSIA and SIAI alone hold no unknown letter


def test_the_explicit_map_has_a_column_per_kmer():
    strings = ["ACDEACDE", "", "ACDYXACDE"]
    features = Spectrum(4, AMINO_ACIDS).features(strings)
    assert features.shape == (3, 160_000)
    assert features.nnz == 6  # of ACDEACDE: ACDE twice, CDEA, DEAC, EACD; of the last: ACDY, ACDE
    assert np.array_equal((features @ features.T).toarray(), Spectrum(4, AMINO_ACIDS).block(strings))
    assert features[0, 0 * 8000 + 1 * 400 + 2 * 20 + 3] == 2.0  # ACDE in the order of the alphabet
    with pytest.raises(ValueError, match="give an alphabet"):
        Spectrum(4).features(strings)


@given(dna)
def test_features_of_dna(strings):
    kernel = Spectrum(3, "ACGT")
    features = kernel.features(strings)
    assert features.shape == (len(strings), 64)
    assert np.array_equal((features @ features.T).toarray(), kernel.block(strings))


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_empty_and_short_strings_are_0(kernel):
    K = kernel.block(["", "AC", "ACGTACGT"])
    assert K[0].tolist() == [0.0, 0.0, 0.0]
    assert kernel("", "") == 0.0
    assert kernel.block([]).shape == (0, 0)
    assert kernel.block([], ["A"]).shape == (0, 1)
    assert kernel.block([""], [""]).tolist() == [[0.0]]
    assert kernel.normalized().block(["", "ACGTACGT"]).tolist() == [[0.0, 0.0], [0.0, 1.0]]


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_every_form_of_input_gives_the_same_bits(kernel):
    strings = ["ACGTAC", "", "GTACNA", "ACGTAC"]
    K = kernel.block(strings)
    buffer = np.frombuffer("".join(strings).encode(), dtype=np.uint8)
    forms = [
        [each.encode() for each in strings],
        np.array(strings),
        np.array(strings, dtype=object),
        pd.Series(strings, dtype="string"),
        pd.Series(strings, index=[3, 1, 2, 0]),
        Sequences(buffer, np.array([0, 6, 6, 12, 18])),
    ]
    for form in forms:
        assert np.array_equal(kernel.block(form), K)


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_threads_change_no_bit(kernel):
    rng = np.random.default_rng(0)
    strings = ["".join(rng.choice(list("ACGT"), size=60)) for _ in range(400)]
    one = kernel.block(strings)
    for threads in (2, 3):
        assert np.array_equal(kernel.block(strings, threads=threads), one)


def test_parts_of_a_buffer_are_profiled_alone():
    strings = [f"{'ACGT'[i % 4]}{'AC' * (i % 5)}" for i in range(5000)]  # three parts
    K = Spectrum(2).block(strings[:4], strings)
    for j in (0, 2047, 2048, 4999):
        assert K[:, j].tolist() == [by_counting(Spectrum(2), x, strings[j]) for x in strings[:4]]


def test_weighted_degree_of_aligned_windows():
    kernel = WeightedDegree(2)  # β = 2/3, 1/3
    assert kernel("ACGT", "ACGT") == pytest.approx(4 * 2 / 3 + 3 / 3, rel=1e-15)
    assert kernel("ACGT", "AGGT") == pytest.approx(3 * 2 / 3 + 1 / 3, rel=1e-15)
    assert kernel("ACGT", "CGTA") == 0.0  # shifted strings share no place


def test_words_of_the_longest_length():
    assert Spectrum(8)("\x00" * 9, "\x00" * 8) == 2.0
    long = "ACGT" * 8
    assert Spectrum(32, "ACGT")(long + "A", long) == 1.0
    assert Spectrum(64, "A")("A" * 65, "A" * 64) == 2.0


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: Spectrum(0), r"Spectrum\(k=0\): k must be a whole number of 1 or more"),
        (lambda: Spectrum(9), "k must be at most 8 for letters of 8 bits"),
        (lambda: Spectrum(13, AMINO_ACIDS), "k must be at most 12 for letters of 5 bits"),
        (lambda: Spectrum(2, "AA"), "distinct ASCII letters"),
        (lambda: Spectrum(2, ""), "distinct ASCII letters"),
        (lambda: Spectrum(2, ["A"]), "distinct ASCII letters"),
        (lambda: WeightedDegree(0), r"WeightedDegree\(degree=0\)"),
        (lambda: WeightedDegree(2, "é"), "distinct ASCII letters"),
    ],
)
def test_broken_conditions_are_said_in_words(build, message):
    with pytest.raises(ValueError, match=message):
        build()


def test_numbers_and_strings_do_not_mix():
    for kernel in (Spectrum(2), WeightedDegree(2)):
        with pytest.raises(TypeError, match="for strings"):
            kernel.block(np.eye(2))
        with pytest.raises(TypeError, match="for strings"):
            kernel.diagonal(np.eye(2))
    for kernel in (Linear(), Gaussian()):
        with pytest.raises(TypeError, match="for numbers"):
            kernel.block(["A"], ["C"])
    with pytest.raises(TypeError, match="for numbers"):
        (Spectrum(1) + Linear()).block(["A"])


def test_the_binding_refuses_what_would_read_beyond_its_arrays():
    letters, start = np.zeros(4, dtype=np.uint8), np.array([0, 2, 4])
    flags, worth, K = np.ones(256, dtype=bool), np.array([0.0, 1.0]), np.empty((2, 2))
    _native.weighted_degrees(letters, start, letters, start, flags, worth, K, 1)
    with pytest.raises(ValueError, match="inside the buffer"):
        _native.weighted_degrees(letters[:3], start, letters, start, flags, worth, K, 1)
    with pytest.raises(ValueError, match="must rise"):
        _native.weighted_degrees(letters, np.array([0, 3, 2, 4]), letters, start, flags, worth, np.empty((3, 2)), 1)
    with pytest.raises(ValueError, match="one row and column"):
        _native.weighted_degrees(letters, start, letters, start, flags, worth, np.empty((2, 3)), 1)
    words, counts, at = np.zeros(2, dtype=np.uint64), np.ones(2), np.array([0, 1, 2])
    with pytest.raises(ValueError, match="must name columns"):
        _native.spectrum(words, counts, at, words[:1], np.array([0, 2]), np.array([0, 2]), counts, K, 1)

"""The command line: `maxmargin demo` and `maxmargin versions`. Only the public API is used."""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence

from maxmargin import LinearSVC, show_versions


def demo() -> None:
    """Train on the breast cancer data that ships with scikit-learn, and say what the certificate means."""
    from sklearn.datasets import load_breast_cancer
    from sklearn.model_selection import train_test_split
    from sklearn.preprocessing import StandardScaler

    X, y = load_breast_cancer(return_X_y=True)
    X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.3, random_state=0, stratify=y)
    scaler = StandardScaler().fit(X_train)
    X_train, X_test = scaler.transform(X_train), scaler.transform(X_test)
    print(f"Breast cancer: {len(X_train)} tumours to learn from, {X_train.shape[1]} measurements each.")

    started = time.perf_counter()
    machine = LinearSVC(C=0.1, tol=1e-6).fit(X_train, y_train)
    seconds = time.perf_counter() - started
    print(
        f"LinearSVC(C=0.1, tol=1e-6), squared hinge, free intercept: {seconds * 1e3:.1f} ms, {machine.n_iter_} iterations.\n"
    )
    print(machine.certificate_, "\n")
    print("Proved again from the data and the published numbers alone, with every rounding error bounded:")
    rigorous = machine.certificate_.verify(X_train, y_train, precision="rigorous")
    print(
        f"  the optimum lies in [{rigorous.dual:.12g}, {rigorous.primal:.12g}], a relative gap of {rigorous.relative_gap:.1e}.\n"
    )
    print(f"What that means: no linear rule of this kind has an objective lower by more than {rigorous.gap:.1e}, so")
    print("more iterations cannot change the result. It says nothing about new data; for that:")
    print(f"  accuracy on {len(X_test)} tumours that were held out: {machine.score(X_test, y_test):.1%}.")


def main(arguments: Sequence[str] | None = None) -> int:
    """The entry point of the `maxmargin` command."""
    parser = argparse.ArgumentParser(prog="maxmargin", description="Large-margin learning with proof.")
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("demo", help="train on real data and print the certificate").set_defaults(run=demo)
    commands.add_parser("versions", help="print what a bug report needs").set_defaults(run=show_versions)
    parser.parse_args(arguments).run()
    return 0

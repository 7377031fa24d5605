"""Estimators: scikit-learn's conventions, and nothing else."""

from maxmargin.estimators.linear_svc import LinearSVC as LinearSVC

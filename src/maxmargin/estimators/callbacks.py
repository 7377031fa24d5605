"""scikit-learn's callbacks (1.9 and later), where they exist."""

from __future__ import annotations

from typing import Any

from maxmargin.solvers.base import Listener, Progress

try:
    from sklearn.callback import CallbackSupportMixin as CallbackSupportMixin
    from sklearn.callback import with_callbacks as with_callbacks
except ImportError:  # scikit-learn before 1.9

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """Stands in for scikit-learn's mixin."""

    def with_callbacks(method: Any) -> Any:
        """No callbacks: the method itself."""
        return method


class FitTask:
    """The fit of an estimator as scikit-learn's callbacks see it: one subtask per certificate."""

    def __init__(self, estimator: Any, X: Any, y: Any) -> None:
        self._estimator, self._data = estimator, {"X": X, "y": y}
        self._context = None
        if hasattr(estimator, "_skl_callbacks") and hasattr(estimator, "_init_callback_context"):
            self._context = estimator._init_callback_context(max_subtasks=None)
            self._context.call_on_fit_task_begin(estimator=estimator, **self._data)

    def hear(self, progress: Progress) -> bool:
        """Pass on a certificate; True when a callback asks to stop."""
        if self._context is None or not progress.certified:
            return False
        part = self._context.subcontext(task_name="certificate")
        part.call_on_fit_task_begin(estimator=self._estimator, **self._data)
        return bool(part.call_on_fit_task_end(estimator=self._estimator, **self._data))

    def end(self) -> None:
        """The fitted estimator is complete."""
        if self._context is not None:
            self._context.call_on_fit_task_end(estimator=self._estimator, reconstruction_attributes=dict, **self._data)


def listeners(verbose: int | bool, task: FitTask) -> Listener:
    """One listener for both: lines on standard output where verbose, and scikit-learn's callbacks."""

    def listen(progress: Progress) -> bool:
        if verbose and (progress.certified or verbose > 1):
            kind = "certified" if progress.certified else "estimated"
            print(f"{progress.seconds:9.2f} s  epoch {progress.epoch:5d}  {kind} relative gap {progress.relative_gap:.2e}")
        return task.hear(progress)

    return listen

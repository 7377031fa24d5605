from maxmargin import show_versions


def test_a_bug_report_names_versions_isa_and_threads(capsys):
    show_versions()
    out = capsys.readouterr().out
    for word in ("python", "maxmargin", "numpy", "scikit-learn", "isa", "threads", "OPENBLAS_CORETYPE"):
        assert word in out

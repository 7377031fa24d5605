import pytest

from maxmargin.cli import main


def test_demo_prints_a_certificate_and_what_it_means(capsys):
    assert main(["demo"]) == 0
    out = capsys.readouterr().out
    assert "no predictor of this kind gets below" in out
    assert "the optimum lies in [" in out
    accuracy = float(out.rsplit("held out: ", 1)[1].rstrip("%.\n"))
    assert accuracy > 93.0


def test_versions(capsys):
    assert main(["versions"]) == 0
    assert "scikit-learn" in capsys.readouterr().out


def test_no_command_is_an_error_in_words(capsys):
    with pytest.raises(SystemExit) as stopped:
        main([])
    assert stopped.value.code == 2
    assert "usage: maxmargin" in capsys.readouterr().err

"""The pages hold: examples run and print what the page says, quotations stand in the source, links lead somewhere.

In a page, a python block is run, in one namespace per page, and the text block right after it is what it prints. A block whose
first line is a comment that names a file quotes this file, word for word up to indentation; a line `...` leaves lines out. A
python block that starts with `# fragment` is not run.
"""

import contextlib
import io
import re
import textwrap
from dataclasses import dataclass
from pathlib import Path

import pytest

from maxmargin.solvers import SOLVERS

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
SOLVER_PAGES = sorted(path for path in (ROOT / "docs" / "solvers").glob("*.md") if path.stem != "index")
SECTIONS = ["Problem", "Dual", "Step", "Stopping", "Rate", "When to choose it", "Its loop", "Example"]
TWO_SCREENS = 125  # lines
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
NAMED_FILE = re.compile(r"(?:#|//) (\S+/\S+\.(?:py|hpp|cpp))$")
LINK = re.compile(r"\]\(([^)#\s]+)(?:#[^)]*)?\)")


@dataclass(frozen=True)
class Block:
    """A fenced block of a page; `follows` is the block before it where only blank lines are between."""

    language: str
    text: str
    line: int
    follows: "Block | None"

    @property
    def first(self):
        return self.text.split("\n", 1)[0]

    @property
    def quotes(self):
        """The file that it quotes."""
        named = NAMED_FILE.match(self.first)
        return named and named[1]

    @property
    def is_example(self):
        return self.language == "python" and not self.quotes and not self.first.startswith("# fragment")


def blocks(page):
    text, before, end = page.read_text(encoding="utf-8"), None, 0
    for fence in FENCE.finditer(text):
        adjacent = before is not None and not text[end : fence.start()].strip()
        before = Block(fence[1], fence[2], text.count("\n", 0, fence.start()) + 2, before if adjacent else None)
        end = fence.end()
        yield before


def name(page):
    return page.relative_to(ROOT).as_posix()


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_examples_print_what_the_page_says(page):
    namespace, printed = {"__name__": "__main__"}, {}
    for block in blocks(page):
        if block.is_example:
            out = io.StringIO()
            with contextlib.redirect_stdout(out):
                exec(compile("\n" * (block.line - 1) + block.text, str(page), "exec"), namespace)
            printed[block] = out.getvalue()
        elif block.language == "text":
            assert block.follows in printed, f"{name(page)}:{block.line}: an output without the example that prints it"
            assert printed.pop(block.follows) == block.text, f"{name(page)}:{block.line}"
    silent = [block.line for block, out in printed.items() if out]
    assert not silent, f"{name(page)}: the examples at lines {silent} print what the page does not show"


def where(part, source, start):
    """The line after the first place from `start` on where the source holds the part, up to indentation."""
    wanted = textwrap.dedent("\n".join(part))
    for at in range(start, len(source) - len(part) + 1):
        if textwrap.dedent("\n".join(source[at : at + len(part)])) == wanted:
            return at + len(part)
    return None


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_quotations_stand_in_the_source(page):
    for block in blocks(page):
        assert block.quotes or block.language != "cpp", f"{name(page)}:{block.line}: C++ names the file it is from"
        if not block.quotes:
            continue
        source, at = (ROOT / block.quotes).read_text(encoding="utf-8").splitlines(), 0
        for part in re.split(r"^\s*\.\.\.\n", block.text.split("\n", 1)[1], flags=re.MULTILINE):
            at = where(part.splitlines(), source, at)
            assert at is not None, f"{name(page)}:{block.line} is not, in this order, in {block.quotes}:\n{part}"


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_links_lead_somewhere(page):
    links = [link for link in LINK.findall(FENCE.sub("", page.read_text(encoding="utf-8"))) if "://" not in link]
    broken = [link for link in links if not (page.parent / link).exists()]
    assert not broken


@pytest.mark.parametrize("page", SOLVER_PAGES, ids=name)
def test_a_solver_page_has_every_section_on_two_screens(page):
    text = page.read_text(encoding="utf-8")
    assert [line[3:] for line in text.splitlines() if line.startswith("## ")] == SECTIONS
    assert len(text.splitlines()) <= TWO_SCREENS
    assert any(block.quotes for block in blocks(page))
    assert any(block.language == "text" for block in blocks(page))


def test_every_solver_has_its_page_and_the_index_links_to_all():
    assert {*SOLVERS, "perceptron", "halfspace_lp"} == {page.stem for page in SOLVER_PAGES}
    index = (ROOT / "docs" / "solvers" / "index.md").read_text(encoding="utf-8")
    assert {link for link in LINK.findall(index) if "/" not in link} == {page.name for page in SOLVER_PAGES}

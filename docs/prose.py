# SPDX-License-Identifier: GPL-2.0-only
"""Measures how readable the pages are, and finds words that no dictionary has: make prose."""

import re
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from markdown_it import MarkdownIt
from spellchecker import SpellChecker

ROOT = Path(__file__).resolve().parents[1]
WORDS = Path(__file__).with_name("words.txt")
# Tables that C++ writes: their words are those of help texts.
GENERATED = re.compile(r"<!-- generated: .*?<!-- end -->", re.DOTALL)

# Limits of a page. A paragraph is one bullet, one cell of a table or one block of text; sentences
# are counted outside tables and headings.
PARAGRAPH_WORDS = 90
SENTENCE_WORDS = 20  # the mean
WHAT_PER_1000 = 1.0
ALTERNATIVE_WORDS = 5  # of an image, at least: what is to be seen on it
HEADINGS = ("h1", "h2", "h3", "h4")


def pages(root=ROOT):
    """Return the pages of the project for people, sorted, without those that are generated."""
    folders = ("docs/**/*.md", "ns3-modules/*/README.md", "*.md")
    found = {page for folder in folders for page in root.glob(folder)}
    return sorted(page for page in found if page.parent != root / "docs" / "modules")


def paragraphs(text):
    """Yield paragraphs, bullets, headings and cells of a page in Markdown: kind and text.

    Code or a formula within a line counts as one word; addresses of links do not count.
    """
    text = re.sub(r"^:.*$", "", GENERATED.sub("", text), flags=re.MULTILINE)  # and directives
    as_text = {"text": lambda part: part.content, "code_inline": lambda part: "`x`"}
    kind = ""
    for token in MarkdownIt("commonmark").enable("table").parse(text):
        if token.type == "inline":
            parts = [as_text.get(part.type, lambda part: " ")(part) for part in token.children]
            yield kind, re.sub(r"\$\$.+?\$\$|\$[^$]+\$", "`x`", "".join(parts))
        else:
            kind = token.tag


def sentences(paragraph):
    """Return the sentences of a paragraph."""
    ends = re.sub(r"\b(e\.g|i\.e|cf|al|vs|Fig|Sec)\.", r"\1", paragraph)
    return [part for part in re.split(r"(?<=[.!?])\s+", ends) if re.search(r"\w", part)]


@dataclass
class Page:
    """The measures of one page: lists of what breaks a limit, and counts."""

    words: int = 0
    lengths: list = field(default_factory=list)  # words of each sentence outside tables
    whats: int = 0
    long: list = field(default_factory=list)  # starts of paragraphs that are too long
    unknown: set = field(default_factory=set)  # words that no dictionary has
    unsaid: list = field(default_factory=list)  # images without a text for those who do not see it

    @property
    def sentence_words(self):
        """Mean words of a sentence."""
        return sum(self.lengths) / max(1, len(self.lengths))

    @property
    def whats_per_1000(self):
        """Clauses that begin with the word, outside questions, per 1000 words."""
        return 1000 * self.whats / max(1, self.words)

    def complaints(self):
        """Return one line for each limit that the page breaks."""
        said = []
        if self.sentence_words > SENTENCE_WORDS:
            said.append(f"{self.sentence_words:.1f} words a sentence; at most {SENTENCE_WORDS}")
        if self.whats > 1 and self.whats_per_1000 > WHAT_PER_1000:
            said.append(
                f'{self.whats} clauses with "what"; at most {WHAT_PER_1000:g} in 1000 words'
            )
        said += [f"more than {PARAGRAPH_WORDS} words: {start} ..." for start in self.long]
        said += [f"an image without an alternative text: {path}" for path in self.unsaid]
        said += [f"no word that is known: {word}" for word in sorted(self.unknown)]
        return said


@cache
def dictionary():
    """Return the words that are known: English, and those of the field in words.txt."""
    known = SpellChecker()
    field_words = [line for line in WORDS.read_text().split("\n") if line[:1] not in ("", "#")]
    known.word_frequency.load_words(field_words)
    return known


def measure(text):
    """Return the `Page` of a text in Markdown."""
    page = Page()
    for alternative, path in re.findall(r"!\[([^\]]*)\]\(([^)]*)\)", text):
        if len(alternative.split()) < ALTERNATIVE_WORDS:
            page.unsaid.append(path)
    for kind, paragraph in paragraphs(text):
        count = len(paragraph.split())
        page.words += count
        if count > PARAGRAPH_WORDS:
            page.long.append(" ".join(paragraph.split()[:6]))
        for sentence in sentences(paragraph):
            if kind in ("p", "li"):
                page.lengths.append(len(sentence.split()))
            if not (sentence.endswith("?") or kind in HEADINGS):
                page.whats += len(re.findall(r"\b[Ww]hat\b", sentence))
        page.unknown |= unknown(paragraph)
    return page


def unknown(paragraph):
    """Return the words of a paragraph that no dictionary has; names with capitals are not asked."""
    plain = re.sub(r"https?://\S+|[\w./-]*[_/\d]\w*|\b\w*[a-z][A-Z]\w*", " ", paragraph)
    words = re.findall(r"(?<![\w'’-])[a-z]{4,}(?![\w])", plain)
    return dictionary().unknown(words)


def main():
    """Print a line for each page and one for each limit that it breaks."""
    broken = 0
    print(f"{'words':>6} {'a sentence':>10} {'what/1000':>9}  page")
    for path in pages():
        page = measure(path.read_text())
        print(f"{page.words:6} {page.sentence_words:10.1f} {page.whats_per_1000:9.1f}"
              f"  {path.relative_to(ROOT)}")  # fmt: skip
        for complaint in page.complaints():
            broken += 1
            print(f"{'':29}{complaint}")
    return 1 if broken else 0


if __name__ == "__main__":
    raise SystemExit(main())

# SPDX-License-Identifier: GPL-2.0-only
"""C++ that can be read: short files, short functions, and families that are their protocol."""

import re
from pathlib import Path

import pytest

from pyorch.scaffold import write

ROOT = Path(__file__).parents[1]
MODULES = ROOT / "ns3-modules"
EXAMPLE = ROOT / "docs" / "extending" / "ns3-modules"
SOURCES = [path for folder in (MODULES, EXAMPLE) for end in ("h", "cc") for path in
           sorted(folder.rglob(f"*.{end}"))]  # fmt: skip
NO_FUNCTION = re.compile(r"(if|for|while|switch|else|do|case|namespace|class|struct|enum|union)\b")
#: What a transport says to those who ask: how a capture shows its frames, what may be skipped.
NO_PROTOCOL = ("Describe",)


def functions(lines):
    """Yield first line and length of each function: signature and body, braces on their own."""
    for brace, line in enumerate(lines):
        if line.strip() != "{":
            continue
        first = brace
        while first and re.search(r"[^;{}:\s]\s*$", lines[first - 1].split("//")[0]):
            if lines[first - 1].strip().startswith(("#", "*", "/*")):
                break
            first -= 1
        signature = " ".join(part.strip() for part in lines[first:brace])
        if "(" not in signature or NO_FUNCTION.match(signature):
            continue
        end = line.replace("{", "}")
        last = next(i for i in range(brace, len(lines)) if lines[i].startswith(end))
        yield first + 1, last - first + 1


def code(folder):
    """Return the number of lines of code of a model: no comments, includes or namespaces."""
    n_lines = 0
    for path in [*folder.glob("model/*.h"), *folder.glob("model/*.cc")]:
        text = re.sub(r"^} // namespace.*$", "", path.read_text(), flags=re.M)
        text = re.sub(r"^(using )?namespace.*\n({\n)?", "", text, flags=re.M)
        text = re.sub(r"/\*(?s:.*?)\*/|//.*$", "", text, flags=re.M)
        for name in NO_PROTOCOL:
            text = re.sub(rf"^\w+\n\w+::{name}\((?s:.*?)^}}$", "", text, flags=re.M)
            text = re.sub(rf"^ .* {name}\(.*;$", "", text, flags=re.M)
        n_lines += len(re.findall(r"^ *[^# \n]", text, flags=re.M))
    return n_lines


def test_functions_are_found_whole():
    source = """\
    namespace ns3
    {
    template <typename T>
    void
    First(int a,
          int b)
    {
        if (a)
        {
        }
    }

    /// Two lines before its body.
    Second::Second()
        : m_x(1) // one
    {
    }
    """
    assert list(functions(source.splitlines())) == [(3, 9), (14, 4)]


def test_no_file_of_cpp_has_more_than_800_lines():
    assert SOURCES
    lengths = {path: len(path.read_text().splitlines()) for path in SOURCES}
    assert {path.name: n for path, n in lengths.items() if n > 800} == {}


def test_no_function_of_cpp_has_more_than_60_lines():
    found = [
        (f"{path.name}:{first}", length)
        for path in SOURCES
        for first, length in functions(path.read_text().splitlines())
    ]
    assert found
    assert [function for function in found if function[1] > 60] == []


def classes(text):
    """Yield name, number of methods and number of fields of each class that a header defines."""
    text = re.sub(r"/\*(?s:.*?)\*/|//.*$|^#.*$", "", text, flags=re.M)
    for found in re.finditer(r"^class (\w+)[^;{]*\n{\n((?s:.*?)^)};", text, re.M):
        body = found[2]
        while "{" in body:  # bodies, initial values and inner classes, from within
            body = re.sub(r"{[^{}]*}", ";", body)
        body = re.sub(r"<[^<>;]*>", "", re.sub(r"<[^<>;]*>", "", body))
        members = [member.strip() for member in body.split(";")]
        fields = [m for m in members if re.search(r"\bm_\w+(\s*=.*)?$", m) and "(" not in m]
        yield found[1], sum("(" in member for member in members), len(fields)


def test_methods_and_fields_are_counted():
    header = """\
class Wide final : public Base
{
  public:
    Wide(int a, // one
         int b)
        : m_a{a}
    {
    }

    std::map<int, std::function<void()>> Ask() const;
    bool IsOpen() const
    {
        return m_open && Ask().empty();
    }

  private:
    struct Inner
    {
        int x{0};
    };
    int m_a;
    std::vector<std::function<void()>> m_calls;
    bool m_open{false};
};
"""
    assert list(classes(header)) == [("Wide", 3, 3)]


def test_a_class_of_the_data_path_has_at_most_30_methods_and_20_fields():
    headers = [*(MODULES / "fabric" / "model").glob("*.h")]
    found = [counted for path in headers for counted in classes(path.read_text())]
    assert {"EventEngine", "Nic", "Switching", "Wires", "Links"} <= {name for name, _, _ in found}
    assert [c for c in found if c[1] > 30 or c[2] > 20] == []


@pytest.mark.parametrize(
    ("folder", "most"),
    [(MODULES / "spray", 80), (EXAMPLE / "aimd", 80), (MODULES / "roce", 470)],
    ids=lambda value: getattr(value, "name", value),
)
def test_a_family_is_its_protocol(folder, most):
    assert most / 3 < code(folder) <= most


def test_the_skeleton_of_a_transport_is_short(tmp_path):
    write("transport", "drum", tmp_path)
    assert 30 < code(tmp_path / "ns3-modules" / "drum") <= 80

# SPDX-License-Identifier: GPL-2.0-only
"""Files that a scenario names: they enter the name of a run by what they hold, not by their path.

A name in YAML is relative to the folder of the scenario. In a resolved spec a file is its path, so
that it is found again, and its SHA-256, so that a run is never made from another content.
"""

import hashlib
import io
import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from decimal import Decimal
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Any, BinaryIO
from xml.etree import ElementTree

import numpy as np
from pydantic import BeforeValidator, Field, ValidationInfo

from pyorch.errors import SpecError, did_you_mean, quoted
from pyorch.reading import check_file, read_bytes
from pyorch.spec.fields import FieldError
from pyorch.spec.limits import LARGEST_TABLE_BYTES, LARGEST_TEXT_BYTES, MOST_COLUMNS, MOST_ROWS
from pyorch.spec.yaml_lines import parse
from pyorch.units import parse_float, parse_whole

#: Environment: a folder in which each file that a spec names is called by its SHA-256, for a
#: machine that does not have it at its path.
BESIDE = "PYORCH_FILES"
_KEYS = {"path", "sha256"}
FileRef = dict[str, str]
TABLE_SUFFIXES = (".csv", ".parquet")
_MOST_LISTED = 20
_BLOCK_BYTES = 2**20
_LINE_END = re.compile(r"\r\n|\r|\n")


def _settle(value: object, info: ValidationInfo) -> FileRef:
    """Return path and digest of the file that a scenario names."""
    return _settled(value, info, LARGEST_TABLE_BYTES)


def _settle_streamed(value: object, info: ValidationInfo) -> FileRef:
    return _settled(value, info, None)


def _settled(value: object, info: ValidationInfo, most_bytes: int | None) -> FileRef:
    context = info.context or {}
    if context.get("stored") and isinstance(value, dict) and value.keys() == _KEYS:
        if not (isinstance(value["path"], str) and _is_digest(value["sha256"])):
            raise ValueError("a file of a resolved spec has a path and a SHA-256.")
        return dict(value)
    if not isinstance(value, str) or not value:
        raise ValueError(
            f"{quoted(value)} is not a file name. Write one, relative to the scenario."
        )
    path = Path(os.path.normpath(Path(context.get("folder", ".")) / value))
    beside = sorted(p.name for p in path.parent.glob("*") if p.is_file())
    near = did_you_mean(path.name, beside) if path.name not in beside else ""
    advice = f"The name is relative to the folder of the scenario.{near}"
    try:
        check_file(path, most_bytes, SpecError, advice)
        stat = path.stat()
        return {"path": str(path), "sha256": _digest(str(path), stat.st_mtime_ns, stat.st_size)}
    except SpecError as error:
        written = "" if value == str(path) else f"{quoted(value)}: "
        raise ValueError(f"{written}{error}") from None


def _is_digest(text: object) -> bool:
    return isinstance(text, str) and bool(re.fullmatch("[0-9a-f]{64}", text))


_FileName = Annotated[str, Field(min_length=1, description="A file, relative to the scenario.")]
#: A field that holds the name of a file in YAML, and its path and SHA-256 in a resolved spec.
InputFile = Annotated[dict[str, str], BeforeValidator(_settle, json_schema_input_type=_FileName)]
#: The same, of any size, for readers that do not keep it (`opened`).
StreamedFile = Annotated[
    dict[str, str], BeforeValidator(_settle_streamed, json_schema_input_type=_FileName)
]


@lru_cache(maxsize=256)
def _digest(path: str, _mtime_ns: int, _size: int) -> str:
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def without_paths(spec: object) -> Any:
    """Return a resolved spec in which each file is only what it holds."""
    if isinstance(spec, dict):
        kept = {"sha256"} if spec.keys() == _KEYS else spec.keys()
        return {key: without_paths(spec[key]) for key in kept}
    return [without_paths(part) for part in spec] if isinstance(spec, list) else spec


def files_of(spec: object) -> Iterator[FileRef]:
    """Yield path and digest of each file that a resolved spec names."""
    if isinstance(spec, dict):
        if spec.keys() == _KEYS:
            yield spec
        spec = list(spec.values())
    for part in spec if isinstance(spec, list) else []:
        yield from files_of(part)


def with_names(spec: object) -> Any:
    """Return a scenario of a resolved spec in which each file is its name again.

    Raises
    ------
    SpecError
        A file is gone, or holds something else than when the run was named.
    """
    if isinstance(spec, dict):
        if spec.keys() == _KEYS:
            with opened(spec):
                return spec["path"]
        return {key: with_names(value) for key, value in spec.items()}
    return [with_names(part) for part in spec] if isinstance(spec, list) else spec


def _place(path: str, sha256: str) -> str:
    """Return where a file is: at its path, or beside those of a run that came from elsewhere."""
    folder = os.environ.get(BESIDE)
    return str(beside) if folder and (beside := Path(folder, sha256)).is_file() else path


def _check(digest: str, path: str, sha256: str) -> None:
    if digest != sha256:
        raise SpecError(
            f"{path}: its content has changed since this run was named. Start again: the run of"
            " the new content has another name."
        )


@lru_cache(maxsize=16)
def _content(path: str, sha256: str) -> bytes:
    path = _place(path, sha256)
    content = read_bytes(path, LARGEST_TABLE_BYTES, SpecError, "Put it back.")
    _check(hashlib.sha256(content).hexdigest(), path, sha256)
    return content


@contextmanager
def opened(file: FileRef) -> Iterator[BinaryIO]:
    """Open a file of a resolved spec, of any size, for a reader that does not keep it.

    Raises
    ------
    SpecError
        It is gone, or holds something else than when the run was named.
    """
    path = _place(file["path"], file["sha256"])
    check_file(path, None, SpecError, "Put it back.")
    with open(path, "rb") as stream:
        stat = os.fstat(stream.fileno())
        _check(_digest(path, stat.st_mtime_ns, stat.st_size), path, file["sha256"])
        yield stream


def blocks(stream: BinaryIO, longest: int) -> Iterator[bytes]:
    """Yield a stream in pieces that end where a line ends.

    A longer line than `longest` comes without its middle, so that none is kept: it is longer still.
    """
    rest = b""
    while piece := stream.read(_BLOCK_BYTES):
        whole, end, rest_ = (rest + piece).rpartition(b"\n")
        rest = rest_ if len(rest_) <= 4 * longest else rest_[:longest] + rest_[-2 * longest :]
        if end:
            yield whole + end
    if rest:
        yield rest


def content(file: FileRef) -> bytes:
    """Return what a file of a resolved spec holds.

    Raises
    ------
    SpecError
        It is gone, or holds something else than when the run was named.
    """
    return _content(file["path"], file["sha256"])


def text(file: FileRef, key: str) -> str:
    """Return the text of a file; `key` of the scenario names it, for messages.

    Raises
    ------
    FieldError
        It is not UTF-8.
    """
    try:
        return content(file).decode("utf-8-sig")
    except UnicodeDecodeError:
        raise FieldError(key, f"{file['path']}: is not a text file. Name one.") from None


def yaml_value(file: FileRef, key: str) -> Any:
    """Return the value of a YAML or JSON file; `key` of the scenario names it, for messages.

    Raises
    ------
    FieldError
        It is no YAML, or nested too deep, or too much.
    """
    try:
        return parse(text(file, key), file["path"])[0]
    except SpecError as error:
        raise FieldError(key, str(error)) from None


def json_value(given: str, where: str, key: str) -> Any:
    """Return the value of a JSON text, from the file `where`; `key` of the scenario names it.

    Raises
    ------
    FieldError
        It is no JSON, nested too deep, or says a key twice: JSON would silently keep the last one.
    """

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) < len(pairs):
            names = [name for name, _ in pairs]
            twice = next(name for name in names if names.count(name) > 1)
            raise FieldError(key, f"{where}: key {quoted(twice)} stands twice. Keep one.")
        return found

    try:
        return json.loads(given, object_pairs_hook=once)
    except (ValueError, RecursionError) as error:
        raise FieldError(key, f"{where}: is no JSON: {str(error)[:80]}.") from None


def xml_root(
    file: FileRef, key: str, tag: str, most_bytes: int = LARGEST_TEXT_BYTES
) -> ElementTree.Element:
    """Return the first element of an XML file, without entities, since they may be bombs.

    Parameters
    ----------
    file : dict
        Path and SHA-256.
    key : str
        Key of the scenario that names the file, for messages.
    tag : str
        With which the file must begin.
    most_bytes : int
        Of the file [byte].

    Raises
    ------
    FieldError
        It is larger, no XML, begins with another element, or declares a document type.
    """
    where = file["path"]
    if (n_bytes := len(content(file))) > most_bytes:
        raise FieldError(key, f"{where}: {n_bytes} B; at most {most_bytes}.")
    given = text(file, key)
    if "<!DOCTYPE" in given or "<!ENTITY" in given:
        raise FieldError(key, f"{where}: declares a document type or entities. Take them out.")
    try:
        root = ElementTree.fromstring(given)
    except ElementTree.ParseError as error:
        raise FieldError(key, f"{where}: is no XML ({error}). Is the file cut off?") from None
    if root.tag != tag:
        raise FieldError(key, f"{where}: begins with {quoted(root.tag[:40])}, not with {tag}.")
    return root


def unused_of(root: ElementTree.Element, used: Mapping[str, str]) -> str:
    """Return what an XML file has and a reader does not use, as a remark lists it.

    Parameters
    ----------
    root : Element
        The first one.
    used : mapping of str to str
        Of each element that is used, the names of attributes, with blanks between them.
    """
    found: set[str] = set()
    for element in root.iter():
        if (known := used.get(element.tag)) is None:
            found.add(element.tag)
            continue
        found |= {f"{element.tag} {name}" for name in element.attrib.keys() - known.split()}
        if any((text or "").strip() for text in (element.text, *(its.tail for its in element))):
            found.add(f"text of {element.tag}")
    return listed(found)


def listed(names: Iterable[str]) -> str:
    """Return names of a file as a remark shows them: sorted, on one line, at most 20 of them."""
    found = sorted(names)
    more = f" and {len(found) - _MOST_LISTED} others" if len(found) > _MOST_LISTED else ""
    return ", ".join(quoted(name)[1:-1] for name in found[:_MOST_LISTED]) + more


def decimal(value: Any, where: str, key: str) -> Decimal:
    """Return a number from 0 to a billion, which a YAML file has at `where`, exactly.

    Raises
    ------
    FieldError
        It is something else.
    """
    plain = isinstance(value, int | float) and not isinstance(value, bool)
    if not plain or not 0 <= value < 1e9:
        raise FieldError(key, f"{where}: {quoted(value)} is no number from 0 to a billion.")
    return Decimal(str(value))


def numbered_lines(file: FileRef, key: str) -> list[tuple[int, list[str]]]:
    """Return line number and words of each line that is neither empty nor a comment (``#``).

    Parameters
    ----------
    file : dict
        Path and SHA-256.
    key : str
        Key of the scenario that names the file, for messages.
    """
    # Not splitlines(), which also breaks a line, and with it a comment, at form feeds and others.
    raw = _LINE_END.split(text(file, key))
    lines = ((number, line.split()) for number, line in enumerate(raw, 1))
    return [(number, words) for number, words in lines if words and words[0][0] != "#"]


def columns(
    file: FileRef, key: str, required: Mapping[str, type], optional: Mapping[str, type]
) -> dict[str, np.ndarray]:
    """Return the columns of a CSV or Parquet file.

    Parameters
    ----------
    file : dict
        Path and SHA-256.
    key : str
        Key of the scenario that names the file, for messages.
    required, optional : mapping of str to type
        Name of each column to ``int`` or ``float``; other columns are an error.

    Raises
    ------
    FieldError
        Not such a file, a column too few or too many, a cell that is empty or no such number.
    """
    path, known = file["path"], {**required, **optional}
    suffix = Path(path).suffix.lower()
    if suffix not in TABLE_SUFFIXES:
        raise FieldError(key, f"{path}: is neither {' nor '.join(TABLE_SUFFIXES)}. Convert it.")
    try:
        raw = io.BytesIO(content(file))
        table = _csv(raw, known) if suffix == ".csv" else _parquet(raw)
    except Exception as error:  # each parser has its own; all mean the same to a user
        why = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise FieldError(key, f"{path}: is no readable {suffix} table: {why}") from None
    names = table.column_names
    for name in required:
        if name not in names:
            raise FieldError(
                key, f"{path}: has no column '{name}'. It needs {', '.join(required)}."
                f"{did_you_mean(name, names)}",
            )  # fmt: skip
    for name in names:
        if name not in known:
            raise FieldError(
                key, f"{path}: column {quoted(name)} is not one of {', '.join(known)}."
                f"{did_you_mean(name, known)}",
            )  # fmt: skip
        if names.count(name) > 1:
            raise FieldError(key, f"{path}: column {quoted(name)} stands twice. Keep one.")
    return {
        name: _numbers(
            table[name],
            known[name],
            f"{path}: {name}",
            key,
            is_text=suffix == ".csv" and str(table[name].type) == "string",
        )
        for name in names
    }


def _csv(raw: io.BytesIO, known: Mapping[str, type]) -> Any:
    """Return an Arrow table of whole numbers, if there is nothing else, or of text: no cell is
    guessed to be a number, a date or missing.
    """
    from pyarrow import ArrowInvalid, csv, int64, string

    if raw.getvalue().count(b'"') % 2:  # Arrow would take the end of the file for the quote
        raise ValueError("a quoted cell does not end; is the file cut off?")
    head = raw.getvalue()[: raw.getvalue().find(b"\n") + 1] or raw.getvalue()
    if (n_columns := head.count(b",") + 1) > MOST_COLUMNS:
        raise ValueError(f"{n_columns} columns; at most {MOST_COLUMNS}")
    names = csv.open_csv(raw).schema.names

    def read(kind: Any) -> Any:
        options = csv.ConvertOptions(
            column_types=dict.fromkeys(names, kind), strings_can_be_null=False, null_values=[]
        )
        return csv.read_csv(
            io.BytesIO(raw.getvalue()), csv.ReadOptions(use_threads=False), convert_options=options
        )

    if {known.get(name) for name in names} == {int} and not raw.getvalue()[len(head) :].strip(
        b"0123456789,\r\n"
    ):
        with suppress(ArrowInvalid):  # else the cell is found in the text
            return read(int64())
    return read(string())


def _parquet(raw: io.BytesIO) -> Any:
    """Return an Arrow table without the index that pandas may have added."""
    from pyarrow import parquet

    file = parquet.ParquetFile(raw)
    if file.metadata.num_rows > MOST_ROWS:
        raise ValueError(f"{file.metadata.num_rows} rows; at most {MOST_ROWS}")
    names = file.schema_arrow.names
    if len(names) > MOST_COLUMNS:
        raise ValueError(f"{len(names)} columns; at most {MOST_COLUMNS}")
    return file.read([name for name in names if not name.startswith("__index_level_")])


def _has_plain_digits(column: Any) -> bool:
    """Return whether all cells are decimal digits of a whole number, perhaps with a minus."""
    import pyarrow.compute as pc

    if (pc.max(pc.binary_length(column)).as_py() or 0) <= 18 and pc.all(
        pc.and_(pc.string_is_ascii(column), pc.utf8_is_decimal(column))  # quicker than a pattern
    ).as_py():
        return True
    return pc.all(pc.match_substring_regex(column, "^-?[0-9]{1,18}$")).as_py()


def _numbers(column: Any, kind: type, where: str, key: str, is_text: bool) -> np.ndarray:
    """Return an Arrow column as int64 or float64; nothing is rounded and nothing is left out."""
    import pyarrow as pa

    dtype = np.int64 if kind is int else np.float64
    if is_text:
        import pyarrow.compute as pc  # takes a third of a second

        column = pc.utf8_trim(column, " \t")
        if kind is int and _has_plain_digits(column):
            return column.cast(pa.int64()).to_numpy()
    elif not (pa.types.is_integer(column.type) or pa.types.is_floating(column.type)):
        raise FieldError(key, f"{where}: holds {quoted(str(column.type))}, not numbers.")
    elif pa.types.is_integer(column.type) and column.type != pa.uint64() and not column.null_count:
        return column.cast(pa.int64()).to_numpy().astype(dtype)
    numbers = np.empty(len(column), dtype=dtype)
    for row, cell in enumerate(column.to_pylist()):
        try:
            # The shortest text of a float reads back as that float.
            word = cell if is_text else repr(cell)
            numbers[row] = parse_whole(word) if kind is int else parse_float(word)
        except ValueError:
            what = "a whole number of 64 bits" if kind is int else "a number"
            raise FieldError(
                key, f"{where}: row {row + 1}: {quoted(cell)} is not {what}."
            ) from None
    return numbers

"""Text out of files: packed, in any encoding, of any size; what is no text is told in one line."""

from __future__ import annotations

import bz2
import gzip
import lzma
from collections.abc import Callable
from pathlib import Path

import pytest

from TokenOptEnv.errors import BadInput, UnknownName
from TokenOptEnv.importing import text_blocks
from TokenOptEnv.importing.excerpt import take_excerpts
from TokenOptEnv.importing.near_miss import nearest
from TokenOptEnv.importing.quotes import LineRange, Wanted, line_range, survey
from TokenOptEnv.importing.sources import Source, find_sources, kind_of, source_named
from TokenOptEnv.importing.text_blocks import NotText, file_blocks
from TokenOptEnv.models import ArtifactKind

TEXT = "first line\nsecond: größer\nthird\n"


def read(path: Path, encoding: str | None = None) -> str:
    return "".join(block.text for block in file_blocks(path, path.name, encoding))


def written(folder: Path, data: bytes, name: str = "app.log") -> Path:
    file = folder / name
    file.write_bytes(data)
    return file


@pytest.mark.parametrize("pack", [bytes, gzip.compress, bz2.compress, lzma.compress], ids=["plain", "gz", "bz2", "xz"])
def test_a_packed_file_reads_like_a_plain_one(tmp_path: Path, pack: Callable[[bytes], bytes]) -> None:
    assert read(written(tmp_path, pack(TEXT.encode()))) == TEXT


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32"])
def test_an_encoding_is_told_by_its_first_bytes(tmp_path: Path, encoding: str) -> None:
    assert read(written(tmp_path, TEXT.encode(encoding))) == TEXT


def test_a_stray_line_of_another_program_is_read_in_its_own_encoding(tmp_path: Path) -> None:
    data = "grün\n".encode() + "grün\n".encode("cp1252") + b"green\n"
    (block,) = file_blocks(written(tmp_path, data), "app.log")
    assert (block.text, block.windows_1252_lines) == ("grün\ngrün\ngreen\n", 1)


def test_line_ends_of_windows_and_a_missing_last_one_make_no_difference(tmp_path: Path) -> None:
    assert read(written(tmp_path, b"one\r\ntwo\r\nthree")) == "one\ntwo\nthree\n"


def test_colours_and_control_characters_are_taken_out_as_a_terminal_does(tmp_path: Path) -> None:
    data = b"\x1b[1;31mERROR\x1b[0m pool\x07 empty\x1b]0;title\x07\tnow\n"
    assert read(written(tmp_path, data)) == "ERROR pool empty\tnow\n"


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"\x7fELF\x02\x01\x00\x00\x00\x00" * 50, "is binary"),
        (b"plain text at first\n" * 400 + b"\x00\x01\x02\n", "is binary"),
        (b"good\n\x81\x8d bad\n", r"app.log:2: is neither UTF-8 nor Windows-1252; name its encoding: --encoding"),
        (gzip.compress(TEXT.encode() * 100)[:60], "cannot be unpacked"),
        (b"PK\x03\x04rest", "is an archive of files; unpack it"),
        (b"\x28\xb5\x2f\xfd rest", "zstd"),
    ],
    ids=["binary", "binary later", "neither encoding", "cut short", "archive", "zstd"],
)
def test_what_is_no_text_is_one_clear_line(tmp_path: Path, data: bytes, expected: str) -> None:
    with pytest.raises(BadInput, match=expected) as caught:
        read(written(tmp_path, data))
    assert "\n" not in str(caught.value)


def test_a_named_encoding_that_is_wrong_is_told_with_its_line(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"app.log: is not shift_jis after line 1 .*--encoding"):
        read(written(tmp_path, b"one\n\xff\xff\xff\n"), "shift_jis")
    with pytest.raises(BadInput, match="no encoding 'klingon'"):
        find_sources([tmp_path], "klingon")


def test_a_line_longer_than_a_block_is_broken_between_characters(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(text_blocks, "BLOCK_BYTES", 64)
    monkeypatch.setattr(text_blocks, "_LONGEST_REST", 16)
    text = read(written(tmp_path, ("ü" * 500).encode()))
    assert text.replace("\n", "") == "ü" * 500
    assert max(len(line) for line in text.split("\n")) <= 80


def test_offsets_and_line_numbers_go_on_from_block_to_block(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text_blocks, "BLOCK_BYTES", 64)
    lines = [f"line number {number} of äöü" for number in range(200)]
    file = written(tmp_path, "\r\n".join(lines).encode())
    whole = "\n".join(lines) + "\n"
    for block in file_blocks(file, "app.log"):
        assert whole[block.offset : block.end] == block.text
        assert whole.count("\n", 0, block.offset) == block.first_line - 1


def test_a_quote_is_found_once_even_where_two_blocks_meet(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text_blocks, "BLOCK_BYTES", 64)
    lines = [f"entry {number:03d} is here" for number in range(100)]
    source = Source("app.log", ArtifactKind.LOG, written(tmp_path, "\n".join(lines).encode()))
    wanted = [Wanted("a fact", None, f"{lines[at]}\n{lines[at + 1]}") for at in range(99)]
    wanted += [Wanted("a fact", "app.log", LineRange(at, at + 3)) for at in range(1, 98)]
    seen = survey([source], wanted)
    assert [found.count for found in seen.found] == [1] * len(wanted)
    assert [found.hits[0].line for found in seen.found] == [*range(1, 100), *range(1, 98)]
    assert seen.found[-1].text == "\n".join(lines[96:100])
    whole = "\n".join(lines)
    assert all(whole[found.hits[0].start : found.hits[0].end] == found.text for found in seen.found)


def test_the_nearest_line_to_a_misspelt_quote_is_shown_with_its_place(tmp_path: Path) -> None:
    filler = [f"09:{n % 60:02d} INFO order {n} stored in {n % 9} ms, all is well" for n in range(500)]
    filler[321] = "09:21 ERROR pool exhausted: 20 of 20 connections in use"
    (tmp_path / "app.log").write_text("\n".join(filler))
    sources = find_sources([tmp_path])
    close = nearest("pool exausted: 20 of 20 conections", sources)
    assert close is not None
    assert (close.source, close.line, close.text) == ("app.log", 322, filler[321])
    with pytest.raises(BadInput, match=r"is not in 'app.log'; the nearest is app.log:322: '09:21 ERROR pool exhausted"):
        survey(sources, [Wanted("fact 'pool'", None, "Pool exhausted")])
    with pytest.raises(BadInput, match="no line there comes close"):
        survey(sources, [Wanted("fact 'pool'", None, "zqxj zqxj zqxj zqxj")])


def test_lines_past_the_end_and_lines_that_are_none_are_told(tmp_path: Path) -> None:
    (tmp_path / "app.log").write_text("one\ntwo\n\n\n")
    sources = find_sources([tmp_path])
    with pytest.raises(BadInput, match=r"lines 4-9 are not all in 'app.log', which ends at line 4"):
        survey(sources, [Wanted("fact 'x'", "app.log", LineRange(4, 9))])
    with pytest.raises(BadInput, match="are blank"):
        survey(sources, [Wanted("fact 'x'", "app.log", LineRange(3, 4))])
    for text in ("0", "9-3", "a-b", "1-400", ""):
        with pytest.raises(BadInput, match="fact 'x'"):
            line_range(text, "fact 'x'")


def test_a_folder_is_read_by_name_without_hidden_empty_and_binary_files(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    for name, data in {
        "b.log": b"b\n",
        "sub/a.conf": b"a = 1\n",
        ".git": b"x",
        "empty": b"",
        "z.png": b"\0" * 90,
    }.items():
        (tmp_path / name).write_bytes(data)
    sources = find_sources([tmp_path])
    assert [(source.name, source.kind.value) for source in sources] == [
        ("b.log", "log"),
        ("sub/a.conf", "config"),
        ("z.png", "log"),
    ]
    seen = survey(sources, [])
    assert [source.name for source in seen.sources] == ["b.log", "sub/a.conf"]
    assert seen.skipped["z.png"].startswith("is binary")
    with pytest.raises(NotText):
        survey(find_sources([tmp_path / "z.png"]), [])


def test_a_file_given_twice_is_read_once_and_two_of_one_name_are_told_apart(tmp_path: Path) -> None:
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "app.log").write_text(folder)
    found = find_sources([tmp_path / "a", tmp_path / "b", tmp_path / "a" / "app.log", tmp_path / "b"])
    assert [(source.name, source.path) for source in found] == [
        ("app.log", tmp_path / "a" / "app.log"),
        ("b/app.log", tmp_path / "b" / "app.log"),
    ]


def test_an_empty_folder_and_a_missing_one_are_told(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="holds no file to import"):
        find_sources([tmp_path])
    with pytest.raises(BadInput, match="there is no file or folder"):
        find_sources([tmp_path / "nothing"])


def test_a_file_is_named_by_as_much_of_its_end_as_is_clear() -> None:
    sources = [Source(name, kind_of(name)) for name in ("a/app.log", "b/app.log", "b/db.log.gz")]
    assert source_named("db.log", sources).name == "b/db.log.gz"
    assert source_named("a/app.log", sources).name == "a/app.log"
    with pytest.raises(BadInput, match=r"may be any of a/app.log, b/app.log"):
        source_named("app.log", sources)
    with pytest.raises(UnknownName, match=r"did you mean 'a/app.log'"):
        source_named("a/apq.log", sources)


def test_what_is_kept_lies_around_the_quotes_and_within_the_tokens(tmp_path: Path) -> None:
    lines = [f"09:00 INFO request {number:06d} served" for number in range(40_000)]
    (tmp_path / "big.log").write_text("\n".join(lines))
    (tmp_path / "other.log").write_text("\n".join(lines[:5_000]))
    sources = find_sources([tmp_path])
    seen = survey(sources, [Wanted("a fact", "big.log", lines[9_000]), Wanted("a fact", "big.log", lines[31_000])])
    hits = [hit for found in seen.found for hit in found.hits]
    big, other = take_excerpts(seen.sources, seen.extents, hits, 12_000)
    assert 10_000 < big.tokens + other.tokens <= 12_000
    kept = [line.number for run in big.runs for line in run]
    assert len(big.runs) == 2 and {9_001, 31_001} <= set(kept)
    assert abs((kept[0] + big.runs[0][-1].number) / 2 - 9_001) < 3
    assert other.runs[0][0].number == 1
    assert big.text.count("lines left out]") == 3
    assert big.dropped_tokens == pytest.approx(big.tokens * (40_000 - big.lines) / big.lines, rel=0.02)


def test_every_line_of_a_quote_is_kept_even_where_another_quote_lies_inside(tmp_path: Path) -> None:
    lines = [f"09:00 INFO request {number:06d} served by a worker with a rather long name" for number in range(5_000)]
    (tmp_path / "big.log").write_text("\n".join(lines))
    sources = find_sources([tmp_path])
    seen = survey(sources, [Wanted("a", "big.log", LineRange(100, 119)), Wanted("b", "big.log", LineRange(102, 102))])
    hits = [hit for found in seen.found for hit in found.hits]
    (excerpt,) = take_excerpts(seen.sources, seen.extents, hits, 1_000)
    assert set(range(100, 120)) <= {line.number for run in excerpt.runs for line in run}


def test_a_line_of_a_megabyte_keeps_the_part_around_its_quote(tmp_path: Path) -> None:
    addresses = " ".join(["203.0.113.111"] * 30_000)
    (tmp_path / "one.log").write_text(f"head\n{addresses} the point {addresses}\ntail\n")
    sources = find_sources([tmp_path])
    seen = survey(sources, [Wanted("a fact", None, "the point")])
    (excerpt,) = take_excerpts(seen.sources, seen.extents, seen.found[0].hits, 12_000)
    assert "the point" in excerpt.text and 7_000 < len(excerpt.text) < 9_000
    (line,) = [line.text for run in excerpt.runs for line in run if line.is_shortened]
    assert set(line.strip("…").split()) == {"203.0.113.111", "the", "point"}, "no address is cut in two"
    assert excerpt.shortened_lines == 1

"""Files put beside a prompt: stored by what is in them, whatever they are called."""

from __future__ import annotations

import asyncio
import hashlib
import os
import stat
from pathlib import Path
from typing import Any

import pytest
from server_client import Client, with_parameters

from cellwright.errors import SetupError, StoreError
from cellwright.server.application import Application
from cellwright.server.uploads import FILE_LIMIT_BYTES, TooLargeError, Uploads, shown_name

pytestmark = pytest.mark.server

DATA = b"region,sold\nnorth,12\n"
SHA = hashlib.sha256(DATA).hexdigest()
ODD_NAMES = [
    "..",
    "../../etc/passwd",
    "/etc/passwd",
    "....//....//etc/passwd",
    "..\\..\\windows\\system.ini",
    "C:\\boot.ini",
    "\\\\host\\share\\x",
    "%2e%2e%2fetc%2fpasswd",
    "a\x00.csv",
    "a\n.csv",
    "CON",
    "nul.csv",
    "aux.",
    ".",
    "",
    "   ",
    "~/.ssh/id_rsa",
    "-rf",
    "$(id).csv",
    "a" * 5_000,
    "\u202egnp.exe",
    "file.csv/../../x",
    "..%c0%af..",
    "a.csv\x00.png",
    "ＣＯＮ",
    "x.tar.gz",
]


def stored(shared: Application) -> list[Path]:
    folder = shared.uploads.folder
    return [file for file in folder.rglob("*") if file.is_file()]


def everything(shared: Application) -> set[str]:
    return {str(f) for f in shared.chooser.home().parent.rglob("*") if f.is_file()}


class TestUploads:
    async def test_a_file_is_stored_by_what_is_in_it(
        self, client: Client, shared: Application
    ) -> None:
        answer = await client.call("POST", "files?name=sales.csv", DATA)
        assert answer.status == 201
        assert answer.json == {
            "file": f"{SHA}.csv",
            "name": "sales.csv",
            "size_bytes": len(DATA),
            "mime": "text/csv",
            "library": "",
        }
        (file,) = stored(shared)
        assert file == shared.uploads.path(f"{SHA}.csv")
        assert file.read_bytes() == DATA
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
        assert stat.S_IMODE(shared.uploads.folder.stat().st_mode) == 0o700

    async def test_a_form_with_one_file_is_taken(self, client: Client) -> None:
        headers = {"Content-Type": "multipart/form-data; boundary=xx"}
        part = (
            b'--xx\r\nContent-Disposition: form-data; name="file"; filename="sales.csv"\r\n'
            b"Content-Type: text/csv\r\n\r\n" + DATA + b"\r\n"
        )
        answer = await client.call("POST", "files", part + b"--xx--\r\n", headers=headers)
        assert (answer.json["file"], answer.json["name"]) == (f"{SHA}.csv", "sales.csv")
        answer = await client.call("POST", "files", part * 2 + b"--xx--\r\n", headers=headers)
        assert (answer.status, answer.json["message"]) == (400, "The form holds 2 files.")
        answer = await client.call("POST", "files", b"nonsense", headers=headers)
        assert answer.status == 400

    async def test_the_same_file_is_stored_once(self, client: Client, shared: Application) -> None:
        for name in ("a.csv", "b.csv", "../c.csv"):
            await client.call("POST", with_parameters("files", name=name), DATA)
        assert len(stored(shared)) == 1

    @pytest.mark.parametrize("encoded", [True, False], ids=["parameter", "form"])
    async def test_no_name_leads_out_of_the_folder(
        self, client: Client, shared: Application, encoded: bool
    ) -> None:
        before = everything(shared)
        for name in ODD_NAMES:
            if encoded:
                answer = await client.call("POST", with_parameters("files", name=name), DATA)
            else:
                answer = await client.call("POST", "files", form(name), headers=FORM)
            if len(name) > 4_000 or answer.status == 400:
                continue
            assert answer.status == 201, name
            assert answer.json["file"].startswith(SHA)
            assert "/" not in answer.json["file"]
            shown = answer.json["name"]
            assert shown
            assert not set(shown) & set("/\\\x00\n\u202e"), name
            assert shown not in (".", "..")
        new = everything(shared) - before
        folder = str(shared.uploads.folder) + os.sep
        assert new
        assert all(file.startswith(folder) for file in new)
        assert all(Path(file).name.startswith(SHA) for file in new)

    async def test_a_file_of_the_largest_size_is_taken_and_a_larger_one_is_not(
        self, client: Client, shared: Application
    ) -> None:
        data = b"x" * FILE_LIMIT_BYTES
        assert (await client.call("POST", "files?name=a", data)).status == 201
        for more in (b"x", b"x" * 1_000_000):
            answer = await client.call("POST", "files?name=a", data + more)
            assert answer.status == 413
            assert "21.0 MB" in answer.json["message"] or "20 MB" in answer.json["message"]
            assert answer.json["hint"]
        assert len(stored(shared)) == 1

    async def test_one_far_too_large_is_refused_before_it_is_sent(
        self, client: Client, http_server_client: Any
    ) -> None:
        port = http_server_client.get_http_port()
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        lines = [
            f"POST {client.base_url}cellwright/v1/files?name=a HTTP/1.1",
            f"Host: 127.0.0.1:{port}",
            f"Authorization: token {client.token}",
            f"Content-Length: {400 * 1024 * 1024}",
        ]
        writer.write("\r\n".join([*lines, "", ""]).encode())
        assert b" 413 " in await asyncio.wait_for(reader.readline(), 10)
        writer.close()
        await writer.wait_closed()

    async def test_a_stranger_s_file_is_refused_before_it_is_sent(
        self, client: Client, http_server_client: Any
    ) -> None:
        port = http_server_client.get_http_port()
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        start = f"POST {client.base_url}cellwright/v1/files?name=a HTTP/1.1"
        writer.write(f"{start}\r\nHost: 127.0.0.1:{port}\r\nContent-Length: 9999\r\n\r\n".encode())
        assert b" 403 " in await asyncio.wait_for(reader.readline(), 10)
        writer.close()
        await writer.wait_closed()

    async def test_a_folder_that_cannot_be_written_is_said(
        self, client: Client, shared: Application
    ) -> None:
        shared.uploads.folder.parent.mkdir(parents=True, exist_ok=True)
        shared.uploads.folder.write_text("a file in its place")
        answer = await client.call("POST", "files?name=a.csv", DATA)
        assert answer.status == 409
        assert "cannot be written" in answer.json["message"]

    async def test_an_empty_file_is_a_file(self, client: Client) -> None:
        answer = await client.call("POST", "files?name=empty.txt", b"")
        assert (answer.status, answer.json["size_bytes"]) == (201, 0)


FORM = {"Content-Type": "multipart/form-data; boundary=xx"}


def form(name: str) -> bytes:
    quoted = name.replace("\\", "\\\\").replace('"', '\\"').encode()
    head = b'--xx\r\nContent-Disposition: form-data; name="file"; filename="' + quoted + b'"'
    return head + b"\r\n\r\n" + DATA + b"\r\n--xx--\r\n"


class TestTheFolder:
    def test_it_takes_no_more_than_its_share(self, tmp_path: Path) -> None:
        uploads = Uploads(tmp_path / "files", total_limit_bytes=100)
        uploads.store(b"a" * 60, "a")
        with pytest.raises(TooLargeError, match="60 bytes"):
            uploads.store(b"b" * 60, "b")
        assert uploads.store(b"a" * 60, "again").size_bytes == 60
        assert uploads.store(b"c" * 40, "c").size_bytes == 40

    def test_002_10_the_same_bytes_take_room_once_whatever_they_are_called(
        self, tmp_path: Path
    ) -> None:
        uploads = Uploads(tmp_path / "files", total_limit_bytes=100)
        names = [uploads.store(b"a" * 60, name).file for name in ("a.csv", "a.txt", "a")]
        assert len(set(names)) == 3
        assert len({uploads.path(name).stat().st_ino for name in names}) == 1

    def test_002_10_the_same_bytes_are_copied_where_files_cannot_have_two_names(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def refuse(*_: object) -> None:
            raise PermissionError

        monkeypatch.setattr(os, "link", refuse)
        uploads = Uploads(tmp_path / "files")
        first, second = (uploads.path(uploads.store(DATA, name).file) for name in ("a", "a.csv"))
        assert first.read_bytes() == second.read_bytes() == DATA
        assert stat.S_IMODE(second.stat().st_mode) == 0o600

    def test_002_10_what_no_run_was_given_goes_after_a_week(self, tmp_path: Path) -> None:
        uploads = Uploads(tmp_path / "files", used=lambda: {SHA})
        kept = [uploads.store(DATA, "given.csv").file, uploads.store(b"new", "new").file]
        old = uploads.store(b"old", "old").file
        foreign = tmp_path / "files" / "notes.d" / "notes.txt"
        foreign.parent.mkdir()
        foreign.write_text("not ours")
        for file in (uploads.path(kept[0]), uploads.path(old), foreign):
            os.utime(file, (0, 0))
        assert uploads.expire() == 1
        assert [uploads.path(file).exists() for file in kept] == [True, True]
        assert foreign.exists()
        with pytest.raises(SetupError, match="There is no file"):
            uploads.path(old)

    def test_002_10_naming_a_file_keeps_it_for_another_week(self, tmp_path: Path) -> None:
        uploads = Uploads(tmp_path / "files", used=frozenset)
        files = [uploads.store(data, "a").file for data in (b"named", b"again", b"forgotten")]
        for file in files:
            os.utime(uploads.path(file), (0, 0))
        uploads.path(files[0])
        uploads.store(b"again", "a")
        assert uploads.expire() == 1

    def test_002_10_nothing_goes_where_uses_cannot_be_told(self, tmp_path: Path) -> None:
        def fail() -> frozenset[str]:
            raise StoreError("The files of runs cannot be told.")

        uploads = Uploads(tmp_path / "files", 100, fail)
        file = uploads.path(uploads.store(b"a" * 60, "a").file)
        os.utime(file, (0, 0))
        with pytest.raises(StoreError):
            uploads.expire()
        with pytest.raises(TooLargeError):
            uploads.store(b"b" * 60, "b")
        assert file.exists()
        assert Uploads(tmp_path / "files").expire() == 0

    def test_002_10_a_full_folder_makes_room_of_what_nobody_used(self, tmp_path: Path) -> None:
        uploads = Uploads(tmp_path / "files", 100, frozenset)
        os.utime(uploads.path(uploads.store(b"a" * 60, "a").file), (0, 0))
        assert uploads.store(b"b" * 60, "b").size_bytes == 60
        assert len(list((tmp_path / "files").glob("*/*"))) == 1

    @pytest.mark.parametrize(
        ("data", "name", "mime"),
        [
            (b"%PDF-1.7", "a.png", "application/pdf"),
            (b"a,b\n", "a.png", "text/plain"),
            (b"", "a.png", "application/x-empty"),
        ],
    )
    def test_002_10_what_it_is_is_told_by_its_bytes(
        self, tmp_path: Path, data: bytes, name: str, mime: str
    ) -> None:
        assert Uploads(tmp_path).store(data, name).mime == mime

    def test_a_folder_that_cannot_be_made_is_told(self, tmp_path: Path) -> None:
        (tmp_path / "files").write_text("in the way")
        with pytest.raises(StoreError, match="files"):
            Uploads(tmp_path / "files").store(b"a", "a")

    def test_nothing_is_left_where_writing_fails(self, tmp_path: Path) -> None:
        uploads = Uploads(tmp_path)
        file = hashlib.sha256(b"a").hexdigest()
        (tmp_path / file[:2] / file / "x").mkdir(parents=True)
        (tmp_path / file[:2] / file).chmod(0o755)
        assert [f.name for f in (tmp_path / file[:2]).iterdir()] == [file]
        assert uploads.store(b"a", "a").file == file

    @pytest.mark.parametrize(
        "file",
        ["", "..", "../x", SHA[:-1], SHA.upper(), f"{SHA}/..", f"{SHA}.a/b", f"{SHA}\n", SHA],
    )
    def test_only_what_was_stored_can_be_named(self, tmp_path: Path, file: str) -> None:
        with pytest.raises(SetupError, match="There is no file"):
            Uploads(tmp_path).path(file)

    @pytest.mark.parametrize(
        ("name", "ending"),
        [
            ("a.CSV", ".csv"),
            ("a.tar.gz", ".tar.gz"),
            ("a.csv.gz", ".gz"),
            ("a", ""),
            ("a.", ""),
            ("a.b c", ""),
            ("a.verylongending", ""),
            ("a.数据", ""),
        ],
    )
    def test_a_plain_ending_is_kept(self, tmp_path: Path, name: str, ending: str) -> None:
        stored_file = Uploads(tmp_path).store(DATA, name)
        assert stored_file.file == SHA + ending
        assert Uploads(tmp_path).path(stored_file.file).read_bytes() == DATA


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("sales.csv", "sales.csv"),
        (" a b.csv ", "a b.csv"),
        ("数据.csv", "数据.csv"),
        ("../../x.csv", "x.csv"),
        ("C:\\data\\x.csv", "x.csv"),
        ("a\x00\n\u202eb.csv", "ab.csv"),
        ("..", "file"),
        ("", "file"),
        ("dir/", "file"),
        ("n" * 200 + ".csv", "n" * 100 + "…" + "n" * 15 + ".csv"),
    ],
)
def test_the_shown_name_is_the_last_part_on_one_line(name: str, shown: Any) -> None:
    assert shown_name(name) == shown

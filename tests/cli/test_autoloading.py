from pathlib import Path

from command_line import Shell


def test_the_magics_are_loaded_in_every_session_until_told_otherwise(
    shell: Shell, tmp_path: Path
) -> None:
    own = Shell(shell.folder, {**shell.environ, "IPYTHONDIR": str(tmp_path / "ipython")})
    enabled = own.run("enable", "--json")
    path = Path(enabled.document["path"])
    assert enabled.code == 0
    assert enabled.document["enabled"] is True
    assert path.is_file()
    assert path.is_relative_to(tmp_path / "ipython")
    disabled = own.run("disable")
    assert (disabled.code, disabled.err) == (0, "")
    assert "only with %load_ext cellwright" in disabled.out
    assert not path.exists()

import pytest
from command_line import Shell
from fake_service import FakeService, text, tool_call


def test_with_nothing_set_the_demo_model_is_found_well(shell: Shell) -> None:
    done = shell.run("doctor")
    assert done.code == 0, done.out
    assert "! key: No key is set: the demo model answers." in done.out
    assert "✓ tool calling: cellwright-demo calls tools." in done.out
    assert "✓ record: " in done.out


def test_nothing_is_sent_without_being_asked(shell: Shell) -> None:
    with FakeService([]) as service:
        done = shell.asking(service).run("doctor", "--json")
        assert service.requests == []
    assert done.code == 0
    checks = {check["name"]: check for check in done.document["checks"]}
    assert checks["tool calling"]["status"] == "skipped"
    assert done.document["ok"] is True


@pytest.mark.parametrize(
    ("answer", "mark"), [(tool_call("ping", {"word": "hello"}), "✓"), (text("hello"), "!")]
)
def test_tool_calling_is_tried_when_asked_for(shell: Shell, answer, mark: str) -> None:
    with FakeService([answer]) as service:
        done = shell.asking(service).run("doctor", "--send")
    assert f"{mark} tool calling:" in done.out


def test_a_failed_check_names_the_next_action(shell: Shell, free_port: int) -> None:
    nowhere = Shell(
        shell.folder,
        {
            **shell.environ,
            "CELLWRIGHT_BASE_URL": f"http://127.0.0.1:{free_port}",
            "CELLWRIGHT_MODEL": "m",
        },
    )
    done = nowhere.run("doctor")
    assert done.code == 1
    assert f"✗ endpoint: 127.0.0.1:{free_port} does not answer" in done.out
    assert "Check CELLWRIGHT_BASE_URL" in done.out
    assert nowhere.run("doctor", "--json").document["ok"] is False


def test_the_command_is_named_and_not_the_magic(shell: Shell) -> None:
    with FakeService([]) as service:
        done = shell.asking(service).run("doctor")
    assert "Try it with: cellwright doctor --send" in done.out

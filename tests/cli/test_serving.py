import json
import signal
import socket
import urllib.request

from command_line import Shell


def test_any_client_can_ask_the_demo_model_until_ctrl_c(shell: Shell) -> None:
    process = shell.start("demo-server")
    try:
        assert process.stdout is not None
        first = process.stdout.readline()
        url = first.split()[0]
        assert "rules, not a language model" in first
        with urllib.request.urlopen(f"{url}/models", timeout=10) as answer:
            models = json.load(answer)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=10)
    finally:
        process.kill()
    assert [model["id"] for model in models["data"]] == ["cellwright-demo"]
    assert (process.returncode, err) == (0, "")


def test_the_address_is_a_document_where_json_is_wanted(shell: Shell, free_port: int) -> None:
    process = shell.start("demo-server", "--port", str(free_port), "--json")
    try:
        assert process.stdout is not None
        lines = [process.stdout.readline()]
        while lines[-1].strip() != "}":
            lines.append(process.stdout.readline())
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=10)
    finally:
        process.kill()
    assert json.loads("".join(lines)) == {
        "base_url": f"http://127.0.0.1:{free_port}/v1",
        "model": "cellwright-demo",
    }
    assert process.returncode == 0


def test_a_port_that_is_taken_is_named(shell: Shell) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        done = shell.run("demo-server", "--port", str(port))
    assert done.code == 2
    assert f"Port {port} cannot be used" in done.err
    assert shell.run("demo-server", "--port", "99999").code == 2

"""One request of a tool: where it goes, how much it takes, how long it waits (002-77, 002-78)."""

from __future__ import annotations

import socket
import threading
import time

import pytest
from outside.http_service import Answered, HttpService, Received

from cellwright.errors import RunCancelled, SetupError, ToolError
from cellwright.external.web import HttpReply, HttpRequest, Reach, fetch, system_addresses
from cellwright.stopping import Stop

LOCAL = Reach(is_local=True, timeout_seconds=5.0)


def test_a_request_is_sent_as_it_is(service: HttpService) -> None:
    service.answers["/a/b"] = Answered({"x": 1})
    reply = fetch(HttpRequest(f"{service.url}/a/b?q=1", "POST", {"X-Y": "z"}, b"body"), LOCAL)
    assert (reply.status, reply.mime, reply.text()) == (200, "application/json", '{"x": 1}')
    (sent,) = service.received
    assert (sent.method, sent.path, sent.body) == ("POST", "/a/b?q=1", b"body")
    assert sent.headers["X-Y"] == "z"
    assert sent.headers["User-Agent"].startswith("cellwright/")


def test_002_78_without_consent_nothing_is_sent(service: HttpService) -> None:
    with pytest.raises(ToolError, match="private network"):
        fetch(HttpRequest(service.url), Reach())
    assert service.received == []


def test_002_78_a_name_is_resolved_once_and_what_it_was_is_connected_to(
    service: HttpService,
) -> None:
    answers = ["127.0.0.1", "169.254.169.254"]

    def rebinding(host: str, port: int) -> tuple[str, ...]:
        return (answers.pop(0),)

    service.answers["/first"] = Answered("", 302, {"Location": "/second"})
    service.answers["/second"] = Answered("here")
    port = service.url.rpartition(":")[2]
    url = f"http://rebinding.example:{port}/first"
    reply = fetch(HttpRequest(url), Reach(is_local=True, resolve=rebinding))
    assert reply.text() == "here"
    assert answers == ["169.254.169.254"]
    assert service.received[0].headers["Host"] == f"rebinding.example:{port}"


def test_002_78_other_hosts_are_not_followed(service: HttpService) -> None:
    port = service.url.rpartition(":")[2]
    for there in (
        f"http://localhost:{port}/",
        "http://169.254.169.254/latest",
        "http://127.0.0.1:1/",
    ):
        service.answers["/go"] = Answered("", 302, {"Location": there})
        with pytest.raises(ToolError, match="sends on to .* are not followed"):
            fetch(HttpRequest(f"{service.url}/go"), LOCAL)
    service.answers["/go"] = Answered("", 302, {"Location": "/go"})
    with pytest.raises(ToolError, match="on and on"):
        fetch(HttpRequest(f"{service.url}/go"), LOCAL)


def test_a_redirect_keeps_the_method_only_where_it_says_so(service: HttpService) -> None:
    service.answers["/end"] = Answered("x")
    for status, method in ((307, "POST"), (303, "GET")):
        service.answers["/go"] = Answered("", status, {"Location": "end"})
        fetch(HttpRequest(f"{service.url}/go", "POST", body=b"1"), LOCAL)
        assert service.received[-1].method == method


def test_a_redirect_to_https_on_the_same_host_is_followed(service: HttpService) -> None:
    port = service.url.rpartition(":")[2]
    service.answers["/go"] = Answered("", 301, {"Location": f"https://127.0.0.1:{port}/end"})
    with pytest.raises(ToolError, match="cannot be asked"):  # it speaks no TLS
        fetch(HttpRequest(f"{service.url}/go"), LOCAL)


def test_002_78_an_answer_is_not_read_past_its_limit(service: HttpService) -> None:
    service.answers["/"] = Answered("x" * 1_001)
    with pytest.raises(ToolError, match="more than 1,000 bytes"):
        fetch(HttpRequest(service.url), Reach(is_local=True, size_limit_bytes=1_000))


def test_002_77_a_slow_answer_is_given_up(service: HttpService) -> None:
    def wait(_: Received) -> Answered:
        service.go_on.wait(10)
        return Answered("late")

    service.answers["/"] = wait
    begun = time.monotonic()
    with pytest.raises(ToolError, match=r"did not answer within 0\.2 s"):
        fetch(HttpRequest(service.url), Reach(is_local=True, timeout_seconds=0.2))
    assert time.monotonic() - begun < 8


def test_stop_ends_the_wait(service: HttpService) -> None:
    stop = Stop()

    def wait(_: Received) -> Answered:
        stop.set()
        service.go_on.wait(10)
        return Answered("late")

    service.answers["/"] = wait
    begun = time.monotonic()
    with pytest.raises(RunCancelled):
        fetch(HttpRequest(service.url), LOCAL, stop)
    assert time.monotonic() - begun < 8


def test_a_place_where_nothing_listens_is_a_tool_error() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
        with pytest.raises(ToolError, match="cannot be asked: .*refused"):
            fetch(HttpRequest(f"http://127.0.0.1:{port}/"), LOCAL)
    with pytest.raises(SetupError):
        fetch(HttpRequest("no address"), LOCAL)


def test_the_next_address_is_tried(service: HttpService) -> None:
    service.answers["/"] = Answered("there")

    def two(host: str, port: int) -> tuple[str, ...]:
        return ("127.0.0.2", *system_addresses("127.0.0.1", port))

    assert fetch(HttpRequest(service.url), Reach(is_local=True, resolve=two)).text() == "there"


def test_stop_ends_the_wait_in_the_middle_of_an_answer_too() -> None:
    stop, over = Stop(), threading.Event()
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        server.listen()

        def drip() -> None:
            connection, _ = server.accept()
            with connection:
                connection.recv(1_000)
                connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nx")
                stop.set()
                over.wait(10)

        thread = threading.Thread(target=drip)
        thread.start()
        begun = time.monotonic()
        with pytest.raises(RunCancelled):
            fetch(HttpRequest(f"http://127.0.0.1:{server.getsockname()[1]}/"), LOCAL, stop)
        assert time.monotonic() - begun < 8
        over.set()
        thread.join()


def test_what_is_no_http_is_a_tool_error() -> None:
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        server.listen()

        def babble() -> None:
            connection, _ = server.accept()
            connection.recv(1_000)
            connection.sendall(b"what?\r\n\r\n")
            connection.close()

        thread = threading.Thread(target=babble)
        thread.start()
        with pytest.raises(ToolError, match="cannot be asked"):
            fetch(HttpRequest(f"http://127.0.0.1:{server.getsockname()[1]}/"), LOCAL)
        thread.join()


def test_bytes_that_are_no_text_are_read_as_they_can_be() -> None:
    assert HttpReply(200, "", b"a\xffb").text() == "a\ufffdb"

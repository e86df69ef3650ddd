"""Server-sent events out of bytes, however the bytes are cut."""

from __future__ import annotations

BYTE_ORDER_MARK = b"\xef\xbb\xbf"


class SSEDecoder:
    """Collects bytes and gives out the data of whole events.

    A line that starts with ``{`` counts as data: some services send an error as a bare JSON
    line in what they call an event stream.
    """

    def __init__(self) -> None:
        self._pending = b""
        self._data: list[bytes] = []
        self._started = False

    def feed(self, received: bytes) -> list[str]:
        """The data of the events that are whole now.

        Raises:
            UnicodeDecodeError: An event is not UTF-8.
        """
        self._pending += received
        if not self._started:
            self._pending = self._pending.removeprefix(BYTE_ORDER_MARK)
            self._started = True
        *lines, self._pending = self._pending.replace(b"\r\n", b"\n").split(b"\n")
        return self._events(lines)

    def end(self) -> list[str]:
        """What is left when the stream is over: an event that lacks its blank line.

        Raises:
            UnicodeDecodeError: It is not UTF-8.
        """
        lines, self._pending = [self._pending.rstrip(b"\r"), b""], b""
        return self._events(lines)

    def _events(self, lines: list[bytes]) -> list[str]:
        events = []
        for line in lines:
            if line.startswith(b"data:"):
                self._data.append(line[5:].removeprefix(b" "))
            elif line.startswith(b"{"):
                self._data.append(line)
            elif not line and self._data:
                events.append(b"\n".join(self._data).decode("utf-8"))
                self._data.clear()
        return events

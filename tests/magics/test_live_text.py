"""Text that is still being written."""

from __future__ import annotations

from magics.shown_events import Clock, PaperScreen

from cellwright_magics.display import Bundle, LiveText


def live() -> tuple[LiveText, PaperScreen, Clock]:
    screen, clock = PaperScreen(), Clock()
    return LiveText(screen, clock), screen, clock


def test_a_long_reply_is_drawn_about_ten_times_a_second() -> None:
    text, screen, clock = live()
    for number in range(1_000):
        text.add(f"word {number} ")
        clock.now += 0.0125  # eighty tokens a second
    text.finish("".join(f"word {number} " for number in range(1_000)))
    seconds = 12.5
    assert 8 <= len(screen.sent) / seconds <= 10
    assert len(screen.shown) == 1
    assert screen.plain[0].endswith("word 999 ")


def test_finished_paragraphs_of_a_large_reply_are_left_alone() -> None:
    text, screen, clock = live()
    whole = ""
    for number in range(4_000):
        piece = f"Paragraph {number} has a few words.\n\n"
        whole += piece
        text.add(piece)
        clock.now += 0.0125
    text.finish(whole)
    assert len(screen.shown) > 4
    assert "\n\n".join(part.strip("\n") for part in screen.plain) == whole.strip("\n")
    sent = sum(len(bundle.plain) for bundle in screen.sent)
    assert sent < 100 * len(whole)


def test_a_large_block_of_code_is_not_taken_apart() -> None:
    text, screen, clock = live()
    code = "```\n" + "x = 1\n\n" * 5_000
    text.add(code)
    clock.now += 1
    text.add("```")
    text.finish(code + "```")
    assert len(screen.shown) == 1


def test_nothing_is_drawn_for_blanks_alone() -> None:
    text, screen, _ = live()
    text.add("\n")
    text.finish("\n")
    assert screen.sent == []
    assert not text.has_text


def test_a_note_gives_way_to_text_and_stays_below_it() -> None:
    text, screen, clock = live()
    text.wait("waiting… 2 s")
    text.wait("waiting… 2 s")
    assert (screen.plain, len(screen.sent)) == (["waiting… 2 s"], 1)
    clock.now = 1
    text.add("Hello")
    assert screen.plain == ["Hello"]
    text.wait("waiting… 4 s")
    assert screen.markdown == ["Hello\n\n*waiting… 4 s*"]
    text.finish("Hello.")
    assert screen.plain == ["Hello."]


def test_a_reply_that_is_asked_for_anew_is_taken_back() -> None:
    text, screen, clock = live()
    text.add("a" * 30_000 + "\n\nrest")
    clock.now = 1
    text.void("Trying again in 3 s.")
    assert [plain.strip() for plain in screen.plain] == ["", "Trying again in 3 s."]
    text.add("b")
    text.finish("b")
    assert [plain.strip() for plain in screen.plain] == ["", "b"]


def test_the_whole_reply_counts_where_it_differs_from_its_pieces() -> None:
    text, screen, _ = live()
    text.add("a" * 30_000 + "\n\nrest")
    text.finish("something else")
    assert [plain.strip() for plain in screen.plain] == ["", "something else"]


def test_its_place_can_be_given_away() -> None:
    text, screen, _ = live()
    text.wait("waiting")
    assert text.is_shown
    assert text.replace(Bundle("code", "code")) == "display 0"
    assert screen.plain == ["code"]

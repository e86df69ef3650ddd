from cellwright.context.window import NEWEST_CHARACTERS, STUB_CHARACTERS, compact
from cellwright.record.messages import (
    ImagePart,
    Message,
    TextPart,
    ToolMessage,
    UserMessage,
    text_of,
)


def result(text: str) -> ToolMessage:
    return ToolMessage("a", "run_cell", (TextPart(text),))


def test_old_results_are_cut_harder_than_the_newest_two() -> None:
    messages: list[Message] = [UserMessage((TextPart("q" * 9_000),))]
    messages += [result("x" * 9_000) for _ in range(3)]
    shorter = compact(messages)
    assert shorter is not None
    lengths = [len(text_of(message).split(" [")[0]) for message in shorter]
    assert lengths == [9_000, STUB_CHARACTERS, NEWEST_CHARACTERS, NEWEST_CHARACTERS]


def test_pictures_go_first() -> None:
    picture = ToolMessage("a", "run_cell", (TextPart("a plot"), ImagePart("image/png", "QUJD")))
    assert compact([picture]) == [result("a plot")]


def test_nothing_to_gain_is_said_as_none() -> None:
    assert compact([UserMessage((TextPart("q"),)), result("short")]) is None

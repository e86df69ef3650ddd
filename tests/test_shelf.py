from cellwright.tools import Shelf


def test_texts_are_found_by_name_and_listed_oldest_first() -> None:
    shelf = Shelf()
    shelf.keep("a", "1")
    shelf.keep("b", "2")
    shelf.keep("a", "3")
    assert (shelf.get("a"), shelf.get("b"), shelf.get("c")) == ("3", "2", None)
    assert shelf.names() == ("b", "a")


def test_the_oldest_go_when_there_is_too_much_but_the_newest_always_stays() -> None:
    shelf = Shelf(kept_characters=10)
    shelf.keep("a", "x" * 6)
    shelf.keep("b", "x" * 6)
    assert shelf.names() == ("b",)
    shelf.keep("c", "x" * 50)
    assert shelf.names() == ("c",)

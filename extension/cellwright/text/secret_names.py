"""Whether a name speaks of a secret, and whether a value under such a name is one.

Names are read word by word: ``api_key`` and ``dbPassword`` are, ``KEYBOARD``, ``tokenizer``,
``max_tokens``, ``primary_key`` and ``TOKEN_URL`` are not.
"""

from __future__ import annotations

import enum
import functools
import itertools
import math
import re
from collections import Counter
from collections.abc import Iterator
from urllib.parse import unquote


class Strength(enum.Enum):
    """How much a name says of what it holds."""

    NONE = 0
    KEY = 1
    """A key or a token: what looks random is secret."""
    PASSWORD = 2
    """A password: whatever is no placeholder is secret."""


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
PASSWORD_WORDS = frozenset({"password", "passwd", "passphrase", "passcode", "pwd", "pword", "pw"})
PASSWORD_ENDS = ("password", "passwd", "passphrase", "passcode", "pwd", "passwort")
PASS_OWNERS = _words(
    "admin app db database email ftp http imap ldap login mail mongo my mysql pg postgres proxy "
    "redis root server service smtp sql ssh ssl sudo user vault vpn wifi"
)
GLUED_PASS = frozenset(f"{owner}pass" for owner in PASS_OWNERS)
KEY_WORDS = _words("secret secrets token key apikey dsn credential credentials creds auth webhook")
KEY_ENDS = ("secret", "token", "apikey", "accesskey", "secretkey", "privatekey", "authkey")
OPEN_KEYS = _words(
    "arrow cache column dict event feature foreign group hot index join json legend lookup map "
    "merge order partition primary pub public row shortcut sort state tag unique"
)
"""``public_key``, ``sort_key`` and the like are no secrets."""
SUFFIXES = _words("base64 b64 bedrock dev live new old plain prod production raw staging text")
NOT_VALUES = _words(
    "age alg algorithm attempts box cache change check class col column count dir directory "
    "enabled endpoint env error errors expires expiry factory field file files fn folder form "
    "format func generator header headers hint hook host id ids idx index input label len length "
    "level limit list manager map max message min mode model msg name names num option param "
    "params path pattern policy port position prefix prompt provider regex required reset "
    "result rule sep separator serializer server set size sock status strategy strength suffix "
    "template test timeout title tokens ttl type types uri url user username validator version "
    "view widget"
)
"""``TOKEN_URL``, ``password_file`` and ``secret_name`` say where or what, not the secret itself."""
EXACT_NAMES = frozenset({"pwd", "oldpwd"})
"""The shell's own folders."""
PLACEHOLDERS = _words(
    "admin anonymous any array bool boolean changeit changeme credentials default disabled dummy "
    "empty enabled environ env false float foo foobar getpass guest hidden input int "
    "invalid key localhost mysql nil none not_set notset null number object off "
    "optional pass passwd password plain postgres private prompt public pwd redacted "
    "required root sample secret self str string test test123 testing text todo token true "
    "undefined unknown unset user username wrong yes"
)
TEMPLATE_WORDS = (
    *("***", "...", "…", "xxxx", "•", "%(", "{{", "${", "«", "example", "placeholder"),
    *("changeme", "change-me", "change_me", "not-set", "not_set", "redacted", "your-", "your_"),
    *("your ", "lorem", "dummy"),
)
TEMPLATE_WORD = re.compile("|".join(map(re.escape, TEMPLATE_WORDS)))
TEMPLATE = re.compile(
    r"[<{\[].*[>}\]]\Z|[<{$%]|(?i:your|my|insert|enter|replace|change|put|add|paste|some|the|type"
    r"|choose|new|fake|mock)(?:[-_ ]|(?-i:(?<=[a-z])(?=[A-Z]))|\Z)",
    re.DOTALL,
)
TEMPLATE_ENDS = ("-here", "_here", " here", "-me", "_me")
LABEL = re.compile(r"(?i:pass ?word|passwort|passphrase|token|secret|api.?key|credential)")
CODE = re.compile(r"^[A-Za-z_]\w*(?:\.\w+)*$")
WORDED = re.compile(r"^(?:[A-Za-z]+[0-9]{0,4}|[0-9]{1,4})(?:[-_. :/+][A-Za-z]*[0-9]{0,4})*$")
DIGIT, DIGITS = re.compile("[0-9]"), re.compile("[0-9]+")
ADDRESS_PASSWORD = re.compile(r"[a-z][a-z0-9+.-]*://[^/:@?#]*:(.+)@[^@/]*(?:/|\Z)")
FIELD = re.compile(r"\{\w*\}")
ADDRESS = re.compile(r"^(?:[a-z][a-z0-9+.-]*:/|/|\./|~/|[A-Za-z]:\\|#)|^[\w.+-]+@[\w.-]+\.\w+$")
ODD_PASSWORD = re.compile(r"^(?=.*[a-z])(?=.*[A-Z])(?=.*[!#?^~%])\w[\w!#%^&*?@~+-]*$")
"""``Sommer-Regen!``: a bare word with signs in it that are rare in code without blanks."""
SHORTEST_PASSWORD, SHORTEST_KEY, SHORTEST_IN_ENVIRONMENT = 4, 8, 8
SHORTEST_JUMBLE = 12
RANDOM_BITS = 2.5


@functools.lru_cache(4_096)
def strength_of(name: str) -> Strength:
    """What a variable's, setting's or parameter's name says."""
    if name.lower() in EXACT_NAMES and name.isupper():
        return Strength.NONE
    words = [word.lower() for word in WORDS.findall(name)]
    while len(words) > 1 and (words[-1].isdigit() or words[-1] in SUFFIXES):
        words.pop()
    if not words or words[-1] in NOT_VALUES:
        return Strength.NONE
    last, before = words[-1], words[-2] if len(words) > 1 else ""
    if last in PASSWORD_WORDS or last in GLUED_PASS or last.endswith(PASSWORD_ENDS):
        return Strength.PASSWORD
    if last == "pass":
        is_owned = not before or before in PASS_OWNERS or name.isupper()
        return Strength.PASSWORD if is_owned else Strength.KEY
    if before in OPEN_KEYS and last == "key":
        return Strength.NONE
    if last in KEY_WORDS or last.endswith(KEY_ENDS):
        return Strength.KEY
    return Strength.NONE


def is_secret_value(value: str, strength: Strength, name: str, *, is_quoted: bool) -> bool:
    """Whether a value in code or a file is the secret its name speaks of.

    Args:
        value: As it is written, without quotes.
        strength: What the name says.
        name: The name: a value that repeats it is none.
        is_quoted: Whether it stood in quotes; otherwise it may be a name itself.
    """
    if strength is Strength.KEY and not _looks_random(value):
        return False
    if strength is Strength.NONE or is_placeholder(value, name) or ADDRESS.match(value):
        return False
    if not is_quoted and not _is_no_code(value, name, strength):
        return False
    return strength is Strength.KEY or (len(value) >= SHORTEST_PASSWORD and not _is_sentence(value))


def is_environment_secret(name: str, value: str) -> bool:
    """Whether an environment variable holds a secret; its name says enough."""
    if len(value) < SHORTEST_IN_ENVIRONMENT or value.lower() in PLACEHOLDERS:
        return False
    words = [word.lower() for word in WORDS.findall(name)]
    is_named = strength_of(name) is not Strength.NONE or (
        # AWS_ACCESS_KEY_ID is half of a pair
        words[-2:] == ["key", "id"] or "webhook" in words or words[-1:] in (["pat"], ["sas"])
    )
    is_address = value.startswith(("http://", "https://")) and "webhook" not in words
    is_path = value.startswith(("/", "~/", "./")) and "/" in value[1:]
    return is_named and not is_path and not (is_address and "@" not in value)


def find_passwords(value: str) -> Iterator[str]:
    """The passwords in an address, as written and as meant: ``scheme://user:password@host``."""
    found = ADDRESS_PASSWORD.match(value)
    if found and not is_placeholder(found.group(1)):
        yield found.group(1)
        yield unquote(found.group(1))


def is_placeholder(value: str, name: str = "") -> bool:
    """Whether a value only says that a secret belongs there: ``changeme``, ``<password>``."""
    if len(value) < 3 or len(set(value)) < 3:
        return True
    lowered = value.lower().strip()
    if lowered in PLACEHOLDERS or lowered == name.lower():
        return True
    if TEMPLATE_WORD.search(lowered) or TEMPLATE.match(value) or FIELD.search(value):
        return True
    if lowered.endswith(TEMPLATE_ENDS):
        return True
    return LABEL.search(value) is not None and not DIGIT.search(value)


def _is_no_code(value: str, name: str, strength: Strength) -> bool:
    """Whether a bare word is a value, not the name of one."""
    if value.endswith((":", ".")) or value.startswith(("=", "&", "|", "+", "@", "!", ">", ":")):
        return False
    digits = len(DIGITS.findall(value))
    if not CODE.match(value):
        is_odd = strength is Strength.PASSWORD and ODD_PASSWORD.search(value) is not None
        return digits > 0 or is_odd or (name.isupper() and "." not in value)
    # ``token = config.token`` and ``key: Ed25519Key`` are code, ``PASSWORD=hunter2`` is none.
    enough = 1 if strength is Strength.PASSWORD or name.isupper() else 2
    return "." not in value and digits >= enough and not value.isupper()


def _is_sentence(value: str) -> bool:
    return value.count(" ") > 5 or value.endswith((".", ":", "?", "! ")) and " " in value


def _looks_random(value: str) -> bool:
    if len(value) < SHORTEST_KEY or any(letter.isspace() for letter in value):
        return False
    # Words change between small and capital letters now and then, what is random all the time.
    changes = sum(a.islower() != b.islower() for a, b in itertools.pairwise(value))
    if len(value) >= SHORTEST_JUMBLE and changes * 3 >= len(value):
        return value.isascii()
    if WORDED.match(value):
        return False
    has_both = DIGIT.search(value) is not None and any(map(str.isalpha, value))
    return has_both and value.isascii() and _bits(value) >= RANDOM_BITS


def _bits(value: str) -> float:
    """Shannon's entropy of the characters."""
    counts = Counter(value).values()
    return -sum(count / len(value) * math.log2(count / len(value)) for count in counts)

"""Secrets that show themselves: by the format of a key, or by the name they are given.

Prefixes, alphabets and lengths of keys are facts from the published rules of gitleaks
(``config/gitleaks.toml``, July 2026) and from the services' own documentation.

Everything is found in linear time: every pattern begins with fixed characters and its repetitions
are bounded or end at a character that no later match can begin in.
"""

from __future__ import annotations

import enum
import functools
import itertools
import math
import re
import string
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import NamedTuple
from urllib.parse import parse_qsl, unquote

# Whether a name speaks of a secret, and whether a value under such a name is one.
#
# Names are read word by word: ``api_key`` and ``dbPassword`` are, ``KEYBOARD``, ``tokenizer``,
# ``max_tokens``, ``primary_key`` and ``TOKEN_URL`` are not.


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
SIGNATURES = ("code", "sig")
"""How Azure's functions and signed addresses call what lets somebody in."""
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


def find_query_secrets(url: str) -> Iterator[str]:
    """The secrets in the query of an address: values whose names speak of them."""
    for name, value in parse_qsl(url.partition("?")[2]):
        if is_environment_secret(name, value) or name.lower() in SIGNATURES:
            yield value


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


class FoundShape(NamedTuple):
    """Where a secret stands, and what kind it is."""

    start: int
    end: int
    kind: str


class _Key(NamedTuple):
    """The format of a key: what it begins with, and what it is made of."""

    kind: str
    mark: str
    alphabet: str
    expression: str

    @property
    def pattern(self) -> re.Pattern[str]:
        """Compiled when its mark is met first: there are 150 formats, and most are never met."""
        return _compile(self.expression)


@functools.cache
def _compile(expression: str) -> re.Pattern[str]:
    return re.compile(expression)


class _Surrounded(NamedTuple):
    """A secret that is known by what stands before it."""

    kind: str
    marks: tuple[str, ...]
    """One of these is in every text that has such a secret; looked for first, being quick."""
    pattern: re.Pattern[str]
    """The secret is the group."""
    unfinished: re.Pattern[str]
    """The end of a text that more text may make such a secret of, the group."""
    hint: bytes
    """Is in what has a mark, in small letters; quicker to look for than the marks."""


LETTERS_DIGITS, HEX, UPPER = "A-Za-z0-9", "A-Fa-f0-9", "A-Z0-9"
WORD, DOTTED, BASE64 = r"A-Za-z0-9_\-", r"A-Za-z0-9_.\-", r"A-Za-z0-9+/=_\-"


def _key(kind: str, mark: str, alphabet: str, rest: int | str) -> _Key:
    """A key that begins with ``mark``, at the start of a word.

    Args:
        kind: What the placeholder calls it.
        mark: Its first characters.
        alphabet: What may follow them, as the inside of a character class.
        rest: How many such characters a key has at least, or a pattern for them.
    """
    # The look-behind comes after the mark: a pattern that begins with fixed characters is
    # searched for many times faster.
    begin = rf"{re.escape(mark)}(?<![A-Za-z0-9_]{re.escape(mark)})"
    body = rest if isinstance(rest, str) else rf"[{alphabet}]{{{rest},}}"
    return _Key(kind, mark, alphabet, begin + body)


def _after(kind: str, mark: str, rest: str, unfinished: str) -> _Surrounded:
    """A secret that follows ``mark``."""
    fixed = re.escape(mark)
    return _Surrounded(
        kind,
        (mark,),
        re.compile(fixed + rest),
        re.compile(rf"{fixed}{unfinished}\Z"),
        b"~" if "~" in mark else mark.lower().encode(),
    )


KEY_FORMATS: dict[str, tuple[tuple[str, str, int | str], ...]] = {
    "api_key": (
        ("sk-", WORD, r"(?:[A-Za-z0-9]{20,}|[A-Za-z]{2,8}-[A-Za-z0-9_-]{16,})"),
        ("sess-", LETTERS_DIGITS, 32),
    ),
    "age_key": (("AGE-SECRET-KEY-1", UPPER, 50),),
    "airtable_token": (("pat", DOTTED, r"[A-Za-z0-9]{14}\.[a-f0-9]{40,}"),),
    "alibaba_key": (("LTAI", LETTERS_DIGITS, r"[A-Za-z0-9]{16,24}(?![A-Za-z0-9])"),),
    "anyscale_key": (("esecret_", LETTERS_DIGITS, 20),),
    "apify_token": (("apify_api_", LETTERS_DIGITS, 30),),
    "artifactory_key": (("AKCp", LETTERS_DIGITS, 64), ("cmVmd", LETTERS_DIGITS, 59)),
    "atlassian_token": (
        ("ATATT3", BASE64, 40),
        ("ATCTT3", BASE64, 40),
        ("ATBB", LETTERS_DIGITS, 28),
    ),
    "aws_key": (
        *(
            (mark, UPPER, r"[A-Z0-9]{16}(?![A-Za-z0-9])")
            for mark in ("AKIA", "ASIA", "ABIA", "ACCA")
        ),
        ("ABSK", BASE64, 80),
        ("bedrock-api-key-", BASE64, 30),
        ("amzn.mws.", DOTTED, 30),
    ),
    "buildkite_token": (("bkua_", HEX, 36),),
    "cerebras_key": (("csk-", LETTERS_DIGITS, 40),),
    "circleci_token": (("CCIPAT_", WORD, 30),),
    "clickhouse_key": (("4b1d", LETTERS_DIGITS, 38),),
    "clickup_token": (("pk_", LETTERS_DIGITS + "_", r"[0-9]{4,12}_[A-Z0-9]{28,}"),),
    "clojars_token": (("CLOJARS_", LETTERS_DIGITS, 50),),
    "cloudflare_key": (("v1.0-", HEX + "-", r"[a-f0-9]{24}-[a-f0-9]{100,}"),),
    "contentful_token": (("CFPAT-", WORD, 40),),
    "crates_token": (("cio", LETTERS_DIGITS, r"[A-Za-z0-9]{32}(?![A-Za-z0-9])"),),
    "databricks_token": (("dapi", HEX + "-", r"[a-f0-9]{32}(?:-[0-9])?(?![A-Za-z0-9])"),),
    "dbt_token": (("dbtc_", WORD, 36), ("dbtu_", WORD, 36)),
    "defined_networking_token": (("dnkey-", WORD, 40),),
    "digitalocean_token": tuple((f"do{letter}_v1_", HEX, 60) for letter in "opr"),
    "docker_token": (("dckr_pat_", WORD, 20), ("dckr_oat_", WORD, 20)),
    "doppler_token": tuple(
        (f"dp.{letters}.", DOTTED, 40) for letters in ("pt", "st", "sa", "ct", "scim", "audit")
    ),
    "dropbox_token": (("sl.", DOTTED + "=", 100),),
    "duffel_token": (("duffel_test_", BASE64, 40), ("duffel_live_", BASE64, 40)),
    "dynatrace_token": (("dt0c01.", DOTTED, 60), ("dt0s16.", DOTTED, 60)),
    "e2b_key": (("e2b_", HEX, 36),),
    "easypost_token": (("EZAK", LETTERS_DIGITS, 54), ("EZTK", LETTERS_DIGITS, 54)),
    "facebook_token": (("EAAC", LETTERS_DIGITS, 90), ("EAAM", LETTERS_DIGITS, 90)),
    "figma_token": (("figd_", WORD, 36), ("figu_", WORD, 36)),
    "firecrawl_key": (("fc-", HEX, 32),),
    "fireworks_key": (("fw_", LETTERS_DIGITS, r"[A-Za-z0-9]{22,48}(?![A-Za-z0-9])"),),
    "flutterwave_key": (("FLWSECK_TEST-", WORD, 12), ("FLWSECK-", WORD, 30)),
    "fly_token": (
        ("fo1_", WORD, 40),
        ("fm1a_", BASE64, 90),
        ("fm1r_", BASE64, 90),
        ("fm2_", BASE64, 90),
    ),
    "frameio_token": (("fio-u-", BASE64, 60),),
    "github_token": (
        *((f"gh{letter}_", LETTERS_DIGITS, 20) for letter in "pousr"),
        ("github_pat_", LETTERS_DIGITS + "_", 20),
    ),
    "gitlab_token": (
        ("glpat-", DOTTED, 16),
        *((f"gl{name}-", DOTTED, 20) for name in ("dt", "rt", "ft", "imt", "agent", "oas", "ptt")),
        *((f"gl{name}-", DOTTED, 20) for name in ("soat", "ffct", "cbt", "wt")),
        ("GR1348941", WORD, 20),
    ),
    "google_key": (
        ("AIza", WORD, 30),
        ("AQ.", WORD, 35),
        ("GOCSPX-", WORD, 24),
        ("ya29.", DOTTED, 30),
        ("1//0", WORD, 30),
    ),
    "grafana_token": (("eyJrIjoi", BASE64, 60), ("glc_", BASE64, 32), ("glsa_", WORD, 36)),
    "groq_key": (("gsk_", LETTERS_DIGITS, 20),),
    "harness_key": (
        ("pat.", DOTTED, r"[A-Za-z0-9_-]{20,24}\.[A-Za-z0-9]{20,26}\.[A-Za-z0-9]{16,24}"),
        ("sat.", DOTTED, r"[A-Za-z0-9_-]{20,24}\.[A-Za-z0-9]{20,26}\.[A-Za-z0-9]{16,24}"),
    ),
    "heroku_key": (("HRKU-", WORD, 36),),
    "hubspot_token": tuple(
        (f"pat-{place}-", HEX + "-", r"[a-f0-9]{8}(?:-[a-f0-9]{4}){3}-[a-f0-9]{12}")
        for place in ("na1", "na2", "eu1")
    ),
    "huggingface_token": (("hf_", LETTERS_DIGITS, 20), ("api_org_", LETTERS_DIGITS, 30)),
    "infracost_token": (("ico-", LETTERS_DIGITS, 32),),
    "jina_key": (("jina_", WORD, 40),),
    "langsmith_key": (
        ("lsv2_pt_", HEX + "_", 36),
        ("lsv2_sk_", HEX + "_", 36),
        ("ls__", LETTERS_DIGITS, 30),
    ),
    "linear_key": (("lin_api_", LETTERS_DIGITS, 36), ("lin_oauth_", LETTERS_DIGITS, 36)),
    "llamacloud_key": (("llx-", WORD, 40),),
    "lob_key": (
        ("live_", HEX, r"[a-f0-9]{35}(?![A-Za-z0-9])"),
        ("test_", HEX, r"[a-f0-9]{35}(?![A-Za-z0-9])"),
    ),
    "mailersend_token": (("mlsn.", HEX, 50),),
    "mailgun_key": (("key-", HEX, r"[a-f0-9]{32}(?![A-Za-z0-9])"),),
    "mapbox_token": (("sk.eyJ", DOTTED, r"[A-Za-z0-9_-]{20,}\.[A-Za-z0-9_-]{16,}"),),
    "modelscope_token": (("ms-", HEX + "-", r"[a-f0-9]{8}(?:-[a-f0-9]{4}){3}-[a-f0-9]{12}"),),
    "neon_key": (("napi_", LETTERS_DIGITS, 40), ("npg_", LETTERS_DIGITS, 12)),
    "netlify_token": (("nfp_", LETTERS_DIGITS, 36),),
    "new_relic_key": (
        ("NRAK-", UPPER, 27),
        ("NRJS-", HEX, 19),
        ("NRII-", WORD, 32),
        ("NRIQ-", WORD, 32),
    ),
    "notion_token": (("ntn_", LETTERS_DIGITS, 40), ("secret_", LETTERS_DIGITS, 43)),
    "npm_token": (("npm_", LETTERS_DIGITS, 30),),
    "nuget_key": (("oy2", "a-z0-9", r"[a-z0-9]{43}(?![A-Za-z0-9])"),),
    "nvidia_key": (("nvapi-", WORD, 40),),
    "octopus_key": (("API-", UPPER, r"[A-Z0-9]{25,32}(?![A-Za-z0-9])"),),
    "onepassword_key": (
        ("ops_eyJ", BASE64, 60),
        (
            "A3-",
            UPPER + "-",
            r"[A-Z0-9]{6}-(?:[A-Z0-9]{11}|[A-Z0-9]{6}-[A-Z0-9]{5})(?:-[A-Z0-9]{5}){3}",
        ),
    ),
    "openshift_token": (("sha256~", WORD, 40),),
    "perplexity_key": (("pplx-", LETTERS_DIGITS, 32),),
    "pinecone_key": (("pcsk_", LETTERS_DIGITS + "_", 40),),
    "plaid_token": tuple(
        (f"access-{place}-", HEX + "-", 30) for place in ("production", "sandbox", "development")
    ),
    "planetscale_token": tuple(
        (f"pscale_{name}_", DOTTED + "=", 30) for name in ("tkn", "oauth", "pw")
    ),
    "posthog_key": (("phx_", LETTERS_DIGITS, 36), ("phc_", LETTERS_DIGITS, 36)),
    "postman_key": (("PMAK-", HEX + "-", 50),),
    "prefect_key": (("pnu_", LETTERS_DIGITS, 34), ("pnb_", LETTERS_DIGITS, 34)),
    "pulumi_token": (("pul-", HEX, 40),),
    "pypi_token": (("pypi-AgEI", WORD, 30),),
    "readme_key": (("rdme_", LETTERS_DIGITS, 60),),
    "render_key": (("rnd_", LETTERS_DIGITS, 24),),
    "replicate_token": (("r8_", LETTERS_DIGITS, 36),),
    "resend_key": (("re_", LETTERS_DIGITS + "_", r"[A-Za-z0-9]{8}_[A-Za-z0-9]{20,}"),),
    "rubygems_key": (("rubygems_", HEX, 40),),
    "runpod_key": (("rpa_", LETTERS_DIGITS, 36),),
    "scalingo_token": (("tk-us-", WORD, 40),),
    "sendgrid_key": (("SG.", DOTTED + "=", 50),),
    "sendinblue_key": (("xkeysib-", LETTERS_DIGITS + "-", 60), ("xsmtpsib-", WORD, 60)),
    "sentry_token": (("sntrys_", BASE64, 40), ("sntryu_", HEX, 60)),
    "settlemint_token": tuple((f"sm_{letter}at_", LETTERS_DIGITS, 16) for letter in "aps"),
    "shippo_token": (("shippo_live_", HEX, 36), ("shippo_test_", HEX, 36)),
    "shopify_token": tuple((f"shp{name}_", HEX, 32) for name in ("at", "ca", "pa", "ss")),
    "slack_token": (
        *((f"xox{letter}-", LETTERS_DIGITS + "-", 10) for letter in "abcdeoprs"),
        ("xoxe.", DOTTED, 30),
        ("xapp-", LETTERS_DIGITS + "-", 20),
    ),
    "sonar_token": tuple((f"sq{letter}_", LETTERS_DIGITS, 36) for letter in "aup"),
    "sourcegraph_token": (("sgp_", LETTERS_DIGITS + "_", 36),),
    "square_token": (("sq0atp-", WORD, 20), ("sq0csp-", WORD, 36), ("EAAA", WORD, 55)),
    "stripe_key": (
        *(
            (f"{letter}k_{place}_", LETTERS_DIGITS, 10)
            for letter in "sr"
            for place in ("live", "test", "prod")
        ),
        ("whsec_", BASE64, 30),
    ),
    "elevenlabs_key": (("sk_", HEX, r"[a-f0-9]{40,}(?![A-Za-z0-9])"),),
    "supabase_key": (("sbp_", LETTERS_DIGITS, 36), ("sb_secret_", WORD, 20)),
    "tailscale_key": (("tskey-", WORD, 20),),
    "tavily_key": (("tvly-", WORD, 28),),
    "together_key": (("tgp_v1_", WORD, 36),),
    "twilio_key": (("SK", HEX, r"[0-9a-f]{32}(?![A-Za-z0-9])"),),
    "typeform_token": (("tfp_", DOTTED, 40),),
    "vault_token": (("hvs.", WORD, 24), ("hvb.", WORD, 24), ("hvr.", WORD, 24)),
    "vercel_token": (("vcp_", LETTERS_DIGITS, 24), ("vck_", LETTERS_DIGITS, 24)),
    "voyage_key": (("pa-", WORD, r"[A-Za-z0-9_-]{40,}"),),
    "wandb_key": (("wandb_v1_", WORD, 40),),
    "xai_key": (("xai-", LETTERS_DIGITS, 20),),
    "xata_key": (("xau_", LETTERS_DIGITS, 30),),
    "yandex_key": (("AQVN", WORD, 35), ("t1.", DOTTED + "=", 90), ("y0_", WORD, 50)),
    "adobe_secret": (("p8e-", LETTERS_DIGITS, 32),),
}
BEARER = r" {0,3}([A-Za-z0-9._~+/-]{16,}=*)"
BEARER_OPEN = r" {0,3}([A-Za-z0-9._~+/-]*=*)"
AUTHORIZATION = r"\\{0,3}[\"']? {0,4}[:=] {0,4}\\{0,3}[\"']?(?i:basic|token) {1,4}"
BASIC = rf"{AUTHORIZATION}([A-Za-z0-9._~+/-]{{8,}}=*)"
BASIC_OPEN = rf"{AUTHORIZATION}([A-Za-z0-9._~+/-]*=*)"
PARAMETER = (
    r"[?&;](?i:token|access_token|auth_token|id_token|refresh_token|api_?key|key|client_secret"
    r"|secret|password|sig|signature|x-amz-signature|x-amz-security-token|x-goog-signature)="
)
PARAMETER_VALUE = r"[^\s&;\"'<>#«\\]"
DATABASES = (
    r"(?i:postgres(?:ql)?|mysql|mariadb|mongodb|rediss?|valkey|amqps?|mssql|sqlserver|oracle"
    r"|clickhouse(?:s)?|snowflake|cockroachdb|redshift|db2|hive|presto|trino|ldaps?|s?ftp|smtps?"
    r"|imaps?|mqtts?|neo4j|bolt|nats|kafka|vertica|duckdb|sqlite)(?:\+[a-z0-9_]{1,20})?"
)
DATABASE_PASSWORD = re.compile(
    r"://(?<=[A-Za-z0-9]://)[^\s/:@'\"<>«]{0,128}:(?![0-9]{1,5}(?:[/?]|\Z))"
    r"([^\s'\"<>«\\]{1,256})@(?=[A-Za-z0-9\[])"
)
"""Behind the scheme of a database the last ``@`` ends the password, whatever else is in it."""
DATABASE_BEFORE = re.compile(rf"(?<![A-Za-z0-9+])(?=(?i:[a-z0-9+_]+)\Z){DATABASES}\Z")
SCHEME_CHARACTERS = 32
KEYS = (
    *(_key(kind, *parts) for kind, keys in KEY_FORMATS.items() for parts in keys),
    _Key(
        "jwt",
        "eyJ",
        DOTTED,
        r"eyJ(?<![A-Za-z0-9_.-]eyJ)[A-Za-z0-9_-]{8,2000}\.eyJ[A-Za-z0-9_-]{8,}"
        r"(?:\.[A-Za-z0-9_-]*)?",
    ),
)
SURROUNDED = (
    _after(
        "terraform_token",
        ".atlasv1.",
        r"([A-Za-z0-9_=-]{60,})",
        r"([A-Za-z0-9_=-]*+)",
    ),
    _after(
        "azure_secret",
        "Q~",
        r"(?<=[A-Za-z0-9_~.]{3}[0-9]Q~)([A-Za-z0-9_~.-]{31,34})(?![A-Za-z0-9_~-])",
        r"(?<=[0-9]Q~)([A-Za-z0-9_~.-]{0,35})",
    ),
    _after(
        "telegram_token",
        ":AA",
        r"(?<=[0-9]:AA)([A-Za-z0-9_-]{32,34})(?![A-Za-z0-9_-])",
        r"(?<=[0-9]:AA)([A-Za-z0-9_-]{0,35})",
    ),
    _after(
        "url_password",
        "://",
        r"[^\s/:@'\"<>«]{0,128}:([^\s/@'\"<>«]{1,256})@",
        r"[^\s/:@'\"<>«]{0,128}+:([^\s'\"<>«]{0,258}+)",
    ),
    _after(
        "webhook",
        "hooks.slack.com/",
        r"(?:services|workflows|triggers)/([A-Za-z0-9+/]{20,})",
        r"(?:services|workflows|triggers)/([A-Za-z0-9+/]*+)",
    ),
    _after(
        "webhook",
        "/api/webhooks/",
        r"[0-9]{6,24}/([A-Za-z0-9_-]{30,})",
        r"[0-9]{6,24}/([A-Za-z0-9_-]*+)",
    ),
    _after("bearer_token", "earer ", BEARER, BEARER_OPEN),
    _after("bearer_token", "EARER ", BEARER, BEARER_OPEN),
    _after("basic_credentials", "uthorization", BASIC, BASIC_OPEN),
    _after("basic_credentials", "UTHORIZATION", BASIC, BASIC_OPEN),
    _after(
        "password",
        "login ",
        r"\S{1,128} password (?!is |for |was )([^\s\"'<>«]{4,256})",
        r"\S{1,128}+ password ([^\s\"'<>«]{0,256}+)",
    ),
    *(
        _after("password", mark, r" {1,4}'([^'\n«]{4,256})'", r" {1,4}'([^'\n«]{0,256}+)")
        for mark in ("PASSWORD", "IDENTIFIED BY")
    ),
    _after(
        "password",
        "sshpass -p",
        r" {0,2}[\"']?([^\s\"'<>«$]{4,256})",
        r" {0,2}[\"']?([^\s\"'<>«$]{0,256}+)",
    ),
    _Surrounded(
        "password",
        ("curl ",),
        re.compile(
            r"curl(?: [^\n]{0,80}?)? (?:-u|--user)[ =][\"']?[^\s:\"'«]{1,64}:([^\s\"'<>«$]{4,256})"
        ),
        re.compile(
            r"curl(?: [^\n]{0,80})? (?:-u|--user)[ =]"
            r"[\"']?[^\s:\"'«]{1,64}:([^\s\"'<>«$]{0,256}+)\Z"
        ),
        b"curl ",
    ),
    _Surrounded(
        "url_token",
        ("oken=", "key=", "Key=", "ecret=", "assword=", "ignature=", "sig="),
        re.compile(rf"{PARAMETER}({PARAMETER_VALUE}{{6,}})"),
        re.compile(rf"{PARAMETER}({PARAMETER_VALUE}*+)\Z"),
        b"=",
    ),
)
SERVICES = {
    "sk-ant-": "anthropic_key",
    "sk-or-": "openrouter_key",
    "sk-proj-": "openai_key",
    "sk-svcacct-": "openai_key",
    "sk-admin-": "openai_key",
}
WITH_DIGITS = ("api_key", "bearer_token", "slack_token", "google_key", "webhook")
"""Kinds that words could be taken for; a real one has a digit."""


KEY_CHARACTERS = r"A-Za-z0-9_.~+/=-"
LONG_WORD = 15
"""No key is shorter than that, its mark included."""
IN_WORD, OUT_OF_WORD = b"a", b" "
WORD_TABLE = bytes(
    ord(IN_WORD if re.match(f"[{KEY_CHARACTERS}]", chr(code)) else OUT_OF_WORD)
    for code in range(256)
)


def _any_of(words: Iterable[str]) -> str:
    """A pattern for any of these words, tried letter by letter; of two that begin alike the
    shorter one."""
    endings: dict[str, list[str]] = {}
    for word in words:
        endings.setdefault(word[:1], []).append(word[1:])
    if "" in endings:
        return ""
    tried = [re.escape(first) + _any_of(rest) for first, rest in endings.items()]
    return tried[0] if len(tried) == 1 else f"(?:{'|'.join(tried)})"


MARKS = re.compile(rf"(?<![A-Za-z0-9_])(?=({_any_of(key.mark for key in KEYS)}))")
"""What some key begins with, where a word begins. One look at a text for 204 marks."""
WORD_START = re.compile(r"(?<![A-Za-z0-9_])[A-Za-z0-9]")
WORD_CHARACTER = re.compile(r"[A-Za-z0-9_]")
KEYS_BY_MARK = {
    found: [number for number, key in enumerate(KEYS) if key.mark.startswith(found)]
    for found in {MARKS.match(key.mark).group(1) for key in KEYS}  # type: ignore[union-attr]
}
MARK_BEGINNINGS = frozenset(key.mark[:size] for key in KEYS for size in range(1, len(key.mark)))
LONGEST_MARK = max(len(key.mark) for key in KEYS)
LONGEST_BEGINNING = 2_100
"""After so many characters what began like a key is one, or never will be."""
BEGIN_PRIVATE_KEY = re.compile(r"-----BEGIN [A-Z0-9 ]{0,30}PRIVATE KEY(?: BLOCK)?-----")
END_PRIVATE_KEY = re.compile(r"-----END [A-Z0-9 ]{0,30}PRIVATE KEY(?: BLOCK)?-----")
PRIVATE_KEY_CHARACTERS = 16_384
PRIVATE_KEY_BODY = re.compile(rf"[A-Za-z0-9+/=\s\\:,-]{{0,{PRIVATE_KEY_CHARACTERS}}}")
UNFINISHED_BEGIN = re.compile(
    r"(?:-{1,4}|-----(?:B(?:E(?:G(?:I(?:N(?: [A-Z0-9 ]{0,48}-{0,5})?)?)?)?)?)?)\Z"
)

NAME_FORMS = {
    word.encode(): (word, word.capitalize(), word.upper())
    for word in ("pass", "pwd", "pw", "secret", "token", "key", "dsn", "credential", "auth")
}
NAME_MARKS = tuple(form for forms in NAME_FORMS.values() for form in forms)
NAME_CHARACTERS = frozenset(f"{string.ascii_letters}{string.digits}_-")
NAME_BEFORE = re.compile(r"[A-Za-z0-9_-]{0,48}")
QUOTE, ESCAPED_QUOTE = r"(?:\"\"\"|'''|[\"'`])", r"\\{1,3}[\"'`]"
IN_QUOTES = r"(?:\\.|[^\n\\])"
IN_ESCAPED_QUOTES = r"(?:\\++[^\n]|[^\n\\])"
"""In a text within a text (JSON in JSON) an inner quote has more backslashes than the outer one."""
NAME_REST = r"([A-Za-z0-9_-]{0,40}+)(?:\\{0,3}[\"'`]\]?)?[ \t]{0,8}+"
SET = (
    r"(?:(?:=>|:=|[=!]=|[=:]|>)[ \t]{0,8}+"
    # ``name: type = "…"``, and variables as they are listed: ``name: str '…'``
    r"|:[ \t]{0,4}[A-Za-z_][\w.| ]{0,40}?(?:\[[\w., |\[\]]{0,40}\])?[ \t]{0,4}[=:]?[ \t]{0,4}"
    r"(?=[rbfuRBFU]{0,2}\\{0,3}[\"'`]))"
)
BARE = r"[^\s\"'`,;()\[\]{}<>$«»\\]"
NAMED_VALUE = (
    rf"(?:[rbfuRBFU]{{0,2}}(?:({QUOTE})((?:(?!\2){IN_QUOTES}){{1,256}}?)\2"
    rf"|({ESCAPED_QUOTE})((?:(?!\4){IN_ESCAPED_QUOTES}){{1,256}}?)\4)"
    rf"|({BARE}{{4,256}}+)(?:(?=[\s\"'`;\\<]|\Z)|(?={BARE})()))"
)
NAMED = {mark: mark + NAME_REST + SET + NAMED_VALUE for mark in NAME_MARKS}
"""What a name sets, compiled when its mark is met first."""
OPEN_VALUE = (
    rf"((?:[rbfuRBFU]{{0,2}}(?:({QUOTE})(?:(?!\3){IN_QUOTES}){{0,257}}"
    rf"|({ESCAPED_QUOTE})(?:(?!\4){IN_ESCAPED_QUOTES}){{0,257}})\\*"
    rf"|[rbfuRBFU]{{0,2}}\\{{1,3}}|{BARE}{{0,257}}))\Z"
)
NAMED_OPEN = {mark: mark + NAME_REST + SET + OPEN_VALUE for mark in NAME_MARKS}
OPTION = re.compile(
    r"--(?<![\w-]--)((?:[a-z0-9]{1,16}-){0,3}(?:password|passwd|passphrase|token|secret"
    r"|api-?key|access-key))[ =](?!-)\\{0,3}[\"']?([^\s\"'`,;()\[\]{}<>$«»\\]{4,256})"
)
OPTION_OPEN = re.compile(
    r"--(?<![\w-]--)(?:[a-z0-9]{1,16}-){0,3}(?:password|passwd|passphrase|token|secret"
    r"|api-?key|access-key)[ =](?!-)\\{0,3}[\"']?([^\s\"'`,;()\[\]{}<>$«»\\]{0,256})\Z"
)
CONTEXT_CHARACTERS = 192
"""As far before a secret the words stand that make it one."""
OPEN_CHARACTERS = 560
"""As far before the end a secret that has a name, or stands in an address, may have begun."""


def find_shapes(text: str) -> list[FoundShape]:
    """Every secret that its format or its name gives away, in order, without overlaps."""
    found: list[FoundShape] = []
    data = text.encode("utf-8", "surrogatepass")
    for key in _keys_in(_long_words(data)):
        found += _matches(key, text)
    lowered = data.lower()
    for shape in SURROUNDED:
        if shape.hint in lowered and any(mark in text for mark in shape.marks):
            found += _matches(shape, text)
    found += _named(text, lowered)
    found += _database_passwords(text)
    found += _options(text)
    found += _private_keys(text)
    return _without_overlaps(found) if found else found


def _long_words(data: bytes) -> str:
    """What is long enough for a key, and made of what keys are made of.

    Ordinary text has little of that, and looking for a run of one letter is many times faster than
    a pattern.
    """
    classes, words = data.translate(WORD_TABLE), []
    found = classes.find(IN_WORD * LONG_WORD)
    while found >= 0:
        begin = classes.rfind(OUT_OF_WORD, 0, found) + 1
        end = classes.find(OUT_OF_WORD, found + LONG_WORD)
        end = end if end >= 0 else len(data)
        words.append(data[begin:end])
        found = classes.find(IN_WORD * LONG_WORD, end)
    return b" ".join(words).decode("ascii")


def _keys_in(text: str) -> list[_Key]:
    """The formats whose mark begins a word of the text."""
    found = {number for mark in set(MARKS.findall(text)) for number in KEYS_BY_MARK[mark]}
    return [KEYS[number] for number in sorted(found)]


def _matches(shape: _Key | _Surrounded, text: str) -> Iterator[FoundShape]:
    if shape.kind == "jwt" and ".eyJ" not in text:
        return
    group = shape.pattern.groups
    for match in shape.pattern.finditer(text):
        kind = _kind(shape.kind, match.group(group))
        if kind:
            yield FoundShape(match.start(group), match.end(group), kind)


def _kind(kind: str, secret: str) -> str:
    """Whose secret it is; empty for words that only look like one, such as a CSS class."""
    if kind == "api_key":
        kind = next((whose for mark, whose in SERVICES.items() if secret.startswith(mark)), kind)
    if kind == "url_password" and is_placeholder(secret):
        return ""
    return kind if kind not in WITH_DIGITS or DIGIT.search(secret) else ""


def _named(text: str, lowered: bytes) -> Iterator[FoundShape]:
    """Values whose name says that they are secret: ``password = "…"``, ``API_KEY=…``."""
    if not any(sign in text for sign in "=:>"):
        return
    for word, forms in NAME_FORMS.items():
        for mark in forms if word in lowered else ():
            for match in _compile(NAMED[mark]).finditer(text) if mark in text else ():
                found = _named_value(text, mark, match)
                if found is not None:
                    yield found


def _named_value(text: str, mark: str, match: re.Match[str]) -> FoundShape | None:
    before = _name_before(text, match.start())
    name = before + mark + match.group(1)
    start = match.start() - len(before)
    strength = strength_of(name)
    if name == "PWD" and text[start - 1 : start] == ";":
        strength = Strength.PASSWORD  # of a connection string, not the shell's folder
    if strength is Strength.NONE or match.group(7) is not None:
        return None  # no name of a secret, or longer than any
    if text[max(0, start - 5) : start].endswith(("?", "&", "&amp;")):
        return None  # a parameter of an address, which ends at the next one
    group = next(group for group in (3, 5, 6) if match.group(group) is not None)
    value = match.group(group)
    if not is_secret_value(value, strength, name, is_quoted=group != 6):
        return None
    return FoundShape(match.start(group), match.end(group), _kind_of_name(name))


def _name_before(text: str, start: int) -> str:
    if not start or text[start - 1] not in NAME_CHARACTERS:
        return ""
    before = NAME_BEFORE.match(text[max(0, start - 48) : start][::-1])
    return before.group()[::-1] if before else ""


def _kind_of_name(name: str) -> str:
    return "password" if "pass" in name.lower() or "pwd" in name.lower() else "named_secret"


def _database_passwords(text: str) -> Iterator[FoundShape]:
    if "@" not in text or "://" not in text:
        return
    for match in DATABASE_PASSWORD.finditer(text):
        before = text[max(0, match.start() - SCHEME_CHARACTERS) : match.start()]
        if DATABASE_BEFORE.search(before) and not is_placeholder(match.group(1)):
            yield FoundShape(match.start(1), match.end(1), "url_password")


def _options(text: str) -> Iterator[FoundShape]:
    if "--" not in text:
        return
    for match in OPTION.finditer(text):
        strength = strength_of(match.group(1))
        if is_secret_value(match.group(2), strength, match.group(1), is_quoted=False):
            yield FoundShape(match.start(2), match.end(2), _kind_of_name(match.group(1)))


def _private_keys(text: str) -> Iterator[FoundShape]:
    position = 0 if "PRIVATE KEY" in text else len(text)
    while (begin := BEGIN_PRIVATE_KEY.search(text, position)) is not None:
        body = PRIVATE_KEY_BODY.match(text, begin.end())
        body_end = body.end() if body else begin.end()
        end = END_PRIVATE_KEY.search(text, begin.end(), body_end)
        position = end.end() if end else body_end
        yield FoundShape(begin.start(), position, "private_key")


def _without_overlaps(found: list[FoundShape]) -> list[FoundShape]:
    kept: list[FoundShape] = []
    for shape in sorted(found, key=lambda item: (item.start, -item.end)):
        if not kept or shape.start >= kept[-1].end:
            kept.append(shape)
        elif shape.end > kept[-1].end:
            kept[-1] = kept[-1]._replace(end=shape.end)
    return kept


def find_open_shape(text: str) -> int:
    """Where at the end of a text something begins that more text may make a secret.

    Returns its place; the length of the text where nothing does.
    """
    begins = [len(text), _open_key(text), _open_private_key(text)]
    end = text[-OPEN_CHARACTERS:]
    offset = len(text) - len(end)
    for shape in SURROUNDED:
        if any(mark in end for mark in shape.marks):
            match = shape.unfinished.search(end)
            begins += [offset + match.start(1)] if match else []
    # A value stands on the line of its name.
    line = end[end.rfind("\n") + 1 :]
    offset = len(text) - len(line)
    if "--" in line:
        match = OPTION_OPEN.search(line)
        begins += [offset + match.start(1)] if match else []
    if any(sign in line for sign in "=:>"):
        for mark, expression in NAMED_OPEN.items():
            match = _compile(expression).search(line) if mark in line else None
            begins += [offset + match.start(2)] if match else []
    return min(begins)


def _open_key(text: str) -> int:
    """Where the unfinished word at the end is a key, or the beginning of one."""
    word = _ending(text, KEY_CHARACTERS)
    begins = [len(text)]
    begins += [_open_from(text, word, key) for key in _keys_in(word)]
    for match in WORD_START.finditer(word, max(0, len(word) - LONGEST_MARK)):
        if word[match.start() :] in MARK_BEGINNINGS:
            begins.append(len(text) - len(word) + match.start())
    return min(begins)


def _open_from(text: str, word: str, key: _Key) -> int:
    """Where a key of this format begins that reaches to the end."""
    rest = len(_ending(word, key.alphabet))
    offset = len(text) - len(word)
    begin = word.find(key.mark, max(0, len(word) - rest - len(key.mark)))
    while begin >= 0:
        is_start = begin == 0 or not WORD_CHARACTER.match(word[begin - 1])
        is_undecided = len(word) - begin < LONGEST_BEGINNING
        if is_start and (is_undecided or key.pattern.match(word, begin)):
            return offset + begin
        begin = word.find(key.mark, begin + 1)
    return len(text)


def _open_private_key(text: str) -> int:
    found = UNFINISHED_BEGIN.search(text, max(0, len(text) - 96))
    begin = text.rfind("-----BEGIN", max(0, len(text) - PRIVATE_KEY_CHARACTERS - 96))
    if begin >= 0 and (started := BEGIN_PRIVATE_KEY.match(text, begin)) is not None:
        body = PRIVATE_KEY_BODY.match(text, started.end())
        reaches_end = body is not None and body.end() == len(text)
        if reaches_end and not END_PRIVATE_KEY.search(text, started.end()):
            return begin
    return found.start() if found else len(text)


def _ending(text: str, characters: str) -> str:
    """What stands at the end of a text in these characters alone."""
    run = _class(characters).match(text[::-1])
    return text[len(text) - run.end() :] if run else ""


@functools.cache
def _class(characters: str) -> re.Pattern[str]:
    return re.compile(f"[{characters}]*")

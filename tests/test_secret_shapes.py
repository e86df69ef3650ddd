"""What is taken for a secret and what is not, counted: formats of keys, names, ordinary text."""

from __future__ import annotations

import json
import sysconfig
from collections.abc import Iterator
from pathlib import Path

import pytest
from key_shapes import MadeUp, made_up_keys, made_up_values

from cellwright.text.redaction import Redactor
from cellwright.text.secret_shapes import Strength, find_shapes, strength_of

BLIND = Redactor({})
SEEDS = 20


def words(text: str) -> list[str]:
    return text.split()


ENVIRONMENT = words(
    """
    OPENAI_API_KEY ANTHROPIC_API_KEY AWS_SECRET_ACCESS_KEY AWS_SESSION_TOKEN
    AWS_ACCESS_KEY_ID GITHUB_TOKEN GH_TOKEN GITLAB_TOKEN HF_TOKEN HUGGING_FACE_HUB_TOKEN
    WANDB_API_KEY KAGGLE_KEY DATABASE_URL REDIS_URL MONGODB_URI SENTRY_DSN PGPASSWORD
    MYSQL_PWD MYSQL_ROOT_PASSWORD POSTGRES_PASSWORD DB_PASS SMTP_PASS EMAIL_HOST_PASSWORD
    DJANGO_SECRET_KEY SECRET_KEY FLASK_SECRET JWT_SECRET STRIPE_SECRET_KEY TWILIO_AUTH_TOKEN
    SENDGRID_API_KEY SLACK_BOT_TOKEN SLACK_WEBHOOK_URL NPM_TOKEN TWINE_PASSWORD
    AZURE_CLIENT_SECRET AZURE_STORAGE_KEY DD_APP_KEY SNOWFLAKE_PASSWORD DATABRICKS_TOKEN
    VAULT_TOKEN FERNET_KEY RAILS_MASTER_KEY SSHPASS REDISCLI_AUTH BORG_PASSPHRASE
    LDAP_BIND_PW AZURE_SAS
    """
)
ADDRESSES = {"DATABASE_URL", "REDIS_URL", "MONGODB_URI"}
VALUE = "x7Qp2mNv8rTd4kLs"


@pytest.mark.parametrize("name", ENVIRONMENT)
def test_a_usual_variable_of_the_environment_is_a_secret(name: str) -> None:
    value = f"redis://ann:{VALUE}@cache/0" if name in ADDRESSES else VALUE
    said = Redactor.from_environment({name: value}).text(f"it is {value}, or {VALUE[:-2]}")
    assert VALUE not in said
    assert "«redacted:" in said


def test_what_an_address_of_the_environment_holds_is_known_alone() -> None:
    for name in sorted(ADDRESSES):
        redactor = Redactor.from_environment({name: f"mysql://ann:{VALUE}%21@host/x"})
        assert VALUE not in redactor.text(f"the password is {VALUE}!")
        assert VALUE not in redactor.text(f"the password is {VALUE}%21")


@pytest.mark.parametrize(
    "name",
    words(
        """
        KEYBOARD KEYBOARD_LAYOUT TOKENIZER TOKENIZERS_PARALLELISM max_tokens n_tokens
        primary_key sort_keys foreign_key sort_key public_key PWD OLDPWD PATH PYTHONPATH MONKEY
        HOTKEY_NAME passenger compass bypass author AUTHOR_NAME keyword keys TOKEN_URL
        SECRET_NAME PASSWORD_FILE password_hint secretary tokenize SSH_AUTH_SOCK
        GOOGLE_CREDENTIALS_PATH token_count key_error donkey turkey KEYWORDS
        """
    ),
)
def test_other_names_are_not_taken_for_secrets(name: str) -> None:
    assert strength_of(name) is Strength.NONE
    assert Redactor.from_environment({name: VALUE}).text(f"it is {VALUE}") == f"it is {VALUE}"


def missed(found: list[MadeUp]) -> list[str]:
    return [item.text for item in found if item.secret in BLIND.text(item.text)]


def test_at_least_120_formats_of_keys_are_known() -> None:
    """13.9: 34 of 91 were."""
    assert len(made_up_keys()) >= 120
    for seed in range(SEEDS):
        assert missed(made_up_keys(seed)) == []


def test_values_with_a_secret_name_are_found_but_for_one_in_a_hundred() -> None:
    """What looks random is told from words by its characters; chance makes a word now and then."""
    found = [item for seed in range(SEEDS) for item in made_up_values(seed)]
    assert len(missed(found)) * 100 <= len(found)


@pytest.mark.parametrize(
    "text",
    [
        'password = "changeme"',
        'password = ""',
        "password = None",
        "password = getpass()",
        'password = os.environ["DB_PASSWORD"]',
        'password = os.getenv("DB_PASSWORD", "")',
        "password = input('Password: ')",
        "password = keyring.get_password('db', 'ann')",
        "connect(user=user, password=password)",
        "connect(password=self.password, port=1)",
        "def login(user: str, password: str) -> None:",
        "def login(password: Optional[str] = None, token: str = ''): ...",
        "interface A { password: string; token?: string }",
        'password = "<your password>"',
        'API_KEY = "your-api-key-here"',
        "export API_KEY=${API_KEY}",
        'api_key = f"{prefix}-{name}"',
        '{"password": "Enter your password", "token": "Token"}',
        "password: the password to use",
        'tokenizer.pad_token = "[PAD]"; eos_token = "<|endoftext|>"',
        'df.sort_values(key="population_2020"); key = "col_1"',
        'max_tokens = "4096"; n_tokens: 12345678',
        'json.dumps(x, sort_keys=True); primary_key="customer_id_12ab34"',
        'cache_key = "9f86d081884c7d659a2feaa0c55ad015"',
        'api_key = "LinearSearchResultHolder"',
        "password: user/name",
        '"cells": [{"id": "a1b2c3d4", "source": "x = 1"}]',
        '{"image/png": "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk"}',
        "postgresql://postgres:postgres@localhost/test",
        "https://username:password@host/path",
        "git clone git@github.com:a/b.git; http://host:80/a@b",
        "UPDATE users SET PASSWORD = :new; login ann password is what you set",
        "width_pw: 12, mpw = kW % 7, <label>password</label>, <b>token</b>",
        "curl -s https://x.example -o file; curl -u $USER:$PASSWORD https://x.example",
        "key: ABC-123, token 7, secret santa, password reset at 10:30",
    ],
)
def test_placeholders_and_code_that_fetches_a_secret_stay(text: str) -> None:
    assert BLIND.text(text) is text


def ordinary_text() -> Iterator[str]:
    """Ten megabytes of code and notebooks that are on every machine."""
    root = Path(__file__).parent.parent
    notebooks = sorted(root.glob("examples/**/*.ipynb"))
    library = sorted(Path(sysconfig.get_paths()["stdlib"]).rglob("*.py"))
    size = 0
    for file in [*notebooks, *(file for file in library if "site-packages" not in file.parts)]:
        text = file.read_text("utf-8", errors="replace")
        size += len(text)
        yield text
        if size > 10_000_000:
            return


def test_ordinary_text_is_left_alone() -> None:
    """Counted in what comes with Python: passwords of its own tests, and next to nothing else."""
    found = [
        text[max(0, shape.start - 40) : shape.end]
        for text in ordinary_text()
        for shape in find_shapes(text)
        if shape.kind != "private_key"
    ]
    assert len(found) <= 40, found


def test_a_secret_in_a_call_is_taken_out_and_its_arguments_stay_json() -> None:
    for code in ('password = "hun\\"ter2"', "passwd = '''hunter2 hunter2'''", "PASSWORD=hunter2\n"):
        said = json.dumps({"code": f"x = 1\n{code}\ny = 2", "n": 1})
        clean = BLIND.text(said)
        assert "ter2" not in clean
        assert json.loads(clean)["n"] == 1
        assert json.loads(clean)["code"].startswith("x = 1\n")

"""Made-up secrets in the formats that services document, and in the places people write them.

Each is drawn anew from the alphabet and the length of its format, so that no key stands in a file.
Formats are facts from the services' documentation and gitleaks' published rules.
"""

from __future__ import annotations

import random
import string
from typing import NamedTuple

LETTERS = string.ascii_letters
ALPHABETS = {
    "h": "0123456789abcdef",
    "d": string.digits,
    "u": string.ascii_uppercase + string.digits,
    "l": string.ascii_lowercase + string.digits,
    "a": LETTERS + string.digits,
    "w": LETTERS + string.digits + "_-",
    "b": LETTERS + string.digits + "+/",
    "t": string.ascii_uppercase + "234567",
}
FORMATS = """
openai sk- a48 | openai-project sk-proj- w74 T3BlbkFJ w74 | openai-service sk-svcacct- w74
openai-admin sk-admin- w74 | anthropic sk-ant-api03- w93 AA
anthropic-admin sk-ant-admin01- w93 AA | openrouter sk-or-v1- h64 | deepseek sk- h32
langfuse sk-lf- h8 - h4 - h4 - h4 - h12 | google AIza w35 | google-new AQ. a2 w50
google-client GOCSPX- w28 | google-access ya29.a0 w100 | google-refresh 1//0 w60
huggingface hf_ a34 | huggingface-org api_org_ a34 | groq gsk_ a52 | xai xai- a80
perplexity pplx- a48 | nvidia nvapi- w64 | replicate r8_ a37 | fireworks fw_ a24
cerebras csk- a48 | together tgp_v1_ w43 | pinecone pcsk_ a6 _ a50 | jina jina_ a60
tavily tvly-dev- a32 | firecrawl fc- h32 | e2b e2b_ h40 | langsmith lsv2_pt_ h32 _ h10
langsmith-service lsv2_sk_ h32 _ h10 | elevenlabs sk_ h48 | runpod rpa_ a42
anyscale esecret_ a30 | voyage pa- w43 | wandb wandb_v1_ w60 | bedrock ABSK b120
modelscope ms- h8 - h4 - h4 - h4 - h12 | aws AKIA t16 | aws-session ASIA t16 | aws-bearer ABIA t16
aws-context ACCA t16 | aws-mws amzn.mws. h8 - h4 - h4 - h4 - h12 | alibaba LTAI a20
azure-client a3 8Q~ w34 | digitalocean dop_v1_ h64 | digitalocean-oauth doo_v1_ h64
digitalocean-refresh dor_v1_ h64 | heroku HRKU-AA w58 | fly fm2_ b120 | fly-old fo1_ w43
cloudflare-origin v1.0- h24 - h146 | vault hvs. w95 | vault-batch hvb. w140
terraform a14 .atlasv1. w64 | pulumi pul- h40 | tailscale tskey-auth- a12 - a32
docker dckr_pat_ w27 | artifactory AKCp a69 | doppler dp.pt. a43 | github ghp_ a36
github-oauth gho_ a36 | github-user ghu_ a36 | github-server ghs_ a36 | github-refresh ghr_ a36
github-fine github_pat_ a22 _ a59 | gitlab glpat- w20 | gitlab-deploy gldt- w20
gitlab-runner glrt- w20 | gitlab-feed glft- w20 | gitlab-trigger glptt- h40
gitlab-job glcbt- h2 _ w20 | gitlab-mail glimt- w25 | gitlab-agent glagent- w50
gitlab-app gloas- h64 | gitlab-scim glsoat- w20 | bitbucket ATBB a32 | atlassian ATATT3 w186
slack-bot xoxb- d12 - d12 - a24 | slack-user xoxp- d12 - d12 - d12 - h32
slack-app xapp-1-A u10 - d13 - h64 | slack-config xoxe- d1 - u146
slack-hook https://hooks.slack.com/services/T u8 /B u10 / a24 | telegram d10 :AA w33
discord-hook https://discord.com/api/webhooks/ d18 / w68 | stripe sk_live_ a24
stripe-test sk_test_ a24 | stripe-restricted rk_live_ a24 | stripe-hook whsec_ a32
square sq0atp- w22 | square-secret sq0csp- w43 | square-new EAAA w60 | shopify shpat_ h32
shopify-custom shpca_ h32 | shopify-app shppa_ h32 | shopify-shared shpss_ h32
paypal-plaid access-production- h8 - h4 - h4 - h4 - h12 | twilio SK h32 | sendgrid SG. w22 . w43
mailgun key- h32 | brevo xkeysib- h64 - a16 | resend re_ a8 _ a24 | mailersend mlsn. h64
facebook EAAM a120 | npm npm_ a36 | pypi pypi-AgEIcHlwaS5vcmc w80 | rubygems rubygems_ h48
nuget oy2 l43 | crates cio a32 | clojars CLOJARS_ l60 | databricks dapi h32
grafana glsa_ a32 _ h8 | grafana-cloud glc_ b60 | new-relic NRAK- u27 | sentry sntryu_ h64
dynatrace dt0c01. u24 . u64 | sonar squ_ h40 | postman PMAK- h24 - h34 | linear lin_api_ a40
notion ntn_ d11 a35 | notion-old secret_ a43 | figma figd_ w40 | airtable pat a14 . h64
contentful CFPAT- w43 | netlify nfp_ a36 | vercel vcp_ a24 | render rnd_ a32 | supabase sbp_ h40
neon napi_ l64 | planetscale pscale_tkn_ w43 | planetscale-password pscale_pw_ w43
prefect pnu_ a36 | circleci CCIPAT_ a22 _ h40 | buildkite bkua_ h40 | apify apify_api_ a36
readme rdme_ l70 | octopus API- u26 | 1password ops_eyJ b250 | age AGE-SECRET-KEY-1 u58
yandex AQVN w36 | harness pat. w22 . a24 . a20 | typeform tfp_ w59 | duffel duffel_live_ w43
easypost EZAK a54 | posthog phx_ a43 | clickhouse 4b1d a38 | openshift sha256~ w43
hubspot pat-na1- h8 - h4 - h4 - h4 - h12 | dbt dbtc_ w40 | llamacloud llx- w48 | lob live_ h35
mapbox sk.ey J w60 . w22 | dropbox sl. w135 | jwt ey JhbGciOiJIUzI1NiJ9 . ey J w60 . w43
"""


class MadeUp(NamedTuple):
    """A secret and the text it stands in."""

    name: str
    secret: str
    text: str


def made_up_keys(seed: int = 13) -> list[MadeUp]:
    """One key of each format."""
    draw = random.Random(seed)
    return [
        _key(line.split(), draw) for line in FORMATS.replace("\n", "|").split("|") if line.strip()
    ]


def _key(words: list[str], draw: random.Random) -> MadeUp:
    name, *parts = words
    pieces = [_piece(part, draw) for part in parts]
    key = "".join(pieces)
    # Of an address only its last part is secret, of some keys what follows their mark.
    is_address = "://" in key
    secret = pieces[-1] if is_address or name in ("telegram", "terraform", "azure-client") else key
    return MadeUp(name, secret, f"the key is {key} .")


def _piece(part: str, draw: random.Random) -> str:
    kind, size = part[0], part[1:]
    if kind not in ALPHABETS or not size.isdigit():
        return part
    letters = draw.choices(ALPHABETS[kind], k=int(size))
    letters[0] = draw.choice([letter for letter in ALPHABETS[kind] if letter.isalnum()])
    letters[-1] = draw.choice([letter for letter in ALPHABETS[kind] if letter.isalnum()])
    return "".join(letters)


NAMED = """
password = "{}"
db_password: str = '{}'
PASSWORD={}
export API_TOKEN={}
{{"password": "{}"}}
{{"db": {{"api_key": "{}"}}}}
{{\\"code\\": \\"passwd = \\\\\\"{}\\\\\\"\\"}}
password: {}
client_secret: "{}"
os.environ["DB_PASSWORD"] = "{}"
connect(user="ann", passwd='{}')
if password == "{}":
Server=db;Uid=ann;Pwd={};
host=db user=ann password={} dbname=x
curl --token {} https://x.example
postgresql://ann:{}@db.example/x
mongodb+srv://ann:{}@db.example/x
redis://:{}@cache
Authorization: Bearer {}
Authorization: Basic {}
GET /x?token={}&page=2
pw = "{}"
Driver=ODBC;Uid=sa;PWD={};Encrypt=yes
<password>{}</password>
machine db.example login ann password {}
CREATE USER ann WITH PASSWORD '{}';
curl -s -u ann:{} https://x.example
sshpass -p '{}' ssh ann@x.example
passwort = "{}"
@password: str str of 9 characters: '{}'
"""


def made_up_values(seed: int = 13) -> list[MadeUp]:
    """Secrets that only their name, or what stands around them, gives away."""
    draw = random.Random(seed)
    found = []
    for pattern in NAMED.strip().splitlines():
        value = _piece("a1", draw) + _piece("a17", draw) + _piece("d2", draw)
        found.append(MadeUp(pattern, value, pattern.format(value)))
    for bare in ("Sommer-Regen!", "blau%Wal", "Tal^Ofen"):
        text = f"db:\n  password: {bare}\n"
        found.append(MadeUp(text, bare, text))
    for odd in ("p@ss/w0rd", "a/b@c#1", "x@y@z9"):
        text = f"postgresql+psycopg://ann:{odd}@db.example:5432/x"
        found.append(MadeUp(text, odd, text))
    begin, end = (
        "".join(["-----", word, " RSA PRIVATE", " KEY-----"]) for word in ("BEGIN", "END")
    )
    body = "\n".join(_piece("b64", draw) for _ in range(3))
    found.append(MadeUp("private key", body, f"{begin}\n{body}\n{end}\n"))
    return found

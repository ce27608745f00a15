"""Pages that ask whether the visitor is a person, instead of the page that was asked for (U51).

Careful by design: a page about captchas must not be taken for one. Only short pages are looked at, and each sign is the
mark of one product's own interstitial, or a captcha form together with a title that says so.
"""

import re
from collections.abc import Mapping

# With these and 200 challenges are sent. Of an error's body so much is looked at; interstitials have less before their
# scripts.
CHALLENGE_STATUSES = frozenset({202, 401, 403, 405, 429, 503})
CHALLENGE_BYTES = 32_768
# A longer body is no interstitial: such a page need not hold up its origin while it is looked at.
_SUSPECT_BYTES_MAX = 65_536
# Nor is one with more links than an interstitial has to help, languages and legal notes. One count costs a tenth of
# looking for all the words, and pages that merely speak of JavaScript need not hold up their origin.
_SUSPECT_LINKS_MAX = 16

# An interstitial says one thing; a page with more text is a page.
_TEXT_CHARS_MAX = 1_500
_HTML_CHARS_MAX = 262_144

# Scripts and elements that only the interstitial itself contains.
_PRODUCTS = (
    ("Cloudflare", ("/cdn-cgi/challenge-platform/", "_cf_chl_opt")),
    ("Cloudflare", ("cf-browser-verification",)),
    ("Cloudflare", ("cf-error-details", "captcha-bypass")),
    ("DDoS-Guard", ("/.well-known/ddos-guard/js-challenge/",)),
    ("DDoS-Guard", ("check.ddos-guard.net",)),
    ("Anubis", ("anubis_challenge",)),
    ("Anubis", ("/.within.website/x/cmd/anubis/",)),
    ("Imperva", ("_Incapsula_Resource", "incident_id")),
    ("DataDome", ("geo.captcha-delivery.com",)),
    ("PerimeterX", ("_pxAppId", "px-captcha")),
    ("AWS WAF", ("awswaf.com", "AwsWafIntegration")),
    ("Sucuri", ("sucuri_cloudproxy_js",)),
    ("go-away", ("/.well-known/.git.gammaspectra.live/",)),
    ("haproxy-protection", ("/.basedflare/",)),
    ("Akamai", ("sec-if-cpt-container",)),
    ("Vercel", ("/.well-known/vercel/security/",)),
)
# Words of which each challenge has one; pages may have one too.
_SUSPECT = (
    b"hallenge", b"aptcha", b"turnstile", b"ddos-guard", b"anubis", b"cf-browser", b"cf-error", b"_Incapsula",
    b"_pxAppId", b"sucuri", b"awswaf", b"JavaScript", b"Javascript", b".well-known", b".basedflare", b"sec-if-cpt",
)  # fmt: skip
# A wall that needs JavaScript has next to no text, a script, and says that it wants to know something of the visitor.
# "You need to enable JavaScript to run this app" alone is an application, whose title may be looked for.
_WALL_CHARS_MAX = 400
_WALL = re.compile(
    r"(?:enable|activate|turn on|requires?|need(?:s)? to (?:enable|run)|aktivier\w*|activ\w+|habilit\w+)\b.{0,40}"
    r"\bjava ?script\b|\bjava ?script\b.{0,40}\b(?:is (?:required|disabled)|must be enabled|aktivier\w*)",
    re.IGNORECASE | re.DOTALL,
)
_WALL_REASON = re.compile(r"\b(?:browser|human|robots?|bots?|verif\w+|security|continue|cookies)\b", re.IGNORECASE)
_HEADERS = (("cf-mitigated", "Cloudflare", frozenset({"challenge"})),
            ("x-amzn-waf-action", "AWS WAF", frozenset({"challenge", "captcha"})))  # fmt: skip
# Of an error's source so much can be a wall's text; what is longer has more to say.
_WALL_HTML_CHARS = 1_400
_TAG = re.compile(r"<[^<>]{0,500}>")
_HTML_TITLE = re.compile(r"<title[^>]{0,200}>([^<]{0,300})", re.IGNORECASE)
_WIDGET = re.compile(r'class="[^"]{0,200}\b(?:g-recaptcha|h-captcha|cf-turnstile)\b')
_TITLE = re.compile(
    r"captcha|are you (?:a )?(?:human|robot)|not a robot|verify (?:that )?you|human verification|security check|"
    r"just a moment|attention required|access denied|bot check",
    re.IGNORECASE,
)


def challenge_product(html: str, title: str, text: str) -> str:
    """Name the product whose challenge a page is; "" for an ordinary page.

    Args:
        html: Source of the page.
        title: Its title.
        text: Its text.
    """
    if len(text) > _TEXT_CHARS_MAX:
        return ""
    html = html[:_HTML_CHARS_MAX]
    for product, signs in _PRODUCTS:
        if all(sign in html for sign in signs):
            return product
    if _TITLE.search(title) and _WIDGET.search(html):
        return "captcha"
    if len(text) <= _WALL_CHARS_MAX and "<script" in html and _WALL.search(text) and _WALL_REASON.search(text):
        return "a page that wants JavaScript"
    return ""


def challenge_of_error(status: int, headers: Mapping[str, tuple[str, ...]], head: bytes) -> str:
    """Name the product whose challenge an answer is that is no success; "" for an ordinary error.

    Args:
        status: HTTP status.
        headers: By lower-case name.
        head: First bytes of its body.
    """
    if status not in CHALLENGE_STATUSES:
        return ""
    for name, product, values in _HEADERS:
        if values.intersection(headers.get(name, ())):
            return product
    html = head.decode("latin-1")
    title = _HTML_TITLE.search(html)
    return challenge_product(html, title[1] if title else "", _TAG.sub(" ", html[:_WALL_HTML_CHARS]))


def may_be_challenge(body: bytes) -> bool:
    """A cheap look at a page: whether its origin had better wait until `challenge_product` has looked at it."""
    is_short = len(body) <= _SUSPECT_BYTES_MAX and body.count(b"</a") <= _SUSPECT_LINKS_MAX
    return is_short and any(word in body for word in _SUSPECT)

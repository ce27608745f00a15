"""Challenge pages are told from pages (U51)."""

import pytest

from jird_daemon.extract.challenge import CHALLENGE_BYTES, challenge_of_error, may_be_challenge
from jird_daemon.extract.document import ParseJob, ParseKind
from jird_daemon.extract.page import parse_page


def kind(html: str) -> ParseKind:
    return parse_page(ParseJob("https://example.org/", html.encode(), "text/html"), 1_796_083_200.0).kind


@pytest.mark.parametrize(
    "html",
    [
        "<title>Just a moment...</title><script>window._cf_chl_opt={};a.src='/cdn-cgi/challenge-platform/h/b'</script>",
        "<title>DDoS-Guard</title><script src=/.well-known/ddos-guard/js-challenge/index.js></script>",
        '<title>Making sure</title><script id="anubis_challenge" type="application/json">{}</script>',
        '<title>Are you a robot?</title><form><div class="box g-recaptcha" data-sitekey=x></div></form>',
    ],
)
def test_interstitials_are_recognised(html: str) -> None:
    """U51."""
    assert kind(html) is ParseKind.CHALLENGE


@pytest.mark.parametrize(
    "html",
    [
        "<title>What is a captcha?</title><p>A captcha asks whether you are a robot.",
        '<title>Contact</title><form>Write to us <div class="g-recaptcha"></div></form>',
        "<title>Just a moment</title><p>A poem.",
        "<title>x</title><p>Put /cdn-cgi/challenge-platform/ and _cf_chl_opt in your filter." + "<p>text" * 400,
        "<title>Sign in</title><form><input type=password></form>",
    ],
)
def test_pages_about_challenges_are_pages(html: str) -> None:
    """U51."""
    assert kind(html) is ParseKind.DOCUMENT


SHELL = "<html><head><title>{}</title></head><body>{}</body></html>"


@pytest.mark.parametrize(
    ("product", "title", "body"),
    [
        ("Cloudflare", "Just a moment...", "<script src=/cdn-cgi/challenge-platform/h/g></script><i>_cf_chl_opt</i>"),
        ("Cloudflare", "Attention", "<div id=cf-error-details>x</div><a href=captcha-bypass>x</a>"),
        ("DDoS-Guard", "DDoS-Guard", "<script src=https://check.ddos-guard.net/check.js></script>"),
        ("Anubis", "Making sure", "<script src=/.within.website/x/cmd/anubis/static/js/main.mjs></script>"),
        ("captcha", "Security check", '<form><div class="h-captcha"></div></form>'),
        ("captcha", "Are you human?", '<form><div class="cf-turnstile"></div></form>'),
        ("a page that wants JavaScript", "x", "<p>Enable JavaScript and cookies to continue<script>go()</script>"),
        ("a page that wants JavaScript", "x", "<script>a</script><p>JavaScript is required to check your browser."),
    ],
)
@pytest.mark.parametrize("status", [200, 403, 429, 503])
def test_challenges_of_every_kind_and_status_have_a_name(status: int, product: str, title: str, body: str) -> None:
    """U51: a success is judged as a page is, an error by its first bytes; the cheap look finds both."""
    html = SHELL.format(title, body)
    assert may_be_challenge(html.encode())
    if status == 200:
        document = parse_page(ParseJob("https://example.org/", html.encode(), "text/html"), 1_796_083_200.0)
        assert (document.kind, document.message) == (ParseKind.CHALLENGE, f"challenge page of {product}")
    else:
        assert challenge_of_error(status, {}, html.encode()) == product


@pytest.mark.parametrize(
    ("title", "body"),
    [
        ("403 Forbidden", "<h1>Forbidden</h1><hr>nginx"),
        ("503 Service Unavailable", "<p>The server is down for maintenance. Please continue later."),
        ("Too many requests", "<p>Slow down, please. Robots: read our robots.txt."),
        ("Sign in", "<form class=captcha-free><input type=password></form><script>focus()</script>"),
    ],
)
def test_ordinary_errors_are_no_challenges(title: str, body: str) -> None:
    """U51."""
    for status in (403, 429, 503):
        assert not challenge_of_error(status, {}, SHELL.format(title, body).encode())
    assert not challenge_of_error(404, {"cf-mitigated": ("challenge",)}, b"")


@pytest.mark.parametrize(
    "body",
    [
        "<noscript>You need to enable JavaScript to run this app.</noscript><div id=root></div><script></script>",
        "<h1>How to enable JavaScript in your browser</h1><p>Open the settings." + "<p>Then go on." * 40,
        "<p>A script to verify captchas in JavaScript: see /challenge.",
        "<script src=/cdn-cgi/challenge-platform/scripts/jsd/main.js></script><p>An article.",
    ],
)
def test_applications_and_articles_are_no_walls(body: str) -> None:
    """U51: pages that Cloudflare only watches have a script of its challenges, too."""
    assert kind(SHELL.format("A title", body)) is ParseKind.DOCUMENT


@pytest.mark.parametrize(("name", "value"), [("cf-mitigated", "challenge"), ("x-amzn-waf-action", "captcha")])
def test_headers_that_say_so_are_enough(name: str, value: str) -> None:
    """U51: an empty body, or one that is cut, hides nothing."""
    assert challenge_of_error(403, {name: (value,)}, b"")
    assert not challenge_of_error(403, {name: ("allow",)}, b"")


def test_a_hostile_error_page_is_looked_at_in_no_time() -> None:
    """F51: bounded by its size alone."""
    for piece in (b"<", b"<title", b"<title>", b'class="', b"enable ", b"JavaScript "):
        challenge_of_error(503, {}, (piece * CHALLENGE_BYTES)[:CHALLENGE_BYTES])

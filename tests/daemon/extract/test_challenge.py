"""Challenge pages are told from pages (U51)."""

import pytest

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

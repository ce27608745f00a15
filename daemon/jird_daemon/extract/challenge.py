"""Pages that ask whether the visitor is a person, instead of the page that was asked for (U51).

Careful by design: a page about captchas must not be taken for one. Only short pages are looked at, and each sign is the
mark of one product's own interstitial, or a captcha form together with a title that says so.
"""

import re

# An interstitial says one thing; a page with more text is a page.
_TEXT_CHARS_MAX = 1_500
_HTML_CHARS_MAX = 262_144

# Scripts and elements that only the interstitial itself contains.
_PRODUCTS = (
    ("Cloudflare", ("/cdn-cgi/challenge-platform/", "_cf_chl_opt")),
    ("Cloudflare", ("cf-browser-verification",)),
    ("Cloudflare", ("cf-error-details", "captcha-bypass")),
    ("DDoS-Guard", ("/.well-known/ddos-guard/js-challenge/",)),
    ("Anubis", ("anubis_challenge",)),
    ("Imperva", ("_Incapsula_Resource", "incident_id")),
    ("DataDome", ("geo.captcha-delivery.com",)),
    ("PerimeterX", ("_pxAppId", "px-captcha")),
    ("AWS WAF", ("awswaf.com", "AwsWafIntegration")),
    ("Sucuri", ("sucuri_cloudproxy_js",)),
)
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
    return ""

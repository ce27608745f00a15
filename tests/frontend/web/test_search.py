"""Searches through real HTTP: the API, SearXNG's shape, pages, paging, errors."""

import json
import re
import threading

import grpc
import httpx
import pytest

from jird.v1.search_service_pb2 import SearchHit
from testkit.fake_daemon import FakeDaemon, Fault, make_hit


def test_api_answers_with_the_contracts_keys(http: httpx.Client) -> None:
    """J74, J76."""
    answer = http.get("/api/search", params={"q": "gerbil"})
    assert answer.headers["content-type"] == "application/json"
    data = answer.json()
    assert {key: data[key] for key in ("query", "limit", "offset", "count", "has_more")} == {
        "query": "gerbil", "limit": 20, "offset": 0, "count": 20, "has_more": True,
    }  # fmt: skip
    assert (data["previous_offset"], data["next_offset"]) == (None, 20)
    first = data["results"][0]
    assert first["url"] == "https://docs.test/page/0"
    assert first["title"] == "Page 0 <i>"
    assert first["snippet"] == "Page 0 says <b>gerbil</b> & more."
    assert first["score"] == 9.5


def test_limit_and_offset_are_capped_and_shown(http: httpx.Client, daemon: FakeDaemon) -> None:
    """J75."""
    daemon.match_count = 5_000
    data = http.get("/api/search", params={"q": "x", "limit": 5_000, "offset": 5_000}).json()
    assert (data["limit"], data["offset"], data["count"]) == (100, 1_000, 100)
    assert (data["has_more"], data["next_offset"], data["previous_offset"]) == (False, None, 900)


@pytest.mark.parametrize("offset", [0, 1, 19, 20, 500, 999, 1_000])
def test_every_offset_of_the_window_is_served(http: httpx.Client, daemon: FakeDaemon, offset: int) -> None:
    """J78."""
    daemon.match_count = 5_000
    data = http.get("/api/search", params={"q": "x", "offset": offset}).json()
    assert data["results"][0]["url"] == f"https://docs.test/page/{offset}"


def test_next_leads_through_all_results_and_ends(http: httpx.Client) -> None:
    """J76, F111: the pager promises no page that is not there, and skips none."""
    seen: list[str] = []
    offset: int | None = 0
    while offset is not None:
        data = http.get("/api/search", params={"q": "x", "offset": offset}).json()
        seen += [hit["url"] for hit in data["results"]]
        offset = data["next_offset"]
    assert seen == [f"https://docs.test/page/{number}" for number in range(45)]


def test_searxng_reads_its_list_by_page(http: httpx.Client) -> None:
    """U92: /search?format=json&search={query}&page={pageno}, from 0, with the fields title, url and description."""
    data = http.get("/search", params={"format": "json", "search": "gerbil", "page": 2}).json()
    assert [item["url"] for item in data["list"]] == [f"https://docs.test/page/{number}" for number in range(40, 45)]
    assert set(data["list"][0]) == {"title", "url", "description"}
    assert data["list"][0]["description"] == "Page 40 says <b>gerbil</b> & more."


@pytest.mark.parametrize("route", ["/search?format=json", "/api/search?", "/images?format=json", "/api/images?"])
@pytest.mark.parametrize("fields", ["q=x&offset=20&limit=20", "search=x&page=1&limit=20"])
def test_both_spellings_are_understood_on_every_route(
    http: httpx.Client, daemon: FakeDaemon, route: str, fields: str
) -> None:
    """U92, J77: one implementation."""
    assert http.get(f"{route}&{fields}").json()["offset"] == 20
    request = daemon.seen[-1].request
    assert (request.query, request.limit, request.offset) == ("x", 20, 20)


@pytest.mark.parametrize("route", ["/", "/search?q=x", "/images?q=x", "/stats"])
def test_every_page_is_also_an_api(http: httpx.Client, route: str) -> None:
    """U91."""
    joint = "&" if "?" in route else "?"
    answer = http.get(f"{route}{joint}format=json")
    assert answer.headers["content-type"] == "application/json"
    assert isinstance(answer.json(), dict)


def test_page_shows_results_with_marked_matches_and_escapes_the_rest(http: httpx.Client) -> None:
    """J77: markup of a page is text here."""
    text = http.get("/search", params={"q": 'ger"bil'}).text
    assert "Page 0 says &lt;b&gt;<mark>gerbil</mark>&lt;/b&gt; &amp; more." in text
    assert "Page 0 &lt;i&gt;</a>" in text
    assert 'value="ger&#34;bil"' in text
    assert "Results 1 to 20 of 45" in text
    assert '<li class="result" lang="en">' in text


def test_what_a_query_may_have_meant_is_a_link_to_it(http: httpx.Client, daemon: FakeDaemon) -> None:
    daemon.notices = ('did you mean: "red fox" & x', "a quote <b> was read as text")
    text = http.get("/search", params={"q": "nothing"}).text
    assert 'did you mean: <a href="/search?q=%22red%20fox%22%20%26%20x">&#34;red fox&#34; &amp; x</a>' in text
    assert "a quote &lt;b&gt; was read as text" in text


def test_pager_links_are_encoded_and_lead_on(http: httpx.Client) -> None:
    """J77."""
    text = http.get("/search", params={"q": "a&b=ü 100%", "limit": 10, "offset": 10}).text
    assert 'rel="prev" href="/search?q=a%26b%3D%C3%BC%20100%25&amp;limit=10"' in text
    assert 'rel="next" href="/search?q=a%26b%3D%C3%BC%20100%25&amp;limit=10&amp;offset=20"' in text
    assert '<span class="number" aria-current="page">2</span>' in text


def test_last_page_has_no_next(http: httpx.Client) -> None:
    """F111."""
    text = http.get("/search", params={"q": "x", "offset": 40}).text
    assert "Results 41 to 45 of 45" in text
    assert 'rel="next"' not in text
    assert 'aria-label="Page 2"' in text
    assert 'aria-label="Page 4"' not in text


def test_page_beyond_the_results_says_so(http: httpx.Client) -> None:
    """F111."""
    text = http.get("/search", params={"q": "x", "offset": 100}).text
    assert "There is no such page of results" in text
    assert 'href="/search?q=x"' in text


def test_lower_bound_is_called_one(http: httpx.Client, daemon: FakeDaemon) -> None:
    """F111."""
    daemon.match_count = 1_500
    assert "Results 1 to 20 of at least 1,500" in http.get("/search", params={"q": "x"}).text


def test_nothing_found_says_what_to_do(http: httpx.Client) -> None:
    answer = http.get("/search", params={"q": "nothing"})
    assert answer.status_code == 200
    assert "Nothing was found for “nothing”" in answer.text
    assert "Check the spelling" in answer.text
    assert 'rel="next"' not in answer.text


def test_script_address_is_no_link(http: httpx.Client, daemon: FakeDaemon) -> None:
    def hostile(number: int) -> SearchHit:
        hit = make_hit(number)
        hit.document.url = "javascript:alert(1)"
        return hit

    daemon.hit = hostile
    assert 'href="javascript:' not in http.get("/search", params={"q": "x"}).text


def test_address_is_readable(http: httpx.Client, daemon: FakeDaemon) -> None:
    """F117."""

    def readable(number: int) -> SearchHit:
        hit = make_hit(number)
        hit.document.url = "https://docs.test/b%C3%BCcher"
        return hit

    daemon.hit = readable
    text = http.get("/search", params={"q": "x"}).text
    assert "<b>docs.test</b>/bücher" in text
    assert 'href="https://docs.test/b%C3%BCcher"' in text


def test_query_of_1024_characters_is_served_and_one_more_is_414(http: httpx.Client, daemon: FakeDaemon) -> None:
    """J103: characters, not bytes."""
    assert http.get("/api/search", params={"q": "語" * 1_024}).status_code == 200
    before = len(daemon.seen)
    answer = http.get("/api/search", params={"q": "語" * 1_025})
    assert answer.status_code == 414
    assert answer.json() == {
        "error": "query_too_long",
        "reason": "QUERY_TOO_LONG",
        "message": "the query has 1,025 characters; at most 1,024 are possible",
    }
    page = http.get("/search", params={"q": "x" * 2_000})
    assert page.status_code == 414
    assert "This query is too long" in page.text
    assert "x" * 1_100 not in page.text
    assert len(daemon.seen) == before


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ("q=%00", "QUERY_NOT_TEXT"),
        ("q=a%1fb", "QUERY_NOT_TEXT"),
        ("q=%ff%fe", "QUERY_NOT_TEXT"),
        ("q=x&limit=0", "BAD_NUMBER"),
        ("q=x&limit=ten", "BAD_NUMBER"),
        ("q=x&offset=-1", "BAD_NUMBER"),
        ("q=x&page=1e3", "BAD_NUMBER"),
        ("q=x&limit=99999999999999999999", "BAD_NUMBER"),
        ("q=", "QUERY_MISSING"),
        ("", "QUERY_MISSING"),
        ("&".join(f"f{number}=1" for number in range(60)), "TOO_MANY_FIELDS"),
    ],
)
def test_bad_request_is_400_with_its_reason(http: httpx.Client, daemon: FakeDaemon, fields: str, reason: str) -> None:
    answer = http.get(f"/api/search?{fields}")
    assert (answer.status_code, answer.json()["reason"]) == (400, reason)
    assert daemon.calls("Search") == []


def test_syntax_error_reaches_the_person_in_words(http: httpx.Client, daemon: FakeDaemon) -> None:
    fault = Fault(grpc.StatusCode.INVALID_ARGUMENT, "QUERY_SYNTAX", "the quotation mark at 4 is not closed")
    daemon.faults["Search"] = fault
    assert http.get("/api/search?q=x").json()["reason"] == "QUERY_SYNTAX"
    page = http.get("/search?q=x")
    assert page.status_code == 400
    assert "The quotation mark at 4 is not closed." in page.text
    assert "Search tips" in page.text


def test_fault_of_the_daemon_shows_no_path(http: httpx.Client, daemon: FakeDaemon) -> None:
    """J82."""
    daemon.faults["Search"] = Fault(grpc.StatusCode.DATA_LOSS, "SEGMENT_CORRUPT", "/var/lib/jird/index/7.qix: magic")
    for route in ("/api/search?q=x", "/search?q=x"):
        answer = http.get(route)
        assert answer.status_code == 500
        assert "/var/lib" not in answer.text


def test_full_daemon_is_503_with_retry_after(http: httpx.Client, daemon: FakeDaemon) -> None:
    daemon.faults["Search"] = Fault(grpc.StatusCode.RESOURCE_EXHAUSTED, "SEARCH_BUSY", "too many searches")
    answer = http.get("/api/search?q=x")
    assert (answer.status_code, answer.headers["retry-after"]) == (503, "2")
    assert answer.json()["error"] == "unavailable"
    daemon.faults["Search"].retry_after_ms = 7_300
    assert http.get("/api/search?q=x").headers["retry-after"] == "8"


@pytest.mark.parametrize(
    "header", [("Sec-Purpose", "prefetch;prerender"), ("Purpose", "prefetch"), ("X-Moz", "prefetch")]
)
def test_search_ahead_of_time_is_refused(http: httpx.Client, daemon: FakeDaemon, header: tuple[str, str]) -> None:
    """F113."""
    answer = http.get("/search?q=x", headers=[header])
    assert answer.status_code == 503
    assert daemon.calls("Search") == []


def test_flood_of_one_client_is_refused_fast_and_health_answers(http: httpx.Client, daemon: FakeDaemon) -> None:
    """F113: the seventeenth search at a time from one address is told to wait; health still answers."""
    daemon.gate = threading.Event()
    statuses: list[int] = []
    refused = threading.Event()

    def ask(number: int) -> None:
        with httpx.Client(base_url=http.base_url, timeout=20, trust_env=False) as client:
            statuses.append(client.get("/api/search", params={"q": "x", "offset": number}).status_code)
        if statuses[-1] in (429, 503):
            refused.set()

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(16)]
    for thread in threads:
        thread.start()
    # 15 connections of this address wait in the gate at most; the limit on connections refuses what exceeds it.
    assert refused.wait(10)
    assert http.get("/healthz").status_code == 200
    daemon.gate.set()
    for thread in threads:
        thread.join(20)
    assert set(statuses) <= {200, 429, 503}


def test_images_are_shown_from_where_they_are(http: httpx.Client) -> None:
    """S30, S32: loaded lazily from the original address, which this page alone may load pictures from."""
    answer = http.get("/images", params={"q": "gerbil"})
    assert '<img src="https://docs.test/image/0.png" alt="Image 0" loading="lazy"' in answer.text
    assert 'aria-current="page">Images' in answer.text
    assert "img-src 'self' https: http:" in answer.headers["content-security-policy"]
    data = http.get("/api/images", params={"q": "gerbil", "limit": 2}).json()
    assert data["results"][1] == {
        "url": "https://docs.test/image/1.png", "alt": "Image 1",
        "page_url": "https://docs.test/page/1", "page_title": "Page 1",
    }  # fmt: skip


def test_suggestions_have_the_shape_that_browsers_read(http: httpx.Client) -> None:
    answer = http.get("/api/suggest", params={"q": "gerb"})
    assert answer.headers["content-type"] == "application/x-suggestions+json"
    assert json.loads(answer.content) == ["gerb", ["gerber", "gerbing"]]
    assert http.get("/api/suggest").json() == ["", []]


def test_description_for_browsers_has_its_media_type(http: httpx.Client) -> None:
    """F115."""
    answer = http.get("/opensearch.xml", headers={"Host": "search.example"})
    assert answer.headers["content-type"].startswith("application/opensearchdescription+xml")
    assert 'template="http://search.example/search?q={searchTerms}"' in answer.text
    assert 'template="http://search.example/api/suggest?q={searchTerms}"' in answer.text


def test_results_are_asked_for_anew_each_time(http: httpx.Client) -> None:
    """A page that was crawled a second ago must not hide behind a browser's cache."""
    assert http.get("/search?q=x").headers["cache-control"] == "no-cache"


def folded(number: int) -> SearchHit:
    """Hit 0 has two that say nearly the same, one of them with markup in its address; hit 1 is a duplicate."""
    hit = make_hit(number)
    if number == 0:
        hit.similar_urls.extend(["https://mirror.test/a?b=<i>", "https://mirror.test/c"])
    hit.is_duplicate = number == 1
    return hit


def test_pages_that_say_the_same_are_folded_and_never_lost(http: httpx.Client, daemon: FakeDaemon) -> None:
    daemon.hit = folded
    results = http.get("/api/search?q=x").json()["results"]
    assert results[0]["similar"] == ["https://mirror.test/a?b=<i>", "https://mirror.test/c"]
    assert [result["is_duplicate"] for result in results[:3]] == [False, True, False]
    page = http.get("/search?q=x&limit=10").text
    assert "2 more say nearly the same" in page
    assert '<a href="https://mirror.test/c">mirror.test/c</a>' in page
    assert "<i>" not in page.partition("mirror.test")[2].partition("</details>")[0]
    assert "/search?q=x&amp;limit=10&amp;duplicates=1" in page


def test_each_of_them_is_shown_on_request_on_every_page(http: httpx.Client, daemon: FakeDaemon) -> None:
    daemon.hit = folded
    assert not daemon.seen or not daemon.seen[-1].request.show_duplicates
    page = http.get("/search?q=x&duplicates=1").text
    assert daemon.seen[-1].request.show_duplicates
    assert "/search?q=x&amp;duplicates=1&amp;offset=20" in page
    assert 'href="/search?q=x">Fold them' in page
    assert "the same text as another page of its site" in page
    http.get("/api/search?q=x&duplicates=1")
    assert daemon.seen[-1].request.show_duplicates
    http.get("/api/search?q=x&duplicates=0")
    assert not daemon.seen[-1].request.show_duplicates
    assert http.get("/api/search?q=x&duplicates=yes").status_code == 400


@pytest.mark.parametrize(
    ("dates", "shown"),
    [
        ({"published_time": 1_577_880_000, "modified_time": 1_600_000_000}, "published 2020-01-01"),
        ({"modified_time": 1_600_000_000}, "changed 2020-09-13"),
        ({}, "seen 20"),
    ],
)
def test_result_says_when_the_page_was_published_else_changed_else_seen(
    http: httpx.Client, daemon: FakeDaemon, dates: dict[str, int], shown: str
) -> None:
    """U65."""

    def dated(number: int) -> SearchHit:
        hit = make_hit(number)
        for name, seconds in dates.items():
            getattr(hit.document, name).FromSeconds(seconds)
        return hit

    daemon.hit = dated
    page = re.sub(r"<[^>]*>", "", http.get("/search", params={"q": "x"}).text)
    assert shown in page
    first = http.get("/api/search", params={"q": "x"}).json()["results"][0]
    assert (first["published"] is not None, first["modified"] is not None) == (
        "published_time" in dates,
        "modified_time" in dates,
    )

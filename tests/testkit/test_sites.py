"""The test internet is served as written, by nginx and by the server of our own alike."""

import re
import ssl
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from testkit.site_cases import HIDDEN_WORDS, SHOWN_WORDS
from testkit.sites import TestInternet


@pytest.fixture(scope="module", params=["nginx", "own"])
def internet(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestInternet]:
    directory = tmp_path_factory.mktemp("internet")
    wanted = TestInternet(directory, use_nginx=request.param == "nginx")
    if wanted.use_nginx and not _has_nginx():
        pytest.skip("nginx is not installed")
    with wanted as running:
        yield running


def _has_nginx() -> bool:
    return any((Path(folder) / "nginx").exists() for folder in ("/usr/sbin", "/usr/bin", "/usr/local/sbin"))


def get(internet: TestInternet, host: str, path: str) -> httpx.Response:
    address = next(site.address for site in internet.sites if site.host == host)
    context = ssl.create_default_context(cafile=str(internet.authority.ca_file))
    with httpx.Client(verify=context, trust_env=False) as client:
        return client.get(
            f"https://{address}:{internet.port}{path}",
            headers={"Host": f"{host}:{internet.port}"},
            extensions={"sni_hostname": host},
        )


def test_every_kind_of_resource_is_served_as_written(internet: TestInternet) -> None:
    for host, resources in internet.resources.items():
        for path in list(resources)[:4] if host != "cases.test" else resources:
            wanted = resources[path]
            got = get(internet, host, path)
            assert got.status_code == wanted.status, path
            if 300 <= wanted.status < 400:
                assert got.headers["location"] == dict(wanted.headers)["Location"], path
            else:
                assert all(got.headers[name] == value for name, value in wanted.headers), path
                assert got.content == wanted.body, path


def test_internet_has_a_few_hundred_pages_in_four_languages(internet: TestInternet) -> None:
    pages = [page for resources in internet.resources.values() for page in resources.values() if page.status == 200]
    assert len(pages) > 300
    for language in (b"en", b"de", b"ja", b"ru"):
        assert sum(b'<html lang="%s"' % language in page.body for page in pages) > 20


def test_links_inside_a_site_lead_to_pages_that_exist(internet: TestInternet) -> None:
    for host, resources in internet.resources.items():
        if host == "cases.test":
            continue
        for path, page in resources.items():
            for target in re.findall(rb"""href=["'](/[^"']*)""", page.body):
                assert target.decode() in resources, f"{host}{path}"


def test_word_of_a_case_page_stands_on_that_page_alone(internet: TestInternet) -> None:
    resources = internet.resources["cases.test"]
    for path, word in {**SHOWN_WORDS, **HIDDEN_WORDS}.items():
        assert [other for other, page in resources.items() if word.encode() in page.body] == [path]


def test_unknown_page_is_404(internet: TestInternet) -> None:
    assert get(internet, "garden.test", "/no-such-page").status_code == 404

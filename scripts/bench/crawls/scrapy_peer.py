"""Crawl sites with Scrapy, in the benchmarks' own environment: follow links; take title, text and links of each page.

The arguments are the connections of all, those of a host, and the seeds; the result is one line of JSON. robots.txt is
not asked for, nothing is stored, and neither start nor import is measured.
"""

import json
import sys
import time
from typing import Any
from urllib.parse import urlsplit

import scrapy  # type: ignore[import-not-found]
from scrapy.crawler import CrawlerProcess  # type: ignore[import-not-found]
from scrapy.linkextractors import LinkExtractor  # type: ignore[import-not-found]

seen: set[str] = set()
clocks: dict[str, float] = {}


class Sites(scrapy.Spider):  # type: ignore[misc]
    """Every page of the seeds' hosts."""

    name = "sites"
    extractor = LinkExtractor()

    def parse(self, response: Any) -> Any:
        """Read a page; ask for what it links to."""
        title = response.css("title::text").get("")
        text = " ".join(response.xpath("//body//text()").getall())
        links = self.extractor.extract_links(response)
        assert title
        assert text
        seen.add(response.url)  # Scrapy asks for the seeds twice
        for link in links:
            yield scrapy.Request(link.url, callback=self.parse)

    def closed(self, reason: str) -> None:
        """Stop the clocks."""
        clocks["seconds"] = time.perf_counter() - clocks["seconds"]
        clocks["cpu_s"] = time.process_time() - clocks["cpu_s"]


def main() -> int:
    """Crawl and print."""
    connections, each, *seeds = sys.argv[1:]
    settings = {
        "CONCURRENT_REQUESTS": int(connections),
        "CONCURRENT_REQUESTS_PER_DOMAIN": int(each),
        "DOWNLOAD_DELAY": 0,
        "AUTOTHROTTLE_ENABLED": False,
        "ROBOTSTXT_OBEY": False,
        "LOG_LEVEL": "ERROR",
        "TELNETCONSOLE_ENABLED": False,
        "RETRY_ENABLED": False,
    }
    process = CrawlerProcess(settings)
    clocks.update(seconds=time.perf_counter(), cpu_s=time.process_time())
    process.crawl(Sites, start_urls=seeds, allowed_domains=sorted({urlsplit(seed).hostname or "" for seed in seeds}))
    process.start()
    json.dump({"pages": len(seen), **clocks}, sys.stdout)
    return 0


if __name__ == "__main__":
    sys.exit(main())

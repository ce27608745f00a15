"""Sites and other crawlers for the benchmarks of the crawl."""

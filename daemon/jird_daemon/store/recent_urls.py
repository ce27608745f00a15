"""Numbers of URLs that were met lately."""


class RecentUrls:
    """Numbers of URLs that were met lately; only committed ones, so that a rolled-back number is never used.

    Two generations: what was not asked for during one filling of the younger is forgotten. Pages of one site link to
    the same addresses over and over: this answers nine look-ups of ten without LMDB.
    """

    # Of each generation; about 200 bytes an entry.
    SIZE = 32_768

    def __init__(self) -> None:
        self._young: dict[str, int] = {}
        self._old: dict[str, int] = {}

    def get(self, url: str) -> int | None:
        """Number of a URL, if it is remembered."""
        url_id = self._young.get(url)
        if url_id is None:
            url_id = self._old.get(url)
            if url_id is not None:
                self._remember(url, url_id)
        return url_id

    def update(self, urls: dict[str, int]) -> None:
        """Remember committed numbers."""
        for url, url_id in urls.items():
            self._remember(url, url_id)

    def _remember(self, url: str, url_id: int) -> None:
        if len(self._young) >= self.SIZE:
            self._old, self._young = self._young, {}
        self._young[url] = url_id

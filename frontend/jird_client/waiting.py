"""Why an origin is not asked now, in words for people."""

_WORDS = {
    "address_busy": "other origins on its address are being asked",
    "rate_limited": "it asked for a slower pace",
    "blamed": "it answered 401 or 403",
    "challenged": "it asks whether we are a person",
    "failing": "it gives no usable answer",
    "robots": "its robots.txt cannot be had",
}


def waiting_words(reason: str) -> str:
    """Return the daemon's `waiting_reason` as words; one of a newer daemon as it is."""
    return _WORDS.get(reason, reason)

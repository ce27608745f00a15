"""Documents in and out: `jirdctl import` and `jirdctl export`, as JSON Lines and as WARC."""

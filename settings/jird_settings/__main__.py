"""`python -m jird_settings`: print the documented default file, or with --docs the reference page."""

import sys

from jird_settings.document import default_file, reference_page

sys.stdout.write(reference_page() if sys.argv[1:] == ["--docs"] else default_file())

"""Tell systemd how a service is doing (sd_notify(3)): one datagram to $NOTIFY_SOCKET."""

import os
import socket
from collections.abc import Mapping


def notify(state: str, environ: Mapping[str, str] = os.environ) -> bool:
    """Send a state such as "READY=1" or "STOPPING=1\\nSTATUS=draining".

    Returns:
        Whether it was sent; False when the service was not started by systemd, or systemd does not listen any more.
    """
    address = environ.get("NOTIFY_SOCKET", "")
    if not address:
        return False
    target = "\0" + address[1:] if address.startswith("@") else address
    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC) as channel:
            channel.sendto(state.encode(), target)
    except OSError:
        return False
    return True

"""Free loopback ports."""

import contextlib
import socket


def free_ports(count: int) -> list[int]:
    """That many different free ports on 127.0.0.1. All are held until the last is found, so that none comes twice."""
    with contextlib.ExitStack() as held:
        ports = []
        for _ in range(count):
            listener = held.enter_context(socket.socket())
            listener.bind(("127.0.0.1", 0))
            ports.append(listener.getsockname()[1])
        return ports


def listens(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port), timeout=0.5).close()
    except OSError:
        return False
    return True

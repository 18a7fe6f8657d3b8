"""What the controls of a notebook have in its kernel, asked from a test beside the page that shows them."""

import ast
import json
import math
import urllib.request
from contextlib import contextmanager

from jupyter_client import BlockingKernelClient

ASK = "__import__('tests.browser.asked', fromlist=['state']).state()"


def state():
    """In the kernel: (function, [(name, kind, what should be shown)]) of every `interact` so far. A slider should show
    (where its handle stands between 0 and 1, the number beside it), others which option, a text, or if they are on."""
    from ipywidgets import interactive
    from ipywidgets.widgets.widget import _instances

    controls = [widget for widget in _instances.values() if isinstance(widget, interactive)]
    return [(control.f.__name__, [(part._kwarg, type(part).__name__, shown(part)) for part in control.kwargs_widgets])
            for control in controls]


def shown(part):
    """What a widget should show."""
    if hasattr(part, "label"):
        return f"{part.index}: {part.label}"
    if not hasattr(part, "readout_format"):
        return part.value
    at = math.log(part.value, part.base) if hasattr(part, "base") else part.value
    return (at - part.min) / (part.max - part.min), float(format(part.value, part.readout_format))


@contextmanager
def kernel(server, folder, token, name):
    """A function that gives `state()` of the notebook that is open under this name; its kernel is ended afterwards."""
    def request(path, method="GET"):
        headers = {"Authorization": f"token {token}"}
        asked = urllib.request.Request(f"{server}/api/{path}", headers=headers, method=method)
        with urllib.request.urlopen(asked, timeout=60) as reply:
            return reply.read()

    [number] = [session["kernel"]["id"] for session in json.loads(request("sessions")) if session["path"] == name]
    client = BlockingKernelClient(connection_file=str(folder.parent / "RUNTIME" / f"kernel-{number}.json"))
    client.load_connection_file()
    client.start_channels()

    def ask():
        sent = client.execute("", silent=True, user_expressions={"state": ASK})
        while (reply := client.get_shell_msg(timeout=60))["parent_header"]["msg_id"] != sent:
            pass
        answer = reply["content"]["user_expressions"]["state"]
        assert answer["status"] == "ok", answer
        return ast.literal_eval(answer["data"]["text/plain"])

    yield ask
    client.stop_channels()
    request(f"kernels/{number}", "DELETE")

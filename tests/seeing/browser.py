"""A browser without a window: Chromium, told what to do through two pipes in its DevTools protocol."""
import base64
import json
import os
import select
import shutil
import signal
import subprocess
import time

KEYS = {"Tab": 9, "Enter": 13, "End": 35, "Home": 36, "ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39, "ArrowDown": 40}
WAIT = 60  # seconds for one answer, on a busy machine


def program():
    for name in ("chromium", "chromium-browser", "google-chrome"):
        if shutil.which(name):
            return shutil.which(name)
    return None


class Browser:
    """One page at a time: open(), then look at it."""

    def __init__(self, folder):
        told, self.tell = os.pipe()
        self.hear, said = os.pipe()
        options = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync",
                   "--disable-background-networking", "--disable-component-update", "--hide-scrollbars",
                   f"--user-data-dir={folder}/browser", "--remote-debugging-pipe"]
        self.process = subprocess.Popen(["bash", "-c", f'exec "$@" 3<&{told} 4>&{said}', "bash", program(), *options, "about:blank"],
                                        pass_fds=(told, said), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
        os.close(told)
        os.close(said)
        self.number, self.rest, self.events, self.session = 0, b"", [], None
        target = self.ask("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Accessibility"):
            self.ask(domain + ".enable")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()
        os.close(self.tell)
        os.close(self.hear)
        self.end_helpers()

    def end_helpers(self):
        """Processes of the browser that outlive it would write into the folder while it is removed."""
        end = time.monotonic() + 5
        while time.monotonic() < end:
            try:
                os.killpg(self.process.pid, signal.SIGKILL)
            except ProcessLookupError:
                return
            time.sleep(0.02)

    def message(self):
        """The next thing it says."""
        end = time.monotonic() + WAIT
        while b"\0" not in self.rest:
            if not select.select([self.hear], [], [], max(0, end - time.monotonic()))[0]:
                raise TimeoutError("the browser says nothing")
            piece = os.read(self.hear, 1 << 20)
            if not piece:
                raise EOFError("the browser ended")
            self.rest += piece
        text, _, self.rest = self.rest.partition(b"\0")
        return json.loads(text)

    def ask(self, method, **words):
        self.number += 1
        call = {"id": self.number, "method": method, "params": words}
        if self.session:
            call["sessionId"] = self.session
        data = json.dumps(call).encode() + b"\0"
        while data:
            data = data[os.write(self.tell, data):]
        while True:
            answer = self.message()
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']['message']}")
                return answer["result"]
            self.events.append(answer)

    def open(self, path, width=1200, height=900, dark=False):
        """What its console says is in said()."""
        self.ask("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 600)
        self.ask("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])
        self.events.clear()
        self.ask("Page.navigate", url="file://" + path)
        while not any(e["method"] == "Page.loadEventFired" for e in self.events):
            self.events.append(self.message())

    def said(self):
        words = [e["params"] for e in self.events if e["method"] in ("Runtime.consoleAPICalled", "Runtime.exceptionThrown")]
        return [json.dumps(w)[:500] for w in words]

    def value(self, expression):
        """Of JavaScript."""
        answer = self.ask("Runtime.evaluate", expression=expression, returnByValue=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(json.dumps(answer["exceptionDetails"])[:500])
        return answer["result"].get("value")

    def press(self, key, shift=False):
        words = {"key": key, "code": key, "windowsVirtualKeyCode": KEYS[key], "modifiers": 8 if shift else 0}
        if key == "Enter":
            words["text"] = "\r"
        self.ask("Input.dispatchKeyEvent", type="keyDown", **words)
        self.ask("Input.dispatchKeyEvent", type="keyUp", **{k: v for k, v in words.items() if k != "text"})

    def read_out(self):
        """Role and name of what has the focus, as a screen reader gets them."""
        focused = self.ask("Runtime.evaluate", expression="document.activeElement")["result"]["objectId"]
        node = self.ask("Accessibility.getPartialAXTree", objectId=focused, fetchRelatives=False)["nodes"][0]
        return node.get("role", {}).get("value"), node.get("name", {}).get("value"), node.get("description", {}).get("value", "")

    def picture(self, path):
        """Of the whole page."""
        with open(path, "wb") as file:
            file.write(base64.b64decode(self.ask("Page.captureScreenshot", captureBeyondViewport=True)["data"]))

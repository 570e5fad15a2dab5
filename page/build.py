"""Puts the page together: build.py WASM FOLDER writes FOLDER/index.html, with everything in it.

One file, so that it opens from a disk as well as from a server. What may run is named by its hash
in a content security policy that allows no connection at all.
"""

import base64
import hashlib
import pathlib
import re
import sys

wasm, folder = map(pathlib.Path, sys.argv[1:])
source = pathlib.Path(__file__).parent
page = (source / "index.html").read_text()


def hashed(text):
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


styles, scripts = [], []


def inline_style(match):
    text = (source / match[1]).read_text()
    styles.append(hashed(text))
    return f"<style>{text}</style>"


def inline_script(match):
    text = (source / match[1]).read_text()
    scripts.append(hashed(text))
    return f"<script>{text}</script>"


page = re.sub(r'<link rel="stylesheet" href="([^"]+)">', inline_style, page)
page = re.sub(r'<script src="([^"]+)"></script>', inline_script, page)
policy = "; ".join(
    [
        "default-src 'none'",
        f"style-src {' '.join(styles)}",
        f"script-src {' '.join(scripts)} 'wasm-unsafe-eval'",
        "img-src data:",
        "base-uri 'none'",
        "form-action 'none'",
    ]
)
code = base64.b64encode(wasm.read_bytes()).decode()
for place, text in {
    "<!-- csp -->": f'<meta http-equiv="Content-Security-Policy" content="{policy}">',
    '<script type="application/wasm" id="wasm"></script>': (
        f'<script type="application/wasm" id="wasm">{code}</script>'
    ),
}.items():
    if page.count(place) != 1:
        sys.exit(f"index.html needs exactly one {place}")
    page = page.replace(place, text)
folder.mkdir(parents=True, exist_ok=True)
(folder / "index.html").write_text(page)

"""What the client of Clio does to get a change decided and applied, on the WebSocket library it is built on.

Usage: clio_client.py FILE AFTER EDITS
EDITS is the same change as a list of edits. Prints one JSON object: what it found out on the way.
"""

import asyncio
import json
import os
import pathlib
import sys

import websockets

PATIENCE_SECONDS = 30.0


def port():
    if "CLIO_IDE_PORT" in os.environ:
        return int(os.environ["CLIO_IDE_PORT"])
    bridge = pathlib.Path.home() / ".clio" / "ide" / "bridge.json"
    return json.loads(bridge.read_text())["port"]


async def main(file, after, edits):
    before = pathlib.Path(file).read_text()
    async with websockets.connect(f"ws://127.0.0.1:{port()}") as socket:

        async def send(message):
            await socket.send(json.dumps(message))

        # The next message is the answer to the question, whatever it says.
        async def answer():
            return json.loads(await asyncio.wait_for(socket.recv(), timeout=PATIENCE_SECONDS))

        await send({"type": "connect", "clientVersion": "0.1.0"})
        connected = await answer()
        await send({"type": "status", "message": "Processing request...", "level": "info"})
        await send(
            {"type": "openDiff", "file": file, "before": before, "after": after, "description": "Fix add()"}
        )
        decided = await answer()
        if decided["type"] == "diffAccepted":
            await send({"type": "applyDiff", "file": file, "edits": edits})
            for _ in range(200):
                if pathlib.Path(file).read_text() == after:
                    break
                await asyncio.sleep(0.05)
        await send({"type": "closeDiff", "file": file})
        found = {
            "connected": connected["type"],
            "ideName": connected["ideName"],
            "decided": decided["type"],
            "text": pathlib.Path(file).read_text(),
        }
    print(json.dumps(found))


asyncio.run(main(sys.argv[1], sys.argv[2], json.loads(sys.argv[3])))

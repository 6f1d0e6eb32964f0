"""What the client of NEXUS3 does to get a change decided, on the WebSocket library it is built on.

Usage: nexus3_client.py LOCK_FILE FILE TEXT
Prints one JSON object: what it found out on the way, and whether the change was accepted.
"""

import asyncio
import json
import pathlib
import sys

import websockets


class Client:
    def __init__(self, socket):
        self.socket = socket
        self.next_id = 0

    async def request(self, method, params):
        self.next_id += 1
        message = {"jsonrpc": "2.0", "id": self.next_id, "method": method, "params": params}
        await self.socket.send(json.dumps(message))
        while True:
            answer = json.loads(await self.socket.recv())
            # Notifications that arrive meanwhile are discarded.
            if answer.get("id") == self.next_id:
                if "error" in answer:
                    raise RuntimeError(answer["error"]["message"])
                return answer["result"]

    async def call(self, tool, arguments):
        result = await self.request("tools/call", {"name": tool, "arguments": arguments})
        return result["content"][0]["text"]


async def main(lock_file, file, text):
    lock = json.loads(pathlib.Path(lock_file).read_text())
    port = int(pathlib.Path(lock_file).stem)
    headers = {"x-nexus3-ide-authorization": lock["authToken"]}
    async with websockets.connect(
        f"ws://127.0.0.1:{port}", additional_headers=headers, ping_interval=30, ping_timeout=10
    ) as socket:
        client = Client(socket)
        # NEXUS3 itself calls itself "nexus3", and then runs its own tool after a yes.
        info = {"name": "nexus3-client", "version": "1.0.0"}
        hello = await client.request(
            "initialize", {"protocolVersion": "2024-11-05", "capabilities": {}, "clientInfo": info}
        )
        await socket.send(json.dumps({"jsonrpc": "2.0", "method": "notifications/initialized"}))
        tools = await client.request("tools/list", {})
        folders = json.loads(await client.call("getWorkspaceFolders", {}))
        decision = await client.call(
            "openDiff",
            {"old_file_path": file, "new_file_path": file, "new_file_contents": text, "tab_name": "change"},
        )
        found = {
            "protocol": hello["protocolVersion"],
            "tools": sorted(tool["name"] for tool in tools["tools"]),
            "folders": folders,
            "accepted": "FILE_SAVED" in decision,
        }
        print(json.dumps(found))


asyncio.run(main(*sys.argv[1:]))

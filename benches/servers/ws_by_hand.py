"""What a server in Python does that speaks MCP over WebSocket by hand: `websockets`, JSON, and a dispatch. Prints its port."""

import asyncio
import json
import sys

from websockets.asyncio.server import serve

TEXT = sys.argv[1]


def content(text):
    return {"content": [{"type": "text", "text": text}]}


TOOLS = {"getWorkspaceFolders": lambda arguments: content(TEXT), "echo": lambda arguments: content(arguments["text"])}


def answer(method, params):
    if method == "initialize":
        info = {"name": "peer", "version": "1"}
        return {"protocolVersion": params["protocolVersion"], "capabilities": {"tools": {}}, "serverInfo": info}
    if method == "tools/call":
        return TOOLS[params["name"]](params["arguments"])
    raise ValueError(f"no method {method}")


async def talk(socket):
    async for data in socket:
        message = json.loads(data)
        if "id" in message:
            result = answer(message["method"], message.get("params"))
            await socket.send(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}))


async def main():
    async with serve(talk, "127.0.0.1", 0, max_size=1 << 26, compression=None) as server:
        print(server.sockets[0].getsockname()[1], flush=True)
        await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)


asyncio.run(main())

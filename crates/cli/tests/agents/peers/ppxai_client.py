"""What the engine of ppxai does with an editor, on the HTTP library it is built on.

Usage: ppxai_client.py URL, then one JSON object per line on standard input: {"tool": …, "args": …}.
Prints one JSON object per line: what connecting told, then what each tool gave.
"""

import asyncio
import json
import os
import sys
import uuid

import httpx


class IDEClient:
    def __init__(self):
        self.capabilities = None
        self.client = None

    async def connect(self, url):
        token = os.environ.get("PPXAI_BRIDGE_TOKEN")
        headers = {"x-ppxai-token": token} if token else {}
        async with httpx.AsyncClient(headers=headers) as client:
            response = await client.get(f"{url}/status", timeout=5.0)
        if response.status_code == 200:
            self.capabilities = response.json().get("capabilities", [])
            self.client = httpx.AsyncClient(base_url=url, headers=headers)
        return response.status_code

    async def execute_tool(self, tool, args):
        request = {"id": str(uuid.uuid4()), "tool": tool, "args": args}
        response = await self.client.post("/ide/execute", json=request, timeout=30.0)
        answer = response.json()
        if answer["id"] != request["id"]:
            raise RuntimeError(f"an answer to another request: {answer}")
        if not answer.get("success"):
            return {"error": answer.get("error"), "code": answer.get("code")}
        return {"result": answer.get("result")}


async def main(url):
    ide = IDEClient()
    status = await ide.connect(url)
    print(json.dumps({"status": status, "capabilities": ide.capabilities}), flush=True)
    while status == 200 and (line := await asyncio.to_thread(sys.stdin.readline)):
        asked = json.loads(line)
        print(json.dumps(await ide.execute_tool(asked["tool"], asked["args"])), flush=True)


asyncio.run(main(sys.argv[1]))

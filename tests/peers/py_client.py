"""`py_client.py URL OPERATIONS [--era session|auto]`: the Python SDK's client."""

import asyncio
import json
import os
import sys

import anyio
import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp_types import PromptReference, ResourceTemplateReference, ResourceUpdatedNotification


def complete(client, op):
    kind = PromptReference if op["ref"]["type"] == "ref/prompt" else ResourceTemplateReference
    arguments = op.get("context", {}).get("arguments")
    return client.complete(kind(**op["ref"]), op["argument"], arguments)


async def call_with_progress(client, op):
    """Calls a tool and gives the progress that came before the result too."""
    notices = []

    async def heard(progress, total, message):
        notices.append({"progress": progress, "total": total, "message": message})

    result = await client.call_tool(op["name"], op["arguments"], progress_callback=heard)
    return {"result": plain(result), "progress": notices}


async def call_and_cancel(client, op):
    """Calls a tool and cancels the call at its first progress."""
    with anyio.CancelScope() as scope:

        async def heard(progress, total, message):
            scope.cancel()

        await client.call_tool(op["name"], op["arguments"], progress_callback=heard)
    raise RuntimeError("cancelled" if scope.cancelled_caught else "answered")


async def hear(client, op):
    """Subscribes to a resource in the way of the era, calls a tool that changes it, and gives what is heard of it."""
    uri = op["uri"]
    if client.protocol_version == "2026-07-28":
        async with client.listen(resource_subscriptions=[uri]) as events:
            await client.call_tool(op["name"], op["arguments"])
            async for event in events:
                return {"heard": event.uri}
    await client.subscribe_resource(uri)
    await client.call_tool(op["name"], op["arguments"])
    heard = await UPDATES.get()
    await client.unsubscribe_resource(uri)
    return {"heard": heard}


async def on_message(message):
    """Keeps the updates of a session."""
    if isinstance(message, ResourceUpdatedNotification):
        UPDATES.put_nowait(message.params.uri)


UPDATES = asyncio.Queue()

OPERATIONS = {
    "list_tools": lambda client, op: client.list_tools(cursor=op.get("cursor")),
    "list_prompts": lambda client, op: client.list_prompts(),
    "list_resources": lambda client, op: client.list_resources(),
    "list_templates": lambda client, op: client.list_resource_templates(),
    "call_tool": lambda client, op: client.call_tool(op["name"], op.get("arguments")),
    "call_with_progress": call_with_progress,
    "call_and_cancel": call_and_cancel,
    "complete": complete,
    "hear": hear,
    "read_resource": lambda client, op: client.read_resource(op["uri"]),
    "get_prompt": lambda client, op: client.get_prompt(op["name"], op.get("arguments")),
}


def plain(result):
    return result if isinstance(result, dict) else result.model_dump(mode="json", by_alias=True, exclude_unset=True)


async def run(client, operation):
    try:
        return {"ok": plain(await OPERATIONS[operation["op"]](client, operation))}
    except Exception as error:
        inner = getattr(error, "error", None)
        return {"error": {"code": getattr(inner, "code", None), "message": str(error)}}


async def main():
    url, operations = sys.argv[1], json.loads(sys.argv[2])
    era = sys.argv[4] if sys.argv[3:4] == ["--era"] else "session"
    token = os.environ.get("MCPR_TEST_TOKEN")
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    async with httpx2.AsyncClient(headers=headers, timeout=60) as http:
        transport = streamable_http_client(url, http_client=http)
        async with Client(transport, mode="auto" if era == "auto" else "legacy", message_handler=on_message) as client:
            results = [await run(client, operation) for operation in operations]
            info, version = client.server_info, client.protocol_version
    server = info.model_dump(mode="json", by_alias=True, exclude_unset=True) if info else None
    print(json.dumps({"server": server, "version": version, "results": results}))


asyncio.run(main())

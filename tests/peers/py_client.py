"""`py_client.py URL OPERATIONS ANSWERS [--era session|auto|stateless]`: the Python SDK's client."""

import asyncio
import json
import os
import sys
from contextlib import AsyncExitStack

import anyio
import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp_types import CreateMessageResult, ElicitResult, ListRootsResult, PromptReference, ResourceTemplateReference

STATELESS = "2026-07-28"
LOG_LEVEL = "io.modelcontextprotocol/logLevel"
MODES = {"session": "legacy", "auto": "auto", "stateless": STATELESS}


class Ears:
    """What a client hears besides answers, until somebody takes it."""

    def __init__(self):
        self.notices = []
        self.woken = asyncio.Event()

    async def hear(self, message):
        if hasattr(message, "method"):
            self.notices.append((message.method, plain(message.params) if message.params else {}))
            self.woken.set()

    def take(self, method):
        """All notices of a method that came so far."""
        taken = [params for heard, params in self.notices if heard == method]
        self.notices = [notice for notice in self.notices if notice[0] != method]
        return taken

    async def next(self, method):
        """The first notice of a method, once there is one."""
        while not (found := [notice for notice in self.notices if notice[0] == method]):
            self.woken.clear()
            await self.woken.wait()
        self.notices.remove(found[0])
        return found[0][1]


class Answers:
    """What the client says when it is asked: `{form, url, model, roots}`, of which it can be asked what is there."""

    def __init__(self, given):
        self.given = given
        self.asked = []

    def callbacks(self):
        can = {
            "elicitation_callback": (self.elicit, "form"),
            "sampling_callback": (self.sample, "model"),
            "list_roots_callback": (self.roots, "roots"),
        }
        return {name: answer for name, (answer, member) in can.items() if member in self.given}

    def write_down(self, method, params):
        self.asked.append({"method": method, "params": params})

    async def elicit(self, context, params):
        self.write_down("elicitation/create", plain(params))
        if params.mode == "url":
            return ElicitResult(action=self.given["url"])
        known = self.given["form"]
        fields = params.requested_schema["properties"]
        return ElicitResult(action="accept", content={field: known[field] for field in fields if field in known})

    async def sample(self, context, params):
        self.write_down("sampling/createMessage", plain(params))
        content = {"type": "text", "text": self.given["model"]}
        return CreateMessageResult(role="assistant", model="test", content=content)

    async def roots(self, context):
        self.write_down("roots/list", {})
        return ListRootsResult(roots=[{"uri": uri, "name": "root"} for uri in self.given["roots"]])


class Worker:
    """A client at work."""

    def __init__(self, client, ears, listens):
        self.client = client
        self.ears = ears
        self.listens = listens

    def is_stateless(self):
        return self.client.protocol_version == STATELESS

    async def call_with_progress(self, op):
        """Calls a tool and gives the progress that came before the result too."""
        notices = []

        async def heard(progress, total, message):
            notices.append({"progress": progress, "total": total, "message": message})

        result = await self.client.call_tool(op["name"], op["arguments"], progress_callback=heard)
        return {"result": plain(result), "progress": notices}

    async def call_and_cancel(self, op):
        """Calls a tool and cancels the call at its first progress."""
        with anyio.CancelScope() as scope:

            async def heard(progress, total, message):
                scope.cancel()

            await self.client.call_tool(op["name"], op["arguments"], progress_callback=heard)
        raise RuntimeError("cancelled" if scope.cancelled_caught else "answered")

    async def call_with_log(self, op):
        """Calls a tool and gives what was logged for it, at a level that is told in the way of the era."""
        if not self.is_stateless():
            await self.client.set_logging_level(op["level"])
        meta = {LOG_LEVEL: op["level"]} if self.is_stateless() else None
        result = await self.client.call_tool(op["name"], op["arguments"], meta=meta)
        return {"result": plain(result), "log": self.ears.take("notifications/message")}

    async def call_once(self, op):
        """Calls a tool once, and gives what comes of it even if that is a question."""
        return await self.client.session.call_tool(
            op["name"],
            op["arguments"],
            input_responses=op.get("inputResponses"),
            request_state=op.get("requestState"),
            allow_input_required=True,
        )

    async def listen(self, op):
        """Wants to hear of what changes; a session hears of lists without a word."""
        if self.is_stateless():
            names = {"toolsListChanged": "tools_list_changed", "resourcesListChanged": "resources_list_changed"}
            wanted = {names[name]: value for name, value in op["filter"].items()}
            await self.listens.enter_async_context(self.client.listen(**wanted))
        return {}

    async def await_tool(self, op):
        """Waits until a tool is listed or no longer is, looking again whenever the list is said to have changed."""
        while op["listed"] != any(tool.name == op["name"] for tool in (await self.client.list_tools()).tools):
            await self.ears.next("notifications/tools/list_changed")
        return {}

    async def hear(self, op):
        """Subscribes to a resource in the way of the era, calls a tool that changes it, and gives what is heard of it."""
        uri = op["uri"]
        if self.is_stateless():
            async with self.client.listen(resource_subscriptions=[uri]) as events:
                await self.client.call_tool(op["name"], op["arguments"])
                async for event in events:
                    return {"heard": event.uri}
        await self.client.subscribe_resource(uri)
        await self.client.call_tool(op["name"], op["arguments"])
        heard = await self.ears.next("notifications/resources/updated")
        await self.client.unsubscribe_resource(uri)
        return {"heard": heard["uri"]}

    async def complete(self, op):
        kind = PromptReference if op["ref"]["type"] == "ref/prompt" else ResourceTemplateReference
        arguments = op.get("context", {}).get("arguments")
        return await self.client.complete(kind(**op["ref"]), op["argument"], arguments)


OPERATIONS = {
    "list_tools": lambda worker, op: worker.client.list_tools(cursor=op.get("cursor")),
    "list_prompts": lambda worker, op: worker.client.list_prompts(),
    "list_resources": lambda worker, op: worker.client.list_resources(),
    "list_templates": lambda worker, op: worker.client.list_resource_templates(),
    "call_tool": lambda worker, op: worker.client.call_tool(op["name"], op.get("arguments")),
    "call_with_progress": Worker.call_with_progress,
    "call_and_cancel": Worker.call_and_cancel,
    "call_with_log": Worker.call_with_log,
    "call_once": Worker.call_once,
    "complete": Worker.complete,
    "hear": Worker.hear,
    "listen": Worker.listen,
    "await_tool": Worker.await_tool,
    "ping": lambda worker, op: worker.client.send_ping(),
    "set_level": lambda worker, op: worker.client.set_logging_level(op["level"]),
    "read_resource": lambda worker, op: worker.client.read_resource(op["uri"]),
    "get_prompt": lambda worker, op: worker.client.get_prompt(op["name"], op.get("arguments")),
}


def plain(result):
    return result if isinstance(result, dict) else result.model_dump(mode="json", by_alias=True, exclude_unset=True)


async def run(worker, operation):
    try:
        return {"ok": plain(await OPERATIONS[operation["op"]](worker, operation))}
    except Exception as error:
        inner = getattr(error, "error", None)
        return {"error": {"code": getattr(inner, "code", None), "message": str(error)}}


async def main():
    url, operations, answers = sys.argv[1], json.loads(sys.argv[2]), Answers(json.loads(sys.argv[3]))
    mode = MODES[sys.argv[5]] if sys.argv[4:5] == ["--era"] else "legacy"
    token = os.environ.get("MCPR_TEST_TOKEN")
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    ears = Ears()
    async with httpx2.AsyncClient(headers=headers, timeout=60) as http:
        transport = streamable_http_client(url, http_client=http)
        async with (
            Client(transport, mode=mode, message_handler=ears.hear, **answers.callbacks()) as client,
            AsyncExitStack() as listens,
        ):
            worker = Worker(client, ears, listens)
            results = [await run(worker, operation) for operation in operations]
            info, version = client.server_info, client.protocol_version
    server = plain(info) if info else None
    print(json.dumps({"server": server, "version": version, "results": results, "asked": answers.asked}))


asyncio.run(main())

# The official MCP client for Python calls every tool, and checks each answer against what the tool says it answers.
import json
import os
import subprocess
import sys

import anyio
import jsonschema
from mcp import Client
from mcp.client.stdio import StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from mcp.shared._httpx_utils import create_mcp_http_client
from mcp.shared.exceptions import MCPError

GAFFER, URL, TOKEN, OVER, MODE = sys.argv[1:]
WITHIN_SECONDS = 240


def server():
    if OVER == "http":
        headers = {"Authorization": f"Bearer {TOKEN}"}
        return streamable_http_client(f"{URL}/mcp", http_client=create_mcp_http_client(headers=headers))
    ours = {name: value for name, value in os.environ.items() if name.startswith("GAFFER_")}
    return StdioServerParameters(command=GAFFER, args=["mcp"], env=ours)


class Story:
    def __init__(self, client, tools):
        self.client = client
        self.tools = tools
        self.called = set()

    async def call(self, name, **arguments):
        result = await self.client.call_tool(name, arguments)
        [content] = result.content
        assert not result.is_error, (name, content.text)
        jsonschema.validate(arguments, self.tools[name].input_schema)
        jsonschema.validate(result.structured_content, self.tools[name].output_schema)
        assert json.loads(content.text) == result.structured_content, name
        self.called.add(name)
        return result.structured_content

    async def refused(self, name, **arguments):
        result = await self.client.call_tool(name, arguments)
        [content] = result.content
        assert result.is_error and content.text.startswith(f"{name}: "), (name, content.text)
        return content.text

    async def event(self, job, cursor, kind):
        """The next event of a job; whatever comes before is acknowledged too."""
        while True:
            waited = await self.call("jules_wait_event", job_id=job, **({"cursor": cursor} if cursor else {}))
            cursor = waited["cursor"]
            for event in waited["events"]:
                await self.call("jules_ack_event", event_id=event["event_id"], agent="me")
            if any(event["kind"] == kind for event in waited["events"]):
                return cursor

    async def answered(self):
        wanted = {"repo": "acme/shop", "prompt": "Ask and be answered", "constraints": ["no new crates"]}
        made = await self.call("jules_create_job", idempotency_key=f"{OVER} {MODE}", **wanted)
        job = made["job_id"]
        assert (await self.call("jules_create_job", idempotency_key=f"{OVER} {MODE}", **wanted))["job_id"] == job
        cursor = await self.event(job, None, "plan_approval")
        shown = await self.call("jules_get_job", job_id=job)
        assert shown["waiting"] == {"for": "plan", "steps": ["Look around", "Make the change"]}, shown
        checked = await self.call("jules_check", job_id=job)
        assert checked.pop("waits_for"), checked
        assert checked == {"code": "Q", "job_id": job, "state": "plan-waits"}, checked
        await self.call("jules_approve_plan", job_id=job)
        cursor = await self.event(job, cursor, "question")
        shown = await self.call("jules_get_job", job_id=job, fresh=True)
        assert shown["waiting"] == {"for": "question", "text": "Which colour?"}, shown
        said = await self.call("jules_send_message", job_id=job, message={"content": "Green."})
        assert said["done"], said
        await self.event(job, cursor, "completed")
        page = await self.call("jules_get_messages", job_id=job)
        assert [line["content"] for line in page["messages"]][-2:] == ["Which colour?", "Green."], page
        return job

    async def merged(self, job):
        made = await self.call("jules_get_artifacts", job_id=job)
        assert made["read"] and made["files_changed"] > 0, made
        tree = await self.call("jules_get_artifacts", job_id=job, show="tree")
        path = tree["files"][0]["path"]
        one = await self.call("jules_get_artifacts", job_id=job, show="file", path=path, max_bytes=40)
        assert one["patch"] and len(one["patch"].encode()) <= 40, one
        subprocess.run([GAFFER, "job", "wait", job, "--until", "in-review", "--within", "2m"], check=True, stdout=2)
        pull = await self.call("jules_extract_pr", job_id=job)
        assert pull["pull_request"].startswith("acme/shop#") and pull["url"].startswith("https://"), pull
        assert "payload.force" in await self.refused("jules_merge_pr", job_id=job, payload={"force": True})
        await self.refused("jules_merge_pr", job_id=job, payload={"sha": "0" * 40})
        await self.call("jules_merge_pr", job_id=job)
        subprocess.run([GAFFER, "job", "wait", job, "--within", "2m"], check=True, stdout=2)
        assert (await self.call("jules_get_job", job_id=job))["state"] == "merged"
        again = await self.call("jules_merge_pr", job_id=job)
        assert again["merged"], again

    async def failed(self):
        made = await self.call("jules_create_job", repo="acme/shop", prompt="Fail, please", title=f"Fail {OVER}")
        job = made["job_id"]
        await self.event(job, None, "session_failed")
        assert (await self.call("jules_request_retry", job_id=job))["attempt"] == 2
        noted = await self.call("jules_register_job", job_id=job, metadata={"task": OVER})
        assert noted["registered"] and noted["job_id"] == job, noted
        assert (await self.call("jules_get_job", job_id=job))["metadata"] == {"task": OVER}
        assert (await self.call("jules_cancel_job", job_id=job))["state"] == "cancelled"
        listed = await self.call("jules_list_jobs", repo="acme/shop")
        assert job in [row["job_id"] for row in listed["jobs"]], listed


async def main():
    with anyio.fail_after(WITHIN_SECONDS):
        async with Client(server(), mode=MODE) as client:
            tools = {tool.name: tool for tool in (await client.list_tools()).tools}
            story = Story(client, tools)
            await story.merged(await story.answered())
            await story.failed()
            for job in ["nobody", "15400000000000000777"]:
                assert "404" in await story.refused("jules_get_job", job_id=job)
            try:
                await client.call_tool("jules_force_merge", {})
            except MCPError as refusal:
                assert refusal.error.code == -32602, refusal
            else:
                raise AssertionError("there is such a tool")
            print(json.dumps({"listed": list(tools), "called": sorted(story.called)}))


anyio.run(main)

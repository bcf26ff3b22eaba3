"""Runs a google-adk agent with a scripted model and writes its telemetry as OTLP JSON, as the collector's file exporter
would: one export request a line, traces and logs in one file.

  pip install -r tests/parity/requirements.txt opentelemetry-exporter-otlp-proto-common==1.44.0
  python make_traces.py            writes traces/adk-python-*.jsonl

Each file is made by a process of its own, since google-adk reads its settings from the environment.
"""

import asyncio
import base64
import json
import os
import pathlib
import subprocess
import sys

FOLDER = pathlib.Path(__file__).parent / "traces"

CAPTURE = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"
SCHEMA = "ADK_TELEMETRY_SCHEMA_VERSION_OPT_IN"
MODES = {
    "spans": {CAPTURE: "SPAN_ONLY"},
    "events": {CAPTURE: "EVENT_ONLY"},
    "no-content": {},
    "legacy": {SCHEMA: "1"},
    "legacy-events": {SCHEMA: "1", CAPTURE: "true", "ADK_CAPTURE_MESSAGE_CONTENT_IN_SPANS": "false"},
    "legacy-no-content": {SCHEMA: "1", "ADK_CAPTURE_MESSAGE_CONTENT_IN_SPANS": "false"},
}

CONVERSATIONS = {
    "paris": ["Weather in Paris?", "And in London and Oslo?"],
    "bill": ["I want to pay my bill."],
}


def main() -> None:
    FOLDER.mkdir(exist_ok=True)
    for mode, environment in MODES.items():
        clean = {key: value for key, value in os.environ.items() if key not in (CAPTURE, SCHEMA)}
        subprocess.run([sys.executable, __file__, mode], check=True, env=clean | environment)


async def record(mode: str) -> None:
    from google.adk.agents import LlmAgent
    from google.adk.models import BaseLlm, LlmResponse
    from google.adk.runners import Runner
    from google.adk.sessions import InMemorySessionService
    from google.genai import types
    from google.protobuf.json_format import MessageToDict
    from opentelemetry import _logs, trace
    from opentelemetry.exporter.otlp.proto.common._log_encoder import encode_logs
    from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
    from opentelemetry.sdk._logs import LoggerProvider
    from opentelemetry.sdk._logs.export import InMemoryLogRecordExporter, SimpleLogRecordProcessor
    from opentelemetry.sdk.resources import Resource
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import SimpleSpanProcessor
    from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

    resource = Resource({"service.name": "weather"})
    spans, logs = InMemorySpanExporter(), InMemoryLogRecordExporter()
    tracing = TracerProvider(resource=resource)
    tracing.add_span_processor(SimpleSpanProcessor(spans))
    trace.set_tracer_provider(tracing)
    logging = LoggerProvider(resource=resource)
    logging.add_log_record_processor(SimpleLogRecordProcessor(logs))
    _logs.set_logger_provider(logging)

    class Scripted(BaseLlm):
        @classmethod
        def supported_models(cls):
            return ["scripted"]

        async def generate_content_async(self, llm_request, stream=False):
            await asyncio.sleep(0.01)
            yield LlmResponse(
                content=types.Content(role="model", parts=reply(llm_request.contents)),
                finish_reason="STOP",
                model_version="scripted-1",
                usage_metadata=types.GenerateContentResponseUsageMetadata(
                    prompt_token_count=100, candidates_token_count=20, thoughts_token_count=5, cached_content_token_count=40
                ),
            )

    def call(name, **args):
        return types.Part(function_call=types.FunctionCall(name=name, args=args))

    def reply(contents):
        last = contents[-1].parts
        answers = [part.function_response for part in last if part.function_response]
        text = " ".join(part.text or "" for part in last)
        if answers and answers[0].name == "get_weather":
            cities = [f"{answer.response['sky']} in {answer.response['city']}" for answer in answers]
            return [types.Part(text=f"It is {' and '.join(cities)}.")]
        if any("pay my bill" in (part.text or "") for content in contents for part in content.parts):
            if answers or "transfer" in text:
                return [types.Part(text="You owe 12 euros.")]
            return [types.Part(text="Billing helps you."), call("transfer_to_agent", agent_name="billing")]
        found = [city for city in ("Paris", "London", "Oslo") if city in text]
        return [
            types.Part(text="I look it up.", thought=True),
            *[call("get_weather", city=city, day={"offset": 1, "ratio": 0.5}) for city in found],
        ]

    async def get_weather(city: str, day: dict) -> dict:
        """Gives the weather of a city."""
        await asyncio.sleep(0.02)
        return {"city": city, "sky": "sunny" if city == "Paris" else "grey"}

    model = Scripted(model="scripted")
    agent = LlmAgent(
        name="weather",
        description="Tells the weather.",
        instruction="Tell the weather.",
        model=model,
        tools=[get_weather],
        sub_agents=[LlmAgent(name="billing", description="Sends bills.", instruction="Say the sum.", model=model)],
    )
    sessions = InMemorySessionService()
    runner = Runner(app_name="weather_app", agent=agent, session_service=sessions)
    stored = []
    for session_id, messages in CONVERSATIONS.items():
        await sessions.create_session(app_name="weather_app", user_id="user", session_id=session_id)
        for message in messages:
            content = types.Content(role="user", parts=[types.Part(text=message)])
            async for _ in runner.run_async(user_id="user", session_id=session_id, new_message=content):
                pass
        session = await sessions.get_session(app_name="weather_app", user_id="user", session_id=session_id)
        stored.append(session.model_dump(mode="json", exclude_none=True, by_alias=True))

    requests = [MessageToDict(encode_spans(spans.get_finished_spans()))]
    if finished := logs.get_finished_logs():
        requests.append(MessageToDict(encode_logs(finished)))
    lines = [json.dumps(with_hex_ids(request), ensure_ascii=False, separators=(",", ":")) for request in requests]
    (FOLDER / f"adk-python-{mode}.jsonl").write_text("\n".join(lines) + "\n")
    if mode == "spans":
        (FOLDER / "adk-python.session.json").write_text(json.dumps(stored, ensure_ascii=False, indent=1) + "\n")


def with_hex_ids(value):
    """OTLP writes ids in hexadecimal digits, where the JSON of protocol buffers has base64."""
    if isinstance(value, list):
        return [with_hex_ids(item) for item in value]
    if not isinstance(value, dict):
        return value
    ids = {"traceId", "spanId", "parentSpanId"}
    return {
        key: base64.b64decode(item).hex() if key in ids and isinstance(item, str) else with_hex_ids(item)
        for key, item in value.items()
    }


if __name__ == "__main__":
    if len(sys.argv) > 1:
        asyncio.run(record(sys.argv[1]))
    else:
        main()

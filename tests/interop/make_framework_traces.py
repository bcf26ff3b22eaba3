"""Runs agents of other frameworks, and of google-adk under other instrumentations, with scripted models, and writes what
they leave as OTLP JSON: one export request a line, traces and logs in one file. The conversation is that of
`make_traces.py`: two turns, the second with two calls of a tool at once.

Each framework wants packages of its own, so each has a Python of its own, with opentelemetry-sdk and
opentelemetry-exporter-otlp-proto-common 1.45.2:

  strands          strands-agents==1.62.0
  openinference    google-adk openinference-instrumentation-google-adk==1.0.5
  callbacks        google-adk, in the version of tests/parity/requirements.txt, as above
  langchain        langchain==1.4.7 langgraph==1.2.22 opentelemetry-instrumentation-langchain==0.62.4
  langchain-openinference  langchain==1.4.7 langgraph==1.2.22 openinference-instrumentation-langchain==0.1.80
  openai           openai==3.54.0 opentelemetry-instrumentation-openai==0.62.4
  openai-legacy    openai==3.54.0 opentelemetry-instrumentation-openai==0.40.14
  openai-openinference     openai==3.54.0 openinference-instrumentation-openai==0.1.66
  openai-v2        openai==3.54.0 opentelemetry-instrumentation-openai-v2==2.4b0 opentelemetry-util-genai==0.4b0 httpx
  pydantic-ai      pydantic-ai-slim==2.68.0
  agent-framework  agent-framework-core==1.23.0

  python make_framework_traces.py strands         writes traces/strands*.jsonl
"""

import asyncio
import base64
import json
import os
import pathlib
import subprocess
import sys

FOLDER = pathlib.Path(os.environ.get("TRACES", pathlib.Path(__file__).parent / "traces"))
TURNS = ["Weather in Paris?", "And in London and Oslo?"]
CITIES = ["Paris", "London", "Oslo"]
CAPTURE = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"
STABILITY = "OTEL_SEMCONV_STABILITY_OPT_IN"
SCHEMA = "ADK_TELEMETRY_SCHEMA_VERSION_OPT_IN"

# Of each framework the files, and the environment of each.
FILES = {
    "strands": {"strands": {}, "strands-latest": {STABILITY: "gen_ai_latest_experimental"}},
    "openinference": {"openinference-adk": {}, "openinference-adk-captured": {CAPTURE: "SPAN_AND_EVENT"}},
    "callbacks": {
        "adk-callbacks": {CAPTURE: "SPAN_ONLY"},
        "adk-callbacks-legacy": {SCHEMA: "1"},
        "adk-raises": {CAPTURE: "SPAN_ONLY"},
        "adk-raises-legacy": {SCHEMA: "1"},
    },
    "langchain": {
        "langchain": {},
        "langchain-events": {"EVENTS": "true"},
        "langchain-no-content": {"TRACELOOP_TRACE_CONTENT": "false"},
    },
    "langchain-openinference": {"openinference-langchain": {}},
    "openai": {"openai": {}, "openai-no-content": {"TRACELOOP_TRACE_CONTENT": "false"}},
    "openai-legacy": {"openai-legacy": {}},
    "openai-openinference": {
        "openinference-openai": {},
        "openinference-openai-no-content": {"OPENINFERENCE_HIDE_INPUTS": "true", "OPENINFERENCE_HIDE_OUTPUTS": "true"},
    },
    "openai-v2": {
        "openai-v2": {CAPTURE: "true"},
        "openai-v2-latest": {STABILITY: "gen_ai_latest_experimental", CAPTURE: "EVENT_ONLY"},
    },
    "pydantic-ai": {"pydantic-ai": {}, "pydantic-ai-no-content": {"CONTENT": "false"}},
    "agent-framework": {"agent-framework": {"CONTENT": "true"}},
}


def main() -> None:
    framework, *rest = sys.argv[1:]
    if rest:
        return asyncio.run(record(framework, rest[0]))
    names = (CAPTURE, STABILITY, SCHEMA)
    clean = {key: value for key, value in os.environ.items() if key not in names}
    for name, environment in FILES[framework].items():
        subprocess.run([sys.executable, __file__, framework, name], check=True, env=clean | environment)


def cities_in(text: str) -> list[str]:
    return [city for city in CITIES if city in text]


def weather(city: str) -> dict:
    return {"city": city, "sky": "sunny" if city == "Paris" else "grey"}


def answer(results: list[dict]) -> str:
    return "It is " + " and ".join(f"{result['sky']} in {result['city']}" for result in results) + "."


async def record(framework: str, name: str) -> None:
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
    await RUNS[framework](name, tracing)
    requests = [MessageToDict(encode_spans(spans.get_finished_spans()))]
    if finished := logs.get_finished_logs():
        requests.append(MessageToDict(encode_logs(finished)))
    lines = [json.dumps(with_hex_ids(request), ensure_ascii=False, separators=(",", ":")) for request in requests]
    FOLDER.mkdir(exist_ok=True)
    text = "\n".join(lines) + "\n"
    # Stack traces name files of the machine.
    for folder, name_of_it in ((sys.prefix, "/python"), (sys.base_prefix, "/python"), (pathlib.Path(__file__).parent, "/app")):
        text = text.replace(str(folder), name_of_it)
    (FOLDER / f"{name}.jsonl").write_text(text)


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


async def strands(name, tracing) -> None:
    from strands import Agent, tool
    from strands.models import Model

    class Scripted(Model):
        def update_config(self, **config):
            pass

        def get_config(self):
            return {"model_id": "scripted-1"}

        async def structured_output(self, *args, **kwargs):
            raise NotImplementedError

        async def stream(self, messages, tool_specs=None, system_prompt=None, **kwargs):
            await asyncio.sleep(0.01)
            blocks = messages[-1]["content"]
            results = [block["toolResult"]["content"][0] for block in blocks if "toolResult" in block]
            yield {"messageStart": {"role": "assistant"}}
            if results:
                told = [json.loads(result["text"]) if "text" in result else result["json"] for result in results]
                async for event in text(answer(told)):
                    yield event
            else:
                async for event in text("I look it up."):
                    yield event
                for city in cities_in(blocks[0]["text"]):
                    use = {"toolUseId": f"call-{city}", "name": "get_weather"}
                    yield {"contentBlockStart": {"start": {"toolUse": use}}}
                    yield {"contentBlockDelta": {"delta": {"toolUse": {"input": json.dumps({"city": city})}}}}
                    yield {"contentBlockStop": {}}
            yield {"messageStop": {"stopReason": "end_turn" if results else "tool_use"}}
            usage = {"inputTokens": 100, "outputTokens": 20, "totalTokens": 120}
            yield {"metadata": {"usage": usage, "metrics": {"latencyMs": 1}}}

    async def text(words):
        yield {"contentBlockStart": {"start": {}}}
        yield {"contentBlockDelta": {"delta": {"text": words}}}
        yield {"contentBlockStop": {}}

    @tool
    async def get_weather(city: str) -> str:
        """Gives the weather of a city."""
        await asyncio.sleep(0.02)
        return json.dumps(weather(city))

    agent = Agent(
        model=Scripted(),
        tools=[get_weather],
        system_prompt="Tell the weather.",
        name="weather",
        trace_attributes={"session.id": "paris"},
        callback_handler=None,
    )
    for message in TURNS:
        await agent.invoke_async(message)


def adk_model(raises: str | None = None):
    from google.adk.models import BaseLlm, LlmResponse
    from google.genai import types

    class Scripted(BaseLlm):
        @classmethod
        def supported_models(cls):
            return ["scripted"]

        async def generate_content_async(self, llm_request, stream=False):
            await asyncio.sleep(0.01)
            parts = llm_request.contents[-1].parts
            told = [part.function_response.response for part in parts if part.function_response]
            text = " ".join(part.text or "" for part in parts)
            if raises is not None and raises in text:
                raise RuntimeError("the quota is used up")
            calls = [
                types.Part(function_call=types.FunctionCall(name="get_weather", args={"city": city}))
                for city in cities_in(text)
            ]
            if not told and not calls:
                calls = [types.Part(text="Goodbye.")]
            yield LlmResponse(
                content=types.Content(role="model", parts=[types.Part(text=answer(told))] if told else calls),
                finish_reason="STOP",
                model_version="scripted-1",
                usage_metadata=types.GenerateContentResponseUsageMetadata(
                    prompt_token_count=100, candidates_token_count=20
                ),
            )

    return Scripted(model="scripted")


async def adk_tool(city: str) -> dict:
    """Gives the weather of a city."""
    await asyncio.sleep(0.02)
    return weather(city)


adk_tool.__name__ = "get_weather"


async def run_adk(agent, conversations) -> None:
    from google.adk.runners import Runner
    from google.adk.sessions import InMemorySessionService
    from google.genai import types

    sessions = InMemorySessionService()
    runner = Runner(app_name="weather_app", agent=agent, session_service=sessions)
    for session_id, messages in conversations.items():
        await sessions.create_session(app_name="weather_app", user_id="user", session_id=session_id)
        for message in messages:
            content = types.Content(role="user", parts=[types.Part(text=message)])
            try:
                async for _ in runner.run_async(user_id="user", session_id=session_id, new_message=content):
                    pass
            except RuntimeError as error:
                print(f"{session_id}: {error}")


async def openinference(name, tracing) -> None:
    from google.adk.agents import LlmAgent
    from openinference.instrumentation.google_adk import GoogleADKInstrumentor

    GoogleADKInstrumentor().instrument(tracer_provider=tracing)
    agent = LlmAgent(name="weather", instruction="Tell the weather.", model=adk_model(), tools=[adk_tool])
    await run_adk(agent, {"paris": TURNS})


async def callbacks(name, tracing) -> None:
    """Callbacks that answer in place of the model, and that change what it said; or a model that raises."""
    from google.adk.agents import LlmAgent
    from google.adk.models import LlmResponse
    from google.genai import types

    def said(words):
        return LlmResponse(content=types.Content(role="model", parts=[types.Part(text=words)]))

    def before(callback_context, llm_request):
        text = llm_request.contents[-1].parts[-1].text or ""
        return said("Hello!") if text == "Hi" else None

    def after(callback_context, llm_response):
        parts = llm_response.content.parts
        return said("It is lovely in Paris.") if parts[0].text == "It is sunny in Paris." else None

    if name.startswith("adk-raises"):
        agent = LlmAgent(name="weather", instruction="Tell it.", model=adk_model(raises="Oslo"), tools=[adk_tool])
        return await run_adk(agent, {"raises": ["And in Oslo?"], "late": ["Weather in Paris?", "And in Oslo?"]})
    agent = LlmAgent(
        name="weather",
        instruction="Tell the weather.",
        model=adk_model(),
        tools=[adk_tool],
        before_model_callback=before,
        after_model_callback=after,
    )
    await run_adk(
        agent,
        {"greeting": ["Hi"], "paris": ["Hi", "Weather in Paris?", "And in London and Oslo?"], "changed": [TURNS[0]]},
    )


async def langchain(name, tracing) -> None:
    from langchain.agents import create_agent
    from langchain_core.language_models import BaseChatModel
    from langchain_core.messages import AIMessage
    from langchain_core.outputs import ChatGeneration, ChatResult
    from langchain_core.tools import tool
    from langgraph.checkpoint.memory import InMemorySaver

    if name.startswith("openinference"):
        from openinference.instrumentation.langchain import LangChainInstrumentor

        LangChainInstrumentor().instrument(tracer_provider=tracing)
    else:
        from opentelemetry.instrumentation.langchain import LangchainInstrumentor

        LangchainInstrumentor(use_legacy_attributes="EVENTS" not in os.environ).instrument(tracer_provider=tracing)

    class Scripted(BaseChatModel):
        model_name: str = "scripted-1"

        @property
        def _llm_type(self):
            return "scripted"

        def bind_tools(self, tools, **kwargs):
            return self

        def _generate(self, messages, stop=None, run_manager=None, **kwargs):
            told = []
            for message in reversed(messages):
                if message.type != "tool":
                    break
                told.insert(0, json.loads(message.content))
            calls = [
                {"id": f"call-{city}", "name": "get_weather", "args": {"city": city}}
                for city in cities_in(messages[-1].content)
                if not told
            ]
            message = AIMessage(
                content=answer(told) if told else "I look it up.",
                tool_calls=calls,
                usage_metadata={"input_tokens": 100, "output_tokens": 20, "total_tokens": 120},
            )
            return ChatResult(generations=[ChatGeneration(message=message)])

    @tool
    async def get_weather(city: str) -> str:
        """Gives the weather of a city."""
        await asyncio.sleep(0.02)
        return json.dumps(weather(city))

    agent = create_agent(
        Scripted(), [get_weather], system_prompt="Tell the weather.", name="weather", checkpointer=InMemorySaver()
    )
    for message in TURNS:
        await agent.ainvoke(
            {"messages": [{"role": "user", "content": message}]},
            config={"configurable": {"thread_id": "paris"}, "metadata": {"session_id": "paris"}},
        )


def completions_server():
    """A server on the loopback that answers as OpenAI's chat completions do."""
    from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
    import threading

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            messages = json.loads(self.rfile.read(int(self.headers["content-length"])))["messages"]
            told = []
            for message in reversed(messages):
                if message["role"] != "tool":
                    break
                told.insert(0, json.loads(message["content"]))
            calls = [
                {"id": f"call-{city}", "type": "function"}
                | {"function": {"name": "get_weather", "arguments": json.dumps({"city": city})}}
                for city in cities_in(messages[-1]["content"])
                if not told
            ]
            message = {"role": "assistant", "content": answer(told) if told else "I look it up."}
            choice = {"index": 0, "finish_reason": "tool_calls" if calls else "stop"}
            reply = {
                "id": "chatcmpl-1",
                "object": "chat.completion",
                "created": 1700000000,
                "model": "scripted-1",
                "choices": [choice | {"message": message | ({"tool_calls": calls} if calls else {})}],
                "usage": {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120},
            }
            body = json.dumps(reply).encode()
            self.send_response(200)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *args):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server


async def openai(name, tracing) -> None:
    """An agent of one's own: a loop over OpenAI's client, within a span for each turn."""
    import openai
    from opentelemetry import trace

    if name.startswith("openinference"):
        from openinference.instrumentation.openai import OpenAIInstrumentor
    elif name.startswith("openai-v2"):
        from opentelemetry.instrumentation.openai_v2 import OpenAIInstrumentor
    else:
        from opentelemetry.instrumentation.openai import OpenAIInstrumentor
    OpenAIInstrumentor().instrument(tracer_provider=tracing)
    server = completions_server()
    client = openai.OpenAI(api_key="none", base_url=f"http://127.0.0.1:{server.server_port}/v1")
    parameters = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
    function = {"name": "get_weather", "description": "Gives the weather of a city.", "parameters": parameters}
    messages = [{"role": "system", "content": "Tell the weather."}]
    for message in TURNS:
        with trace.get_tracer("app").start_as_current_span("turn"):
            messages.append({"role": "user", "content": message})
            while messages[-1]["role"] != "assistant":
                tools = [{"type": "function", "function": function}]
                reply = client.chat.completions.create(model="scripted-1", messages=messages, tools=tools)
                said = reply.choices[0].message
                messages.append(said.model_dump(include={"role", "content", "tool_calls"}, exclude_none=True))
                for call in said.tool_calls or []:
                    result = weather(json.loads(call.function.arguments)["city"])
                    messages.append({"role": "tool", "tool_call_id": call.id, "content": json.dumps(result)})
    server.shutdown()


async def pydantic_ai(name, tracing) -> None:
    from pydantic_ai import Agent
    from pydantic_ai.capabilities.instrumentation import Instrumentation
    from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart, ToolReturnPart
    from pydantic_ai.models.function import FunctionModel
    from pydantic_ai.models.instrumented import InstrumentationSettings

    async def reply(messages, info):
        parts = messages[-1].parts
        told = [part.content for part in parts if isinstance(part, ToolReturnPart)]
        if told:
            return ModelResponse(parts=[TextPart(answer(told))])
        calls = [ToolCallPart("get_weather", {"city": city}) for city in cities_in(str(parts[-1].content))]
        return ModelResponse(parts=[TextPart("I look it up."), *calls])

    settings = InstrumentationSettings(
        tracer_provider=tracing, include_content=os.environ.get("CONTENT") != "false"
    )
    agent = Agent(FunctionModel(reply), name="weather", instructions="Tell the weather.", capabilities=[Instrumentation(settings)])

    @agent.tool_plain
    async def get_weather(city: str) -> dict:
        """Gives the weather of a city."""
        await asyncio.sleep(0.02)
        return weather(city)

    history = []
    for message in TURNS:
        result = await agent.run(message, message_history=history)
        history = result.all_messages()


async def agent_framework(name, tracing) -> None:
    from agent_framework import Agent, BaseChatClient, ChatResponse, Content, Message, tool
    from agent_framework.observability import ChatTelemetryLayer, enable_instrumentation
    from agent_framework import FunctionInvocationLayer

    enable_instrumentation(enable_sensitive_data=os.environ.get("CONTENT") == "true")

    class Scripted(FunctionInvocationLayer, ChatTelemetryLayer, BaseChatClient):
        OTEL_PROVIDER_NAME = "scripted"

        def _inner_get_response(self, *, messages, stream, options, **kwargs):
            async def respond():
                await asyncio.sleep(0.01)
                contents = messages[-1].contents
                told = [
                    json.loads(content.result)
                    for message in messages
                    for content in message.contents
                    if content.type == "function_result"
                ]
                if contents[-1].type == "function_result":
                    count = sum(1 for content in contents if content.type == "function_result")
                    said = [Content.from_text(answer(told[-count:]))]
                else:
                    said = [Content.from_text("I look it up.")] + [
                        Content.from_function_call(f"call-{city}", "get_weather", arguments=json.dumps({"city": city}))
                        for city in cities_in(messages[-1].text)
                    ]
                return ChatResponse(
                    messages=Message(role="assistant", contents=said),
                    model="scripted-1",
                    usage_details={"input_token_count": 100, "output_token_count": 20},
                )

            return respond()

    @tool(approval_mode="never_require")
    async def get_weather(city: str) -> str:
        """Gives the weather of a city."""
        await asyncio.sleep(0.02)
        return json.dumps(weather(city))

    agent = Agent(client=Scripted(), instructions="Tell the weather.", name="weather", tools=[get_weather])
    session = agent.create_session()
    for message in TURNS:
        await agent.run(message, session=session)


RUNS = {
    "strands": strands,
    "openinference": openinference,
    "callbacks": callbacks,
    "langchain": langchain,
    "langchain-openinference": langchain,
    "openai": openai,
    "openai-legacy": openai,
    "openai-openinference": openai,
    "openai-v2": openai,
    "pydantic-ai": pydantic_ai,
    "agent-framework": agent_framework,
}

if __name__ == "__main__":
    main()

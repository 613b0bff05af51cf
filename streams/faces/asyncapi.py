"""The published contract: an AsyncAPI 3.0 document, made from the schemas and the table of topics and from nothing else.

Code generators, catalogues and linters read it, so it must never be written by hand: what is not in the schemas is not
in the contract.
"""

from importlib.metadata import version
from typing import Any, Literal

from pydantic import BaseModel
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue, models_json_schema
from pydantic_core import core_schema

from groundwire.schemas import headers, topics
from groundwire.schemas.headers import Dialect
from groundwire.schemas.record import Record
from groundwire.schemas.reply import SearchReply
from groundwire.schemas.request import Filters, SearchRequest
from groundwire.schemas.topics import TopicSpec

ASYNCAPI_VERSION = "3.0.0"
KAFKA_BINDING_VERSION = "0.5.0"

DIALECTS: dict[Dialect, str] = {
    "groundwire": "our own header names",
    "spring": "the header names of Spring's ReplyingKafkaTemplate",
    "faststream": "FastStream's header names",
}

_SUFFIX: dict[Dialect, str] = {"groundwire": "", "spring": "Spring", "faststream": "FastStream"}


def document() -> dict[str, Any]:
    """The document as plain JSON types. The same for every installation: no setting of an operator is in it."""
    channels = {_camel(topic): _channel(topic) for topic in topics.TOPICS}
    operations: dict[str, Any] = {}
    for topic in topics.TOPICS:
        operations |= _operations(topic)
    return {
        "asyncapi": ASYNCAPI_VERSION,
        "info": {
            "title": "Groundwire",
            "version": version("groundwire"),
            "description": (
                "Web search for LLM agents as a streaming gateway. Publish a request to `search.requests.v1`, get one "
                "reply for each on `search.replies.v1` or on the allowed topic the request names. The other topics are "
                "internal: their records are versioned, and a worker refuses a version it does not know."
            ),
            "license": {"name": "Apache-2.0"},
            "tags": [{"name": "outside", "description": "For producers and consumers."}, {"name": "internal"}],
        },
        "defaultContentType": "application/json",
        "servers": {
            "kafka": {
                "host": "{brokers}",
                "protocol": "kafka",
                "description": "The operator's Kafka.",
                "variables": {"brokers": {"default": "localhost:9092"}},
            }
        },
        "channels": channels,
        "operations": operations,
        "components": {"schemas": _schemas()},
    }


# ── topics


def _channel(topic: TopicSpec) -> dict[str, Any]:
    return {
        "address": topic.name,
        "title": topic.name,
        "description": f"{topic.purpose[0].upper()}{topic.purpose[1:]}. Key: {topic.key}.",
        "tags": [{"name": "outside" if _is_outside(topic) else "internal"}],
        "messages": _messages(topic),
        "bindings": {
            "kafka": {
                "topic": topic.name,
                "partitions": topic.partitions,
                "topicConfiguration": {
                    "cleanup.policy": ["delete"],
                    "retention.ms": topic.retention_ms,
                    "max.message.bytes": topic.max_bytes,
                },
                "bindingVersion": KAFKA_BINDING_VERSION,
            }
        },
    }


def _is_outside(topic: TopicSpec) -> bool:
    return bool({"producer", "consumer"} & {*topic.writers, *topic.readers})


def _camel(topic: TopicSpec) -> str:
    """`search.cache-writes.v1` → `cacheWrites`."""
    first, *others = topic.name.split(".")[1].split("-")
    return first + "".join(word.capitalize() for word in others)


# ── messages


def _messages(topic: TopicSpec) -> dict[str, Any]:
    messages: dict[str, Any] = {}
    for model in topic.models:
        if model is SearchRequest or model is SearchReply:
            for dialect in DIALECTS:
                messages[model.__name__ + _SUFFIX[dialect]] = _message_in_dialect(topic, model, dialect)
        else:
            messages[model.__name__] = _message(topic, model)
    return messages


def _message(topic: TopicSpec, model: type) -> dict[str, Any]:
    return {
        "name": model.__name__,
        "title": model.__name__,
        "summary": _first_sentence(model.__doc__ or ""),
        "contentType": "application/json",
        "payload": {"$ref": f"#/components/schemas/{model.__name__}"},
        "bindings": {
            "kafka": {
                "key": {"type": "string", "description": topic.key},
                "bindingVersion": KAFKA_BINDING_VERSION,
            }
        },
    }


def _message_in_dialect(topic: TopicSpec, model: type, dialect: Dialect) -> dict[str, Any]:
    """A request or a reply with the headers of one dialect. A reply carries the dialect of its request."""
    asked = model is SearchRequest
    message = _message(topic, model) | {
        "name": model.__name__ + _SUFFIX[dialect],
        "title": f"{model.__name__}, with {DIALECTS[dialect]}",
        "headers": _request_headers(dialect) if asked else _reply_headers(dialect),
        "correlationId": {
            "description": "Echoed byte for byte, under the name it came with.",
            "location": f"$message.header#/{headers.CORRELATION[dialect]}",
        },
    }
    if dialect == "groundwire":
        message["examples"] = [_REQUEST_EXAMPLE if asked else _REPLY_EXAMPLE]
    return message


def _reply_headers(dialect: Dialect) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {
            headers.CORRELATION[dialect]: {
                "type": "string",
                "description": f"Any bytes, at most {headers.MAX_HEADER_BYTES:,}. Without it `request_id` is enough.",
            },
            headers.TRACEPARENT: {"type": "string", "description": "W3C trace context."},
        },
    }


def _request_headers(dialect: Dialect) -> dict[str, Any]:
    properties = _reply_headers(dialect)["properties"]
    properties[headers.REPLY_TOPIC[dialect]] = {
        "type": "string",
        "description": "Where the reply goes: a topic the operator allows. Default: search.replies.v1.",
    }
    if dialect == "groundwire":
        properties[headers.REPLY_PARTITION[dialect]] = {
            "type": "string",
            "pattern": r"^\d+$",
            "description": "Partition of the reply topic, decimal text.",
        }
        properties[headers.DEADLINE] = {
            "type": "string",
            "pattern": r"^\d+$",
            "description": "Unix milliseconds, decimal text. The earlier of this and `timeout_s` holds.",
        }
    elif dialect in headers.REPLY_PARTITION:
        properties[headers.REPLY_PARTITION[dialect]] = {
            "type": "string",
            "format": "binary",
            "description": "Partition of the reply topic, four bytes, big endian.",
        }
    return {"type": "object", "properties": properties}


_REQUEST_EXAMPLE: dict[str, Any] = {
    "name": "request",
    "summary": "A question, with at most three results wanted.",
    "headers": {"correlation-id": "7f3a", "reply-topic": "search.replies.v1"},
    "payload": {
        "query": "height of Mount Everest in metres",
        "request_id": "q-1",
        "depth": 3,
        "tenant": "travel",
        "metadata": {"agent": "guide"},
    },
}

_REPLY_EXAMPLE: dict[str, Any] = {
    "name": "reply",
    "summary": "The answer, paid for at a vendor.",
    "headers": {"correlation-id": "7f3a"},
    "payload": {
        "version": 1,
        "request_id": "q-1",
        "reply_id": "b1e0c2",
        "status": "grounded",
        "query": "height of Mount Everest in metres",
        "normalized_query": "height of mount everest in metres",
        "freshness": "static",
        "results": [
            {
                "index": 1,
                "title": "Mount Everest",
                "url": "https://mountains.example/everest",
                "body": "Its height was most recently measured in 2020 as 8,848.86 m.",
                "published_at": None,
                "score": None,
                "provider": "acme",
            }
        ],
        "context": "[1] Mount Everest\nhttps://mountains.example/everest\n"
        "Its height was most recently measured in 2020 as 8,848.86 m.",
        "provider": "acme",
        "cache": {
            "outcome": "miss",
            "age_s": None,
            "expires_at": "2026-12-31T09:00:00Z",
            "matched_query": None,
            "similarity": None,
            "probability": None,
            "reason": None,
        },
        "cost_micro_usd": 1000,
        "saved_micro_usd": None,
        "latency_ms": {"total": 341.2, "queue": 3.1, "normalize": 0.4, "lookup": 4.2, "fetch": 318.0, "unify": 1.7},
        "attempts": [
            {
                "provider": "acme",
                "outcome": "ok",
                "reason": None,
                "status_code": 200,
                "latency_ms": 312.5,
                "cost_micro_usd": 1000,
                "cost_source": "price_list",
                "cost_detail": None,
                "hedged": False,
            }
        ],
        "error": None,
        "warnings": [],
        "metadata": {"agent": "guide"},
        "completed_at": "2026-12-01T09:00:00.341Z",
    },
}


# ── operations


def _operations(topic: TopicSpec) -> dict[str, Any]:
    """What Groundwire does with a topic, role by role. Requests are one operation a dialect: each has its own reply."""
    operations: dict[str, Any] = {}
    channel = {"$ref": f"#/channels/{_camel(topic)}"}
    if topic is topics.REQUESTS:
        return {f"answerRequests{_SUFFIX[dialect]}": _answer(topic, dialect) for dialect in DIALECTS}
    sides: tuple[tuple[Literal["send", "receive"], tuple[str, ...]], ...] = (
        ("send", topic.writers),
        ("receive", topic.readers),
    )
    for action, roles in sides:
        for role in roles:
            if role in topics.ROLES:
                name = "".join(word.capitalize() for word in role.split("-"))
                verb = "Sends" if action == "send" else "Receives"
                operations[f"{name[0].lower()}{name[1:]}{verb}{_camel(topic)[0].upper()}{_camel(topic)[1:]}"] = {
                    "action": action,
                    "channel": channel,
                    "summary": f"The {role} worker {'writes' if action == 'send' else 'reads'} {topic.purpose}.",
                    "tags": [{"name": role}],
                }
    return operations


def _answer(topic: TopicSpec, dialect: Dialect) -> dict[str, Any]:
    requests, replies = _camel(topic), _camel(topics.REPLIES)
    return {
        "action": "receive",
        "channel": {"$ref": f"#/channels/{requests}"},
        "summary": f"Every request gets a reply, here with {DIALECTS[dialect]}.",
        "tags": [{"name": role} for role in topic.readers],
        "messages": [{"$ref": f"#/channels/{requests}/messages/{SearchRequest.__name__}{_SUFFIX[dialect]}"}],
        "reply": {
            "address": {
                "description": "The topic the request names, if it is allowed; else search.replies.v1.",
                "location": f"$message.header#/{headers.REPLY_TOPIC[dialect]}",
            },
            "channel": {"$ref": f"#/channels/{replies}"},
            "messages": [{"$ref": f"#/channels/{replies}/messages/{SearchReply.__name__}{_SUFFIX[dialect]}"}],
        },
    }


# ── schemas


class _Draft07(GenerateJsonSchema):
    """AsyncAPI 3.0 schemas are JSON Schema draft-07, where a tuple is written as an array of `items`."""

    def tuple_schema(self, schema: core_schema.TupleSchema) -> JsonSchemaValue:
        made = super().tuple_schema(schema)
        if "prefixItems" in made:
            made["items"] = made.pop("prefixItems")
        return made


def _schemas() -> dict[str, Any]:
    """Every model that is a record's value, and every model inside one, by class name."""
    models: list[tuple[type[BaseModel], Literal["validation", "serialization"]]] = [
        (model, "serialization" if issubclass(model, Record) else "validation")
        for topic in topics.TOPICS
        for model in topic.models
        if issubclass(model, BaseModel)
    ]
    _, made = models_json_schema(
        models, ref_template="#/components/schemas/{model}", schema_generator=_Draft07, union_format="any_of"
    )
    schemas: dict[str, Any] = made["$defs"]
    for name, schema in schemas.items():
        if name not in {SearchRequest.__name__, Filters.__name__}:
            # Fields may be added to what we send within a version: a reader passes over those it does not know.
            schema.pop("additionalProperties", None)
    schemas[SearchRequest.__name__]["patternProperties"] = {"^x-": {}}
    return schemas


def _first_sentence(text: str) -> str:
    return " ".join(text.split()).split(". ")[0].rstrip(".") + "."

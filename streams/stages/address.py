"""Where a reply goes: the default topic, or an allowed one that the request's headers ask for."""

from dataclasses import dataclass, field

from groundwire.schemas.headers import RequestHeaders, ReturnAddress
from groundwire.schemas.settings import ReplySettings
from groundwire.schemas.topics import REPLIES, TOPICS
from groundwire.streams.stages.ports import PartitionCount

# Nobody may have the pipeline write replies into its own inner topics, however wide the operator's pattern is.
_INNER = frozenset(spec.name for spec in TOPICS) - {REPLIES.name}


@dataclass(frozen=True, slots=True)
class Destination:
    """`problem` says why the asked topic is not used; the address is then the default topic's."""

    address: ReturnAddress
    warnings: list[str] = field(default_factory=list)
    problem: str | None = None
    problem_field: str | None = None


class AddressBook:
    """The operator's allow-list."""

    def __init__(self, settings: ReplySettings, partition_count: PartitionCount) -> None:
        self._default = settings.default_topic
        self._exact = frozenset(name for name in settings.allowed_topics if not name.endswith(".*"))
        self._prefixes = tuple(name[:-1] for name in settings.allowed_topics if name.endswith(".*"))
        self._partition_count = partition_count

    def destination(self, headers: RequestHeaders) -> Destination:
        topic = headers.reply_topic
        if topic is None:
            return self._place(headers, self._default)
        problem = self._problem(topic)
        if problem is None:
            return self._place(headers, topic)
        return Destination(
            address=headers.return_address(self._default),
            problem=problem,
            problem_field=f"headers.{headers.reply_topic_field}",
        )

    def _problem(self, topic: str) -> str | None:
        allowed = topic == self._default or topic in self._exact or topic.startswith(self._prefixes)
        if not allowed or topic in _INNER:
            return (
                f"replies may not go to topic `{topic[:249]}`; the operator allows others under `reply.allowed_topics`"
            )
        if self._partition_count(topic) == 0:
            return f"there is no topic `{topic[:249]}`; create it, or leave the header out for the default topic"
        return None

    def _place(self, headers: RequestHeaders, topic: str) -> Destination:
        # A partition without a reply topic means one of the default topic.
        partition = headers.reply_partition
        address = headers.return_address(topic)
        warnings: list[str] = []
        if partition is not None:
            count = self._partition_count(topic)
            if partition < 0 or (count is not None and partition >= count):
                warnings.append(
                    f"reply partition {partition} does not exist in topic `{topic}`: the reply is placed by key"
                )
                partition = None
        if partition != address.partition:
            address = address.model_copy(update={"partition": partition})
        return Destination(address=address, warnings=warnings)

"""Messages as plain data for JSON: numbers stay numbers, times are ISO 8601, enums are their short names.

protobuf's own JSON form writes 64-bit numbers as strings and repeats each enum's prefix; people and jq want neither.
"""

from datetime import UTC, datetime
from typing import Any

from google.protobuf.descriptor import EnumDescriptor
from google.protobuf.duration_pb2 import Duration
from google.protobuf.message import Message
from google.protobuf.timestamp_pb2 import Timestamp

from jird_client.exit_codes import exit_code_name


def to_plain(message: Message) -> dict[str, Any]:
    """Return a message as a dict of JSON types, with every field present.

    Unset sub-messages are None. Timestamps become strings in UTC; durations become seconds, under the field's name
    with `_s`; enum values become lower-case names without their prefix.
    """
    plain: dict[str, Any] = {}
    for field in message.DESCRIPTOR.fields:
        value = getattr(message, field.name)
        if _is_map(field):
            plain[field.name] = _map_to_plain(field, value)
        elif field.is_repeated:
            plain[field.name] = [_value_to_plain(field, item) for item in value]
        elif field.message_type is not None and not message.HasField(field.name):
            plain[_key(field)] = None
        else:
            plain[_key(field)] = _value_to_plain(field, value)
    return plain


def iso_time(timestamp: Timestamp) -> str:
    """Return a timestamp as e.g. "2026-11-30T18:05:09Z"."""
    moment = datetime.fromtimestamp(timestamp.seconds, UTC)
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")


def seconds(duration: Duration) -> float:
    """Return a duration in seconds."""
    return duration.seconds + duration.nanos / 1e9


def enum_name(descriptor: EnumDescriptor, number: int) -> str:
    """Return the short name of an enum's value: lower case, without the prefix; unset is ""."""
    value = descriptor.values_by_number.get(number)
    if value is None:
        return str(number)
    prefix = descriptor.values[0].name.removesuffix("UNSPECIFIED")
    name = value.name.removeprefix(prefix).lower()
    return "" if name == "unspecified" else name


def _key(field: Any) -> str:
    is_duration = field.message_type is not None and field.message_type is Duration.DESCRIPTOR
    return f"{field.name}_s" if is_duration else field.name


def _is_map(field: Any) -> bool:
    return bool(field.message_type is not None and field.message_type.GetOptions().map_entry)


def _map_to_plain(field: Any, entries: Any) -> dict[str, Any]:
    if field.name == "exit_code_counts":
        return {exit_code_name(number): entries[number] for number in sorted(entries)}
    return {str(key): entries[key] for key in sorted(entries)}


def _value_to_plain(field: Any, value: Any) -> Any:
    if field.enum_type is not None:
        return enum_name(field.enum_type, value)
    if isinstance(value, Timestamp):
        return iso_time(value)
    if isinstance(value, Duration):
        return round(seconds(value), 6)
    if isinstance(value, Message):
        return to_plain(value)
    return value

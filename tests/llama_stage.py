"""What the tests of the embedded chat model share: a schema, prompts, a whole reply."""

from threading import Event

from memchat.records import Message, Role, Sampling

SCHEMA = {"type": "object", "properties": {"yes": {"type": "boolean"}}, "required": ["yes"]}


def said(*texts):
    return [Message(role, text) for role, text in zip((Role.USER, Role.ASSISTANT) * len(texts), texts, strict=False)]


def reply(model, messages, stop=None, **sampling):
    return list(model.stream(messages, Sampling(**{"max_tokens": 4, "temperature": 0, **sampling}), stop or Event()))

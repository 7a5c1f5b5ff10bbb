"""The endpoints of the stand-in that reply with text: chat and generate, with what the server does to a prompt."""

import json
import re
from collections.abc import Mapping

from tests.standin_models import Failure, Reply, count_tokens, now


def chat(standin, handler, request) -> None:
    body = request.body
    failure = _refusal(standin, body, "chat")
    if failure is not None:
        return handler.send_failure(failure)
    model = standin.find(body["model"])
    if not body.get("messages"):
        return _load_only(standin, handler, model, body, {"message": {"role": "assistant", "content": ""}})
    given = _fit(body["messages"], _window(standin, model, body), body.get("truncate", True))
    if given is None:
        return handler.send_failure(_too_long(body["messages"], _window(standin, model, body)))
    with standin.turn_of(model, handler.connection):
        standin.load(model, _window(standin, model, body))
        standin.prompts.append(given)
        warm_up = _options(body).get("num_predict") == 1
        reply = Reply("") if warm_up else standin.next_reply(body)
        if isinstance(reply, Failure):
            return handler.send_failure(reply)
        return _stream(standin, handler, model, body, reply, sum(map(_size, given)))


def generate(standin, handler, request) -> None:
    body = request.body
    failure = _refusal(standin, body, "generate")
    if failure is not None:
        return handler.send_failure(failure)
    model = standin.find(body["model"])
    if not body.get("prompt"):
        return _load_only(standin, handler, model, body, {"response": ""})
    with standin.turn_of(model, handler.connection):
        standin.load(model, _window(standin, model, body))
        standin.prompts.append([{"role": "user", "content": body["prompt"]}])
        reply = standin.next_reply(body)
        if isinstance(reply, Failure):
            return handler.send_failure(reply)
        return _stream(standin, handler, model, body, reply, count_tokens(body["prompt"]))


def _refusal(standin, body, doing) -> Failure | None:
    """What the server checks before it loads anything, in its words."""
    name = body.get("model") or ""
    if not name:
        return Failure(400, "model is required") if doing == "chat" else Failure(404, "model '' not found")
    model = standin.find(name)
    if model is None:
        return Failure(404, f"model '{name}' not found")
    if "embedding" in model.capabilities:
        return Failure(400, f'"{name}" does not support {doing}')
    think = body.get("think")
    if isinstance(think, str) and think not in ("low", "medium", "high", "max"):
        return Failure(400, f'invalid think value: "{think}"')
    if think and "thinking" not in model.capabilities:
        return Failure(400, f'"{name}" does not support thinking')
    keep_alive = body.get("keep_alive")
    if isinstance(keep_alive, str) and not re.fullmatch(r"-?([\d.]+(ns|us|µs|ms|s|m|h))+", keep_alive):
        return Failure(400, f'time: missing unit in duration "{keep_alive}"')
    for option in ("num_ctx", "num_predict", "seed"):
        if not isinstance(_options(body).get(option, 0), int):
            return Failure(500, f'option "{option}" must be of type integer')
    if not isinstance(body.get("format") or "json", dict) and (body.get("format") or "json") != "json":
        return Failure(500, 'invalid format: expected "json" or a JSON schema object')
    return None


def _options(body) -> Mapping[str, object]:
    return body.get("options") or {}


def _window(standin, model, body) -> int:
    asked = _options(body).get("num_ctx") or standin.switches.default_context
    return min(asked, model.context) if model.context else asked


def _load_only(standin, handler, model, body, empty) -> None:
    unload = body.get("keep_alive") == 0
    if unload:
        standin.unload(model)
    else:
        standin.load(model, _window(standin, model, body))
    done = {"model": body["model"], "created_at": now(), "done": True, "done_reason": "unload" if unload else "load"}
    handler.send_json(done | empty)


def _fit(messages, window, truncate):
    """Drop whole messages, oldest first; system messages and the newest stay. None when even those do not fit."""
    kept = list(messages)
    while sum(map(_size, kept)) > window:
        droppable = [message for message in kept[:-1] if message["role"] != "system"]
        if not droppable or not truncate:
            return None
        kept.remove(droppable[0])
    return kept


def _size(message) -> int:
    return count_tokens(str(message.get("content") or "")) + 4


def _too_long(messages, window) -> Failure:
    tokens = sum(map(_size, messages))
    said = f"request ({tokens} tokens) exceeds the available context size ({window} tokens), try increasing it"
    return Failure(400, json.dumps({"error": {"code": 400, "message": said, "type": "exceed_context_size_error"}}))


def _stream(standin, handler, model, body, reply, prompt_tokens) -> None:
    """Answer with a reply, in lines or at once, with the fault that it may carry."""
    standin.wait(reply.first_token, handler.connection)
    if body.get("stream") is False:
        return handler.send_json(_whole(body, model, reply, prompt_tokens))
    handler.begin_lines()
    pieces, reason = _pieces(body, reply)
    if reply.ends == "load":
        pieces, reason = [], "load"
    for line in _thoughts(body, model, reply):
        handler.send_line(line)
    for number, piece in enumerate(pieces):
        standin.wait(reply.pause, handler.connection)
        if number == 1 and reply.ends == "blank_line":
            handler.send_line(None)
        handler.send_line(_line(body, model, reply, piece))
    return _finish(standin, handler, reply, _final(body, model, reply, reason, prompt_tokens, len(pieces)))


def _finish(standin, handler, reply, final) -> None:
    match reply.ends:
        case "cut":
            return handler.cut()
        case "error_line":
            handler.send_line({"error": reply.error})
        case "hang":
            standin.wait(float("inf"), handler.connection)
        case "no_done":
            pass
        case _:
            handler.send_line(final)
    return handler.end_lines()


def _pieces(body, reply):
    """The pieces of the reply and why it ends, with `num_predict` kept to."""
    pieces = reply.pieces()
    limit = _options(body).get("num_predict", -1)
    return (pieces[:limit], "length") if 0 < limit < len(pieces) else (pieces, reply.done_reason)


def _thoughts(body, model, reply):
    if "thinking" not in model.capabilities or body.get("think") is False:
        return []
    thinking = reply.thinking or "Let me think."
    return [_head(body, model, reply) | {"message": {"role": "assistant", "content": "", "thinking": thinking}}]


def _head(body, model, reply) -> dict[str, object]:
    relay = {"remote_host": reply.relay, "remote_model": "x"} if reply.relay else model.remote_fields()
    return {"model": body["model"], "created_at": now(), "done": False} | relay


def _line(body, model, reply, piece) -> dict[str, object]:
    text = {"message": {"role": "assistant", "content": piece}} if "messages" in body else {"response": piece}
    return _head(body, model, reply) | text


def _final(body, model, reply, reason, prompt_tokens, reply_tokens) -> dict[str, object]:
    counts = {
        "total_duration": 2_000_000 * (prompt_tokens + reply_tokens),
        "prompt_eval_count": prompt_tokens,
        "prompt_eval_duration": 1_000_000 * prompt_tokens,
        "eval_count": reply_tokens,
        "eval_duration": 50_000_000 * reply_tokens,
    }
    told = {name: value for name, value in counts.items() if value}  # zeros are left out
    return _line(body, model, reply, "") | {"done": True, "done_reason": reason} | told


def _whole(body, model, reply, prompt_tokens) -> dict[str, object]:
    pieces, reason = _pieces(body, reply)
    final = _final(body, model, reply, reason, prompt_tokens, len(pieces))
    return final | {key: value for key, value in _line(body, model, reply, "".join(pieces)).items() if key != "done"}

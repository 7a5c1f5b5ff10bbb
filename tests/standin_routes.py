"""The endpoints of the Ollama stand-in, one function each, with the server's statuses and texts."""

import json
import re
from collections.abc import Mapping
from datetime import UTC, datetime

from tests.standin_models import (
    Failure,
    Reply,
    StandInModel,
    count_tokens,
    cut_tokens,
    guess_model,
    hash_vector,
)

_LOCAL_NAME = re.compile(r"(localhost|[\w.-]*\.(localhost|local|internal)|127\.[\d.]+|\[::1\]|0\.0\.0\.0)(:\d+)?")
_TEXT_FIELD = {"/api/chat": "messages", "/api/generate": "prompt", "/api/embed": "input", "/api/embeddings": "prompt"}


def answer(standin, handler, request) -> None:
    """Find the endpoint and let it answer; everything a real server checks before comes first."""
    switches = standin.switches
    if switches.everywhere is not None:
        return handler.send_failure(switches.everywhere)
    if switches.redirect_to is not None:
        handler.send_response(307)
        handler.send_header("Location", switches.redirect_to + request.path)
        handler.send_header("Content-Length", "0")
        return handler.end_headers()
    if switches.check_host and not _LOCAL_NAME.fullmatch(request.headers.get("host", "")):
        return handler.send_page("", 403)
    route = _find_route(request.method, request.path, standin)
    if route is None:
        return handler.send_page("404 page not found", 404)
    if request.method == "POST" and not request.path.startswith("/api/blobs"):
        if not handler.raw:
            return handler.send_json({"error": "missing request body"}, 400)
        if not request.body and handler.raw.strip() != b"{}":
            return handler.send_json({"error": "invalid character 'x' looking for beginning of value"}, 400)
    _watch_wire(standin, request)
    return route(standin, handler, request)


def _find_route(method, path, standin):
    if path == "/api/status" and standin.switches.cloud_disabled is None:
        return None
    if path == "/api/embed" and standin.switches.old_embeddings:
        return None
    if path.startswith("/api/blobs/"):
        return _blobs
    return _ROUTES.get(("GET" if method == "HEAD" else method, path))


def _watch_wire(standin, request) -> None:
    """Note every request that bears text to a model which does not run here."""
    name = str(request.body.get("model") or "").casefold()
    tag = name.rpartition(":")[2] if ":" in name else ""
    model = find(standin, name)
    remote = tag == "cloud" or (tag.endswith("-cloud") and "/" not in tag) or (model is not None and model.is_remote)
    if remote and request.body.get(_TEXT_FIELD.get(request.path, "")):
        standin.trip(request)


def find(standin, name) -> StandInModel | None:
    wanted = name.casefold() if ":" in name else f"{name.casefold()}:latest"
    return next((model for model in standin.models if model.name.casefold() == wanted), None)


# -- what the server tells of itself


def _root(standin, handler, request) -> None:
    handler.send_page("Ollama is running")


def _version(standin, handler, request) -> None:
    handler.send_json({"version": standin.switches.version})


def _status(standin, handler, request) -> None:
    disabled = standin.switches.cloud_disabled
    handler.send_json({"cloud": {"disabled": disabled, "source": "env" if disabled else "none"}})


def _tags(standin, handler, request) -> None:
    handler.send_json({"models": [_entry(model, standin) for model in standin.models]})


def _entry(model, standin) -> dict[str, object]:
    stub = model.is_remote and not model.list_hides_it
    details = {
        "parent_model": "",
        "format": "" if stub else "gguf",
        "family": model.family,
        "families": [model.family] if model.family else None,
        "parameter_size": model.parameters,
        "quantization_level": "" if stub else "Q4_K_M",
    }
    entry = {
        "name": model.name,
        "model": model.name,
        "modified_at": _now(),
        "size": model.size,
        "digest": model.digest,
        "details": details,
    }
    if standin.switches.tell_capabilities:
        entry["capabilities"] = list(model.capabilities)
        details |= {"context_length": model.context, "embedding_length": model.dimensions}
    return entry | (_remote_fields(model) if stub else {})


def _remote_fields(model) -> dict[str, object]:
    fields = {"remote_model": model.remote_model, "remote_host": model.remote_host}
    return {key: value for key, value in fields.items() if value}


def _ps(standin, handler, request) -> None:
    loaded = [
        {"name": name, "model": name, "context_length": num_ctx, "size": 1, "size_vram": 0}
        for name, num_ctx in standin.loaded().items()
    ]
    handler.send_json({"models": loaded})


def _show(standin, handler, request) -> None:
    name = request.body.get("model") or request.body.get("name")
    if not name:
        return handler.send_json({"error": "model is required"}, 400)
    model = find(standin, name)
    if model is None:
        return handler.send_json({"error": f"model '{_tagged(name)}' not found"}, 404)
    if model.is_remote and standin.switches.cloud_disabled:
        return handler.send_json({"error": "ollama cloud is disabled: remote model is unavailable"}, 403)
    architecture = model.family or "unknown"
    facts = {
        "general.architecture": architecture,
        f"{architecture}.context_length": model.context,
        f"{architecture}.embedding_length": model.dimensions,
    }
    if "embedding" in model.capabilities:
        facts[f"{architecture}.pooling_type"] = 1
    shown = {"model_info": facts, "details": {"format": "gguf"}, "capabilities": list(model.capabilities)}
    return handler.send_json(shown | _remote_fields(model))


# -- chat


def _chat(standin, handler, request) -> None:
    body = request.body
    failure = _refusal(standin, body, "chat")
    if failure is not None:
        return handler.send_failure(failure)
    model = find(standin, body["model"])
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


def _generate(standin, handler, request) -> None:
    body = request.body
    failure = _refusal(standin, body, "generate")
    if failure is not None:
        return handler.send_failure(failure)
    model = find(standin, body["model"])
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
    model = find(standin, name)
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
    done = {"model": body["model"], "created_at": _now(), "done": True, "done_reason": "unload" if unload else "load"}
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
    relay = {"remote_host": reply.relay, "remote_model": "x"} if reply.relay else _remote_fields(model)
    return {"model": body["model"], "created_at": _now(), "done": False} | relay


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


# -- embedding


def _embed(standin, handler, request) -> None:
    body = request.body
    model = _embedder(standin, handler, body)
    if model is None:
        return None
    texts = body.get("input")
    texts = [texts] if isinstance(texts, str) and texts else texts or []
    if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
        return handler.send_json({"error": "invalid input type"}, 400)
    refuses = body.get("truncate") is False or standin.switches.embed_bug
    if refuses and any(count_tokens(text) > model.context for text in texts):
        return handler.send_json({"error": "the input length exceeds the context length"}, 400)
    cut = [cut_tokens(text, model.context) for text in texts]
    with standin.turn_of(model, handler.connection):
        standin.embedded.extend(texts)
        standin.load(model, model.context)
        answer = {"model": body["model"], "embeddings": _vectors(standin, model, cut)}
    tokens = sum(map(count_tokens, cut))
    return handler.send_json(answer | ({"prompt_eval_count": tokens} if tokens else {}))


def _embeddings(standin, handler, request) -> None:
    """The old endpoint: one text, and its vector is not normalised."""
    model = _embedder(standin, handler, request.body)
    if model is None:
        return None
    prompt = request.body.get("prompt") or ""
    if count_tokens(prompt) > model.context:
        return handler.send_json({"error": "the input length exceeds the context length"}, 500)
    standin.embedded.append(prompt)
    vector = [40.9 * x for x in _vectors(standin, model, [prompt])[0]] if prompt else []
    return handler.send_json({"embedding": vector})


def _embedder(standin, handler, body) -> StandInModel | None:
    name = body.get("model") or ""
    model = find(standin, name)
    if model is None:
        handler.send_json({"error": f'model "{name}" not found, try pulling it first'}, 404)
        return None
    if "embedding" not in model.capabilities:
        handler.send_json({"error": "This server does not support embeddings. Start it with `--embeddings`"}, 501)
        return None
    return model


def _vectors(standin, model, texts) -> list[list[float]]:
    if standin.embed is not None:
        return standin.embed(texts, model.dimensions)
    return [hash_vector(text, model.dimensions) for text in texts]


# -- models coming and going


def _pull(standin, handler, request) -> None:
    name = request.body.get("model") or request.body.get("name") or ""
    known = any(_tagged(name) == _tagged(one) for one in standin.switches.pullable)
    handler.begin_lines()
    handler.send_line({"status": "pulling manifest"})
    if not known:
        handler.send_line({"error": "pull model manifest: file does not exist"})
        return handler.end_lines()
    model = guess_model(name)
    layer = {"status": f"pulling {model.digest[:12]}", "digest": f"sha256:{model.digest}", "total": model.size}
    for share in range(5):
        handler.send_line(layer | ({"completed": model.size * share // 4} if share else {}))
    match standin.switches.pull_ends:
        case "cut":
            return handler.cut()
        case "hang":
            standin.wait(float("inf"), handler.connection)
        case "success":
            for status in ("verifying sha256 digest", "writing manifest", "success"):
                handler.send_line({"status": status})
            standin.models = [model, *(one for one in standin.models if one.name != model.name)]
        case "silent":
            pass
        case text:
            handler.send_line({"error": text})
    return handler.end_lines()


def _create(standin, handler, request) -> None:
    if not request.body.get("from") and not request.body.get("files"):
        return handler.send_json({"error": "neither 'from' or 'files' was specified"}, 400)
    standin.models = [guess_model(request.body.get("model") or "made"), *standin.models]
    return handler.send_json({"status": "success"})


def _delete(standin, handler, request) -> None:
    name = request.body.get("model") or ""
    model = find(standin, name)
    if model is None:
        return handler.send_json({"error": f"model '{name}' not found"}, 404)
    standin.models = [one for one in standin.models if one is not model]
    return handler.send_page("")


def _blobs(standin, handler, request) -> None:
    handler.send_page("", 201 if request.method == "POST" else 404)


def _tagged(name) -> str:
    return name if ":" in name else f"{name}:latest"


def _now() -> str:
    return datetime.now(UTC).isoformat().replace("+00:00", "Z")


_ROUTES = {
    ("GET", "/"): _root,
    ("GET", "/api/version"): _version,
    ("GET", "/api/status"): _status,
    ("GET", "/api/tags"): _tags,
    ("GET", "/api/ps"): _ps,
    ("POST", "/api/show"): _show,
    ("POST", "/api/chat"): _chat,
    ("POST", "/api/generate"): _generate,
    ("POST", "/api/embed"): _embed,
    ("POST", "/api/embeddings"): _embeddings,
    ("POST", "/api/pull"): _pull,
    ("POST", "/api/create"): _create,
    ("DELETE", "/api/delete"): _delete,
}

"""The endpoints of the Ollama stand-in, one function each, with the server's statuses and texts."""

import re

from tests.standin_chat import chat, generate
from tests.standin_models import StandInModel, count_tokens, cut_tokens, guess_model, hash_vector, now

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
    model = standin.find(name)
    remote = tag == "cloud" or (tag.endswith("-cloud") and "/" not in tag) or (model is not None and model.is_remote)
    if remote and request.body.get(_TEXT_FIELD.get(request.path, "")):
        standin.trip(request)


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
        "modified_at": now(),
        "size": model.size,
        "digest": model.digest,
        "details": details,
    }
    if standin.switches.tell_capabilities:
        entry["capabilities"] = list(model.capabilities)
        details |= {"context_length": model.context, "embedding_length": model.dimensions}
    return entry | (model.remote_fields() if stub else {})


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
    model = standin.find(name)
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
    return handler.send_json(shown | model.remote_fields())


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
    model = standin.find(name)
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
    model = standin.find(name)
    if model is None:
        return handler.send_json({"error": f"model '{name}' not found"}, 404)
    standin.models = [one for one in standin.models if one is not model]
    return handler.send_page("")


def _blobs(standin, handler, request) -> None:
    handler.send_page("", 201 if request.method == "POST" else 404)


def _tagged(name) -> str:
    return name if ":" in name else f"{name}:latest"


_ROUTES = {
    ("GET", "/"): _root,
    ("GET", "/api/version"): _version,
    ("GET", "/api/status"): _status,
    ("GET", "/api/tags"): _tags,
    ("GET", "/api/ps"): _ps,
    ("POST", "/api/show"): _show,
    ("POST", "/api/chat"): chat,
    ("POST", "/api/generate"): generate,
    ("POST", "/api/embed"): _embed,
    ("POST", "/api/embeddings"): _embeddings,
    ("POST", "/api/pull"): _pull,
    ("POST", "/api/create"): _create,
    ("DELETE", "/api/delete"): _delete,
}

"""Shorter vectors: how they are cut, and how a file comes to have them."""

import math

import pytest

from memchat.engine.shortened import ShortenedEmbedder
from tests.commands import Shell
from tests.fakes import FakeEmbedder
from tests.standin import StandIn
from tests.test_forgetting import quick_vectors


@pytest.mark.parametrize("method", ["embed_documents", "embed_queries"])
def test_the_first_numbers_are_kept_in_proportion_and_at_norm_one(method: str):
    whole = FakeEmbedder(64)
    (long,) = getattr(whole, method)(["I keep bees in the garden and sell honey on Sundays"])
    (short,) = getattr(ShortenedEmbedder(whole, 16), method)(["I keep bees in the garden and sell honey on Sundays"])
    assert len(short) == 16
    assert math.isclose(math.fsum(value * value for value in short), 1.0, rel_tol=1e-5)
    scale = short[0] / long[0]
    assert all(math.isclose(a, scale * b, rel_tol=1e-4, abs_tol=1e-6) for a, b in zip(short, long, strict=False))


def test_a_model_with_fewer_numbers_is_left_alone():
    whole = FakeEmbedder(8)
    short = ShortenedEmbedder(whole, 99)
    assert short.card() == whole.card()
    assert short.embed_queries(["bees"])[0] == pytest.approx(whole.embed_queries(["bees"])[0])


def test_the_setting_holds_from_a_reindex_on_and_the_doctor_says_so(tmp_path):
    with StandIn(models=["llama3.2:3b", "nomic-embed-text"], embed=quick_vectors) as server:
        shell = Shell(tmp_path, server.url)
        shell.remember("I keep bees.")
        shell.ok("config", "set", "embed_dimensions", "128")
        found = {check["name"]: check for check in shell.run("doctor", "--json").json["checks"]}  # type: ignore[index]
        assert (found["embed_dimensions"]["ok"], found["embed_dimensions"]["mend"]) == (False, "memchat reindex")
        assert "768" in found["embed_dimensions"]["found"]
        assert not shell.ok("inspect", "--query", "bees", "--json").json["keywords_only"]  # type: ignore[index]
        shell.ok("reindex")
        again = {check["name"] for check in shell.run("doctor", "--json").json["checks"]}  # type: ignore[index]
        assert "embed_dimensions" not in again
        shell.ok("config", "unset", "embed_dimensions")
        assert not shell.ok("inspect", "--query", "bees", "--json").json["keywords_only"]  # type: ignore[index]

"""Measures what unrelated questions score with an embedder, and turns it into the floor of one question.

Unrelated texts score about 0.07 with one model and 0.5 with another, so no fixed number can be the floor. And one
number is not enough even for one model: a question about one's own life ("what should I cook?") hardly ever resembles
the memory that matters ("I am allergic to peanuts") more than a question about the world resembles some memory by
chance. The two kinds of question are told apart by the direction in which they lie, measured with the shipped lists;
the further a question leans towards one's own life, the lower is its floor. All numbers are those of the embedder at
hand; `false_alarm` is the share of the shipped unrelated questions that pass.
"""

from collections.abc import Sequence
from typing import Final

from memchat.engine import Embedder
from memchat.recall.query import guess_language, speaks_of_self
from memchat.recall.ranking import dot, mean_and_deviation, quantile
from memchat.recall.samples import MEMORIES, PERSONAL_QUESTIONS, WORLD_QUESTIONS
from memchat.records import Calibration, Vector

_SELF_WORDS: Final = 1.0  # deviations by which "I", "my", "us" move a question towards one's own life
_LOWEST: Final = -0.5  # deviations from the mean of noise; pairs across languages lie up to 0.4 below it (MiniLM)
_FEWEST_TRIALS: Final = 10  # with fewer trials of a language group, all trials count


def calibrate(embedder: Embedder, false_alarm: float, personal_weight: float) -> Calibration:
    """Measure the noise of `embedder` with the shipped lists; about 200 short texts are embedded."""
    world = embedder.embed_queries(WORLD_QUESTIONS)
    personal = _mean(embedder.embed_queries(PERSONAL_QUESTIONS))
    memories = embedder.embed_documents(MEMORIES)
    noise = [[dot(question, memory) for memory in memories] for question in world]
    mean, deviation = mean_and_deviation([similarity for row in noise for similarity in row])
    middle = _mean(world)
    trials = tuple(
        (guess_language(text), max(row), dot(question, _unit(personal, _without(middle, question, len(world)))))
        for text, row, question in zip(WORLD_QUESTIONS, noise, world, strict=True)
    )
    measured = Calibration(
        noise_mean=mean,
        noise_deviation=deviation,
        floor=0.0,
        false_alarm=false_alarm,
        pairs=len(world) * len(memories),
        direction=tuple(_unit(personal, middle)),
        trials=trials,
    )
    floor = mean + deviation * _threshold(measured, "en", false_alarm, personal_weight)
    return Calibration(mean, deviation, floor, false_alarm, measured.pairs, measured.direction, trials)


def lean(calibration: Calibration, text: str, vector: Vector) -> float:
    """Return by how many deviations a question lies nearer to questions about one's own life than unrelated ones."""
    mean, deviation = mean_and_deviation([place for _, _, place in calibration.trials])
    words = _SELF_WORDS if speaks_of_self(text) else 0.0
    return (dot(vector, calibration.direction) - mean) / (deviation or 1.0) + words


def question_floor(
    calibration: Calibration, texts: Sequence[str], vectors: Sequence[Vector], false_alarm: float, weight: float
) -> float:
    """Return the cosine similarity that a memory needs to answer a question.

    `texts` is the message, and it again after the one before, as `search_texts` gives them: the lower floor counts,
    and the context lends a message only half of its leaning, so that "how do lasers work?" after a personal message
    stays a question about the world. A calibration without trials has one floor for all questions.
    """
    if not calibration.trials or any(len(calibration.direction) != len(vector) for vector in vectors):
        return calibration.floor
    leans = [lean(calibration, text, vector) for text, vector in zip(texts, vectors, strict=True)]
    needed = _threshold(calibration, guess_language(texts[0]), false_alarm, weight)
    above = needed - weight * max((leans[0] + leaning) / 2 for leaning in leans)
    return calibration.noise_mean + calibration.noise_deviation * max(_LOWEST, above)


def _threshold(calibration: Calibration, language: str, false_alarm: float, weight: float) -> float:
    """Return the sum of both deviations that `false_alarm` of the unrelated questions pass.

    English and other questions are judged apart: with an English embedder, two texts of another language are near
    each other whatever they say.
    """
    mean, deviation = mean_and_deviation([place for _, _, place in calibration.trials])
    alike = [trial for trial in calibration.trials if (trial[0] == "en") == (language == "en")]
    sums = [
        (best - calibration.noise_mean) / (calibration.noise_deviation or 1.0)
        + weight * (place - mean) / (deviation or 1.0)
        for _, best, place in (alike if len(alike) >= _FEWEST_TRIALS else calibration.trials)
    ]
    return quantile(sums, 1 - false_alarm)


def _mean(vectors: Sequence[Vector]) -> list[float]:
    return [sum(column) / len(vectors) for column in zip(*vectors, strict=True)]


def _without(mean: Sequence[float], one: Vector, count: int) -> list[float]:
    """Return the mean of the `count` - 1 others, so that no question judges itself."""
    return [(all_of - own / count) * count / (count - 1) for all_of, own in zip(mean, one, strict=True)]


def _unit(to: Sequence[float], away_from: Sequence[float]) -> list[float]:
    difference = [a - b for a, b in zip(to, away_from, strict=True)]
    norm = dot(difference, difference) ** 0.5 or 1.0
    return [value / norm for value in difference]

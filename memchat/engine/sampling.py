"""How a reply is drawn, in the words that both engines share."""

from memchat.records import Sampling


def drawing_options(sampling: Sampling) -> dict[str, float | int]:
    """Return the numbers that are given; how the longest reply is named differs between the engines."""
    numbers = {
        "temperature": sampling.temperature,
        "top_p": sampling.top_p,
        "top_k": sampling.top_k,
        "min_p": sampling.min_p,
        "repeat_penalty": sampling.repeat_penalty,
        "seed": sampling.seed,
    }
    return {name: number for name, number in numbers.items() if number is not None}

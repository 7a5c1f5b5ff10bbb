"""What is said but not meant: mock praise and mock joy, as far as their wording gives them away."""

import re
from typing import Final

from memchat.learn.lexicon import phrases, skeleton

# "Great, the trains are off again": praise, and then the same trouble once more.
_PRAISE: Final = (
    r"(?:great|fantastic|brilliant|wonderful|lovely|perfect|marvell?ous|super|toll|fantastisch|klasse|prima|herrlich|"
    r"genial|formidable|estupendo|fantastico|bello|bom|otimo|geweldig|heerlijk|fijn|toppen|fedt|swietnie|cudownie|"
    r"pieknie|отлично|прекрасно|супер|harika|ne guzel|رائع|वाह|最高|素晴らしい|太好了|太棒了|좋네)"
)
_AGAIN: Final = (
    r"(?:\b(?:again|another|once more|yet more|wieder|noch ein\w*|encore|otra vez|otr[oa]|de nuevo|outr[oa]|mais um|"
    r"un'altra|un altro|ancora|di nuovo|weer|nog een|igen|igjen|znowu|kolejn\w*|опять|снова|еще один|yine|bir daha)\b"
    r"|مره اخري|फिर|また|又|또)"
)
_MOCK: Final = re.compile(
    rf"\W*(?:(?:oh|ah|ach|na|wow|yay|och|oj|ой|ну|ay|vaya)[ ,]+)*(?:(?:how|wie|que|che|quel|quelle) )?{_PRAISE}"
    rf"[,!. ，、！]+.{{0,60}}?{_AGAIN}"
)


# "I just LOVE when …": a liking in capitals of what is a nuisance.
_LOUD: Final = re.compile(r"\b(?:LOVE|ADORE|LOVING|ENJOY|THRILLED)\b (?:it )?(?:when|how|that|\w+ing\b|being|having)")
_IMPOSSIBLE_AGE: Final = re.compile(r"\b(?:i'm|i am)\b.*\b(?:1[3-9]\d|[2-9]\d\d|\d{4,}) years old\b")


def is_ironic(sentence: str) -> bool:
    """Tell whether a sentence is mock praise or mock joy."""
    plain = skeleton(sentence)
    marked = _MOCK.match(plain) or _LOUD.search(sentence) or _IMPOSSIBLE_AGE.search(plain)
    return marked is not None or sentence in phrases("speech.irony")

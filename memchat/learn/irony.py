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


def is_ironic(sentence: str) -> bool:
    """Tell whether a sentence is mock praise or mock joy."""
    return sentence in phrases("speech.irony") or _MOCK.match(skeleton(sentence)) is not None

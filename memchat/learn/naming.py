"""Names and numbers given or put right in passing: "Lionel here", "it's Wilf, by the way", "15 guests, not 50"."""

import re
from typing import Final

from memchat.learn.lexicon import skeleton

# "No wait, it's 15 guests, not 50", "sorry, her name's Siân with a circumflex".
_CORRECTS: Final = re.compile(
    r"(?:no|nope|wait|sorry|oops|whoops|scratch (?:that|what i said)|forget what i said|ignore what i said|"
    r"strike that|correction|typo|rather|hang on|hold on|my bad|"
    r"nein|korrektur|tippfehler|perdon|"
    r"correccion|me equivoque|desculpa|correcao|scusa|correzione|errore|pardon|erreur|correctie|nie|poprawka|"
    r"нет|поправка|опечатка|hayir|"
    r"duzeltme|pardon)\b.{0,30}?[ ,.:!–—-]+(?P<rest>.*(?:\bnot\b|\bnicht\b|\bpas\b|\bno\b|\bnon\b|\bnao\b|"
    r"\bniet\b|\bnie\b|(?<!\w)не(?!\w)|\bdegil\b|"
    r"\bwith an?\b).*)"
)


def corrects(quote: str) -> bool:
    """Tell whether a clause puts a number or a name right that was said wrongly just before."""
    found = _CORRECTS.match(skeleton(quote))
    if found is None:
        return False
    rest = quote[found.start("rest") :]
    return re.search(r"\d|(?<=\s)[A-ZÀ-ÞŁŚ][\w'’-]+", f" {rest[1:]}") is not None


def gives_name(text: str) -> bool:
    """Tell whether somebody only says who they are: "Lionel Ostrander here"."""
    if _NAMED_SO.match(text):
        return True
    return (
        re.match(r"(?:this is )?(?:[A-ZÀ-ÞŁŚ][\w'’-]+ ?){1,3}(?: here)?[.!]?$", text) is not None
        and "here" in text.lower()
    )


# "It's Deirdre with two e's", "oh and it's Wilf by the way", "that should be Maren with an e".
_NAMED_SO: Final = re.compile(
    r"(?:(?i:and|oh|so|no|sorry|ps|also|actually)[, ]+)*(?i:it's|its|it is|that's|thats|i'm|im|that should be|"
    r"it should be|the name's|name's)"
    r" (?:(?:Dr|Mr|Mrs|Ms|Prof)\.? )?[A-ZÀ-ÞŁŚ][\w'’-]+,? (?i:with (?:an?|two|no|one|double)\b|spelled|spelt|"
    r"by the way|btw|not [A-ZÀ-ÞŁŚ]|without)"
)

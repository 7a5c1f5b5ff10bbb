"""How a new statement stands to an older one, decided in code as far as code can.

Nothing here trusts that texts are near: "Dentist on the 15th" and "Dentist on the 16th" are near and both true.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from memchat.learn.language import likely_languages
from memchat.learn.lexicon import skeleton
from memchat.learn.statements import Statement, stem, take_apart
from memchat.learn.synonyms import unify
from memchat.text import fold


class Relation(StrEnum):
    """How a new statement stands to an older one."""

    SAME = "same"
    UPDATE = "update"  # a newer value of the same thing
    RETRACTED = "retracted"  # the older one was never true
    REFINES = "refines"  # says more of the same
    DIFFERENT = "different"  # both can be true


@dataclass(frozen=True, slots=True)
class Comparison:
    """A relation, how it was found, and whether code is sure of it."""

    relation: Relation
    why: str
    sure: bool = True


# One value at a time; a job is not among them, since people have two.
_SINGLE: Final = frozenset(("home", "name", "age", "weight", "marital", "birthday", "diet", "answers"))
_STAGES: Final = frozenset(("hours", "job"))  # what follows the one before when a word of change says so
_POSTS: Final = frozenset(("boss", "landlord", "colleague", "flatmate", "assistant", "neighbour", "partner"))
_ONE_OF: Final = frozenset(("mother", "father", "wife", "husband", "partner", "boss", "landlord"))


def compare(new: str, old: str) -> Comparison:
    """Return how `new`, said later, stands to `old`."""
    if fold(new) == fold(old):
        return Comparison(Relation.SAME, "the same words")
    a, b = take_apart(new), take_apart(old)
    if a.language != b.language:
        common = [code for code in likely_languages(new) if code in likely_languages(old)]
        if common:
            a, b = take_apart(new, common[0]), take_apart(old, common[0])
    if a.language != b.language:
        return _across_languages(a, b)
    return (
        _taken_back(a, b)
        or _on_top(a, b)
        or _left_post(a, b)
        or _reached(a, b)
        or _of_others(a, b)
        or _turned(a, b)
        or _counted(a, b)
        or _moved_on(a, b)
        or _worded(a, b)
    )


def _across_languages(a: Statement, b: Statement) -> Comparison:
    """Words of two languages share nothing: what is left are people, numbers, names and things one has one of."""
    if a.people != b.people or _clash(a.times, b.times) or a.past or b.past:
        return Comparison(Relation.DIFFERENT, "it is about somebody or something else")
    if a.slots & b.slots & _SINGLE:
        same = a.names == b.names and a.numbers == b.numbers and a.names | a.numbers
        return Comparison(
            Relation.SAME if same else Relation.UPDATE, "what one has one of, in another language", sure=False
        )
    proof = (a.numbers & b.numbers) | (a.names & b.names) | (a.times & b.times)
    if proof and a.numbers == b.numbers and a.negated == b.negated and (a.people or a.names == b.names):
        return Comparison(Relation.SAME, "the same numbers and names in another language", sure=False)
    return Comparison(Relation.DIFFERENT, "another language", sure=not (a.people or proof))


def _of_others(a: Statement, b: Statement) -> Comparison | None:
    """People and pasts that differ: both statements can be true."""
    if _live_and_work(a, b):
        return Comparison(Relation.DIFFERENT, "one lives, the other works")
    if a.people != b.people and not a.takes_back and not _names_whom(a, b):
        return Comparison(Relation.DIFFERENT, "it is about somebody else")
    if (
        a.called
        and b.called
        and not a.called & b.called
        and not a.takes_back
        and not (a.people & _ONE_OF and a.changes)
    ):
        return Comparison(Relation.DIFFERENT, "other names")
    if _is_of_another(a, b):
        return Comparison(Relation.DIFFERENT, "it is about something else")
    if b.past and not a.past:
        return Comparison(Relation.DIFFERENT, "the older one is about the past")
    if a.past and not b.past:
        over = _share(a.words, b.words) >= 0.5 and a.names >= b.names
        return Comparison(Relation.UPDATE if over else Relation.DIFFERENT, "the newer one is about the past")
    return None


def _on_top(a: Statement, b: Statement) -> Comparison | None:
    """What is said as one more of a kind, of another sister or of another time, replaces nothing."""
    if a.adds and not b.adds and not a.over and a.words != b.words:
        return Comparison(Relation.DIFFERENT, "it comes on top")
    if a.which and b.which and a.which != b.which:
        return Comparison(Relation.DIFFERENT, "it is about another one of several")
    periods = [{time for time in one.times if time.startswith("y:")} for one in (a, b)]
    if max(map(len, periods)) > 1 and periods[0] != periods[1] and all(periods):
        return Comparison(Relation.DIFFERENT, "another time of life")
    return None


def _reached(a: Statement, b: Statement) -> Comparison | None:
    """What was going on has come to its end, well or not: "I passed the exam" after "I'm studying for the exam"."""
    if not a.over or b.over or b.past or a.people != b.people or a.negated != b.negated:
        return None
    shared = (a.words & b.words) - {a.head, b.head}
    of_old = _share(b.words, a.words) >= 0.5 or (bool(shared) and bool(a.names & b.names))
    if shared and of_old and not _clash(a.times, b.times) and (a.numbers == b.numbers or not a.numbers):
        return Comparison(Relation.UPDATE, "it came to an end")
    return None


def _left_post(a: Statement, b: Statement) -> Comparison | None:
    """Somebody is no longer what they were to the user: "my boss is Olga", "Olga retired"."""
    gone = a.over and a.named and a.head is not None and any(name.startswith(a.head) for name in b.called)
    if gone and b.people and b.people <= _POSTS and not a.people - b.people:
        return Comparison(Relation.UPDATE, "somebody left")
    return None


def _is_of_another(a: Statement, b: Statement) -> bool:
    """Tell whether the subjects differ: "Efua lives in …" and "I live in …", "the wedding …" and "the contract …"."""
    if a.takes_back or a.head == b.head or (a.changes and _one_of(a.slots & b.slots)):
        return False
    unknown = a.head is not None and not _among(a.head, b.words | b.names)
    unheard = b.head is not None and not _among(b.head, a.words | a.names)
    return (unknown and unheard) or (unknown and a.named) or (unheard and b.named)


def _one_of(slots: frozenset[str]) -> bool:
    """Tell whether there is something among the slots of which one has one."""
    return any(slot in _SINGLE or slot.startswith("favourite:") for slot in slots)


def _among(head: str, words: frozenset[str]) -> bool:
    return any(head == word or (len(head) > 3 and (word.startswith(head) or head.startswith(word))) for word in words)


def _names_whom(a: Statement, b: Statement) -> bool:
    """Tell whether one statement only adds who somebody is: "Philippa is a vet", "my wife Philippa is a vet"."""
    if not a.people and a.named and a.head is not None and any(name.startswith(a.head) for name in b.called):
        return True
    return bool(a.names & b.names) and (a.people < b.people or b.people < a.people) and _share(a.words, b.words) >= 0.5


def _taken_back(a: Statement, b: Statement) -> Comparison | None:
    if a.negated and b.called and b.called <= a.names - a.called and a.people == b.people:
        return Comparison(Relation.RETRACTED, "it takes a name back")
    alike = a.words & b.words or a.names & b.names or a.numbers & b.numbers or a.slots & b.slots & _SINGLE
    if a.takes_back and alike:
        return Comparison(Relation.RETRACTED, "it takes the older one back")
    return None


def _turned(a: Statement, b: Statement) -> Comparison | None:
    """The same thing denied, or no longer denied."""
    if a.negated == b.negated:
        return None
    if not (b.words or b.names) or not a.names >= b.names:
        return None
    whole = b.words <= a.words or (a.words <= b.words and _share(b.words, a.words) >= 0.5)
    if a.likes != b.likes:
        whole = a.words == b.words  # "I can't stand olives" says nothing of "I'm allergic to olives"
    if whole and a.numbers >= b.numbers:
        return Comparison(Relation.UPDATE, "yes and no of the same thing")
    if a.slots & b.slots & _SINGLE and a.words & b.words:
        return Comparison(Relation.UPDATE, "yes and no of the same thing")
    return None


def _figures(statement: Statement) -> list[tuple[str, str]]:
    """Return each number with the stem of the word after it, sorted: 2 cats and 3 dogs are not 3 cats and 2 dogs."""
    plain = unify(fold(statement.text), statement.language)
    found = re.findall(r"(\d+(?:[.,]\d+)*)\W*([^\W\d_]*)", plain)
    return sorted((number, stem(skeleton(word), statement.language)) for number, word in found)


def _counted(a: Statement, b: Statement) -> Comparison | None:
    """The same words with other numbers, dates or names, or the same numbers in other words."""
    alike = _share(a.words, b.words) >= 0.8 and _share(b.words, a.words) >= 0.8 and bool(a.words)
    swapped = len(a.numbers) > 1 and _swapped(_figures(a), _figures(b))
    if alike and a.negated == b.negated:
        if _clash(a.times, b.times):
            moved = a.changes and (not _repeats(a) or a.moves)
            return Comparison(Relation.UPDATE if moved else Relation.DIFFERENT, "another date")
        if a.over and not b.over:
            return Comparison(Relation.UPDATE, "it came to an end")
        if a.numbers != b.numbers and a.names == b.names:
            return _renumbered(a, b)
        if swapped:
            return Comparison(Relation.UPDATE, "the same numbers of other things")
        if a.names == b.names and a.likes == b.likes:
            return Comparison(Relation.SAME, "the same in other words")
    numbers = a.numbers | a.times
    shared = numbers & (b.numbers | b.times)
    shares = sorted((_share(a.words, b.words), _share(b.words, a.words)))
    alone = a.words - b.words and b.words - a.words  # each has a word of its own: chess on Mondays, tennis on Mondays
    near = shares[0] >= 0.3 and shares[1] >= (0.67 if alone and not _telling(shared) else 0.5)
    told = shared and numbers == b.numbers | b.times and not swapped
    if told and near and a.names == b.names and a.negated == b.negated:
        return Comparison(Relation.SAME, "the same numbers", sure=shares[0] >= 0.5)
    if not a.words and not b.words and len(a.numbers) == len(b.numbers) == 1 and a.numbers != b.numbers:
        return Comparison(Relation.UPDATE, "another age")  # "I'm 41." and "I'm 42."
    return None


_LIVES: Final = re.compile(
    r"\b(?:lives?|living (?:in|at|on|near|with|alone)|wohn|leb(?:e|t|en)|viv|habit|abit|moro|mora|woon|bor|mieszka|жив)"
)
_WORKS: Final = re.compile(r"\b(?:work|arbeit|trabaj|trabalh|travail|lavor|werk|jobb|pracuj|работа)")


def _live_and_work(a: Statement, b: Statement) -> bool:
    """Tell whether one says where or with whom one lives and the other where or with whom one works."""
    if a.slots & b.slots:
        return False
    here, there = skeleton(a.text), skeleton(b.text)
    return bool(
        (_LIVES.search(here) and _WORKS.search(there) and not _WORKS.search(here))
        or (_WORKS.search(here) and _LIVES.search(there) and not _WORKS.search(there))
    )


def _telling(numbers: frozenset[str]) -> bool:
    """Tell whether numbers or times are so exact that two facts hardly share them: 3200, a day with its hour."""
    exact = sum(1 for number in numbers if number.startswith(("d:", "t:")) or (number.isdigit() and len(number) > 2))
    return exact > 1 or any(number.isdigit() and len(number) > 2 for number in numbers)


def _swapped(here: Sequence[tuple[str, str]], there: Sequence[tuple[str, str]]) -> bool:
    """Tell whether the same numbers are said of other things, or another of them is said twice."""
    if sorted(number for number, _ in here) != sorted(number for number, _ in there):
        return len(here) == len(there)
    return sorted(word for _, word in here) == sorted(word for _, word in there) and list(here) != list(there)


def _renumbered(a: Statement, b: Statement) -> Comparison:
    if a.numbers > b.numbers:
        return Comparison(Relation.REFINES, "a number is added")
    if b.numbers > a.numbers:
        return Comparison(Relation.SAME, "said with less detail")
    return Comparison(Relation.UPDATE, "another number of the same thing")


def _repeats(a: Statement) -> bool:
    return any(time.startswith("w:") for time in a.times) and not any(time.startswith("d:") for time in a.times)


def _clash(times: frozenset[str], others: frozenset[str]) -> bool:
    """Tell whether two sets of times name different days, hours, months or years."""
    for mark in ("d:", "t:", "w:", "m:", "y:"):
        here = {time for time in times if time.startswith(mark)}
        there = {time for time in others if time.startswith(mark)}
        if here and there and here != there:
            return True
    return False


def _moved_on(a: Statement, b: Statement) -> Comparison | None:
    """A word of change about the same thing, or another value of what one has one of."""
    if a.negated and b.negated and not a.changes:
        return None
    slots = a.slots & b.slots
    if a.changes and (slots & (_SINGLE | _STAGES) or _shares_topic(a, b)):
        return Comparison(Relation.UPDATE, "a change of the same thing")
    schooled = "school" in slots and a.people == b.people and bool(a.people) and not a.words <= b.words
    if schooled or _one_of(slots):
        same = (_share(a.words, b.words) == 1 or _one_value(a, b)) and a.names == b.names
        return Comparison(Relation.SAME if same else Relation.UPDATE, "another value of what one has one of")
    return None


def _one_value(a: Statement, b: Statement) -> bool:
    """Tell whether both give the same day or number to the same thing."""
    values = a.numbers | a.times
    return bool(values) and values == b.numbers | b.times


def _shares_topic(a: Statement, b: Statement) -> bool:
    """Tell whether a third of the words of one are in the other, or a name that is not just the subject of both."""
    shared = {
        name for name in a.names & b.names - a.called - b.called if not _is_head(name, a) and not _is_head(name, b)
    }
    if shared:
        return True
    told, known = (
        frozenset(word for word in one.words if not (one.named and _is_head(word, one)) and not _calls(word, one))
        for one in (a, b)
    )
    return max(_share(told, known), _share(known, told)) >= 0.33


def _calls(word: str, statement: Statement) -> bool:
    return any(name.startswith(word) for name in statement.called)


def _is_head(name: str, statement: Statement) -> bool:
    return statement.head is not None and name.startswith(statement.head)


def _worded(a: Statement, b: Statement) -> Comparison:
    """What is left: one says more than the other, or they only share some words."""
    if a.negated == b.negated and a.likes == b.likes and a.words and b.words:
        more = (len(b.words) > 1 or b.names) and b.words <= a.words and _keeps(a, b)
        if more:
            return Comparison(Relation.REFINES, "says more of the same")
        less = _share(b.words, a.words) >= 0.6 and a.words <= b.words and _keeps(b, a)
        if less:
            return Comparison(Relation.SAME, "said with less detail")
    if b.words <= a.words and len(b.words) >= 2 and a.negated == b.negated and _keeps(a, b):
        return Comparison(Relation.REFINES, "says more of the same", sure=False)
    near = min(_share(a.words, b.words), _share(b.words, a.words))
    if near >= 0.6 and a.slots & b.slots and a.names == b.names and a.numbers == b.numbers and a.negated == b.negated:
        return Comparison(Relation.SAME, "the same in other words", sure=False)
    return Comparison(Relation.DIFFERENT, "other words", sure=near < 0.4)


def _keeps(more: Statement, less: Statement) -> bool:
    """Tell whether every name, number and time of one statement is in the other."""
    return less.names <= more.names and less.numbers <= more.numbers and less.times <= more.times


def _share(words: frozenset[str], others: frozenset[str]) -> float:
    """Return the share of `words` that are among `others`."""
    return len(words & others) / len(words) if words else 0.0

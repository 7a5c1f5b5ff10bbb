"""What a message asks for: its search words, its language, whether it needs the message before, or asks of the past.

Only closed classes of words stand here (articles, pronouns, prepositions, question words), for the languages that
people are likely to write in; a language without a list is searched with all its words.
"""

import re
from collections.abc import Sequence
from datetime import datetime
from typing import Final

from memchat.recall.when import MONTHS, names_of_times
from memchat.text import words

_STOP_WORDS: Final = {
    "en": """a about after again all also am an and any are aren't as at be because been before being between both but
        by can can't could couldn't did didn't do does doesn't doing don't down during each else ever every few for
        from further get give go going got had has have having he he's her here hers herself him himself his how i
        i'd i'll i'm i've if in into is isn't it it's its itself just know let let's like make many me more most much
        must my myself need no nor not now of off often on once only or other our ours out over own please same shall
        she should so some such take tell than that that's the their theirs them then there there's these they they're
        this those through to too under until up upon us very want was wasn't we we're we've were what what's when
        where where's which while who who's whom whose why will with won't would yes yet you you're your yours
        yourself""",
    "es": """a al algo algún alguna algunas alguno algunos ante antes aquí así aún aunque cada como cómo con conmigo
        contigo cual cuál cuáles cuando cuándo cuánta cuántas cuánto cuántos de del desde donde dónde dos e el él ella
        ellas ellos en entre era eran eres es esa esas ese eso esos esta está están estar estas este esto estos estoy
        fue fueron ha haber había han has hasta hay he la las le les lo los más me mi mí mío mis mucho muy nada ni no
        nos nosotros nuestra nuestro o os otra otro para pero poco por porque que qué quién quiénes se según ser si sí
        sin sobre son soy su sus también tan te ti tiene tienen todo tu tú tus un una unas uno unos usted y ya yo""",
    "de": """aber als also am an auch auf aus bei beim bin bis bist da dann das dass dein deine dem den denn der des
        dich die dies diese dieser dieses dir doch du durch ein eine einem einen einer eines er es euch euer für gibt
        hab habe haben hat hatte ich ihm ihn ihnen ihr ihre im in ins ist ja jede jeder jetzt kann kein keine können
        man mehr mein meine meinem meinen meiner mich mir mit muss nach nicht noch nun nur ob oder ohne schon sehr sein
        seine sich sie sind so soll sollte über um und uns unser unsere unter vom von vor wann war warum was weil
        welche welcher welches wem wen wenn wer werden wie wieder will wir wird wo wollen würde zu zum zur""",
    "fr": """à ai aie alors as au aucun aussi autre aux avec avez avoir avons bien c'est ce ceci cela ces cet cette
        chez comme comment d'un d'une dans de des donc dont du elle elles en encore es est et étais été être eu eux
        fait faut il ils j'ai je l'on la là le les leur leurs lui ma mais me même mes moi mon n'est ne nos notre nous
        on ont ou où par pas peut peux plus pour pourquoi qu'est qu'il quand que quel quelle quelles quels qui quoi sa
        sans se ses si son sont suis sur ta te tes toi ton tous tout très tu un une vos votre vous y""",
    "it": """a ad al alla alle anche ancora avere aveva c'è che chi ci come con cosa cui da dal dalla de degli dei del
        della delle di dove e ed è era essere fa gli ha hai hanno ho i il in io la le lei li lo loro ma me mi mia mie
        miei mio nel nella no noi non nostra nostro o per perché più posso può quale quali quando quanti quanto quella
        quello questa questo sei se si sono su sua sue sul suo suoi ti tra tu tua tuo tutto un un'altra una uno voi""",
    "pt": """ao aos aquela aquele aqui as às até com como da das de dela dele do dos e é ela ele eles em entre era essa
        esse esta está estas este estou eu foi há isso isto já lhe mais mas me mesmo meu meus minha minhas muito na não
        nas nem no nos nós nossa nosso o onde os ou para pela pelo pode por porque posso qual quais quando quanto
        quantos que quem se sem ser seu seus só sou sua suas também te tem tenho teu tua tudo um uma você vocês""",
    "nl": """aan al alles als altijd ben bij daar dan dat de der deze die dit doch doen door dus een en er ge geen had
        heb hebben heeft hem het hier hij hoe hun iemand ik in is ja je jij kan kunnen maar me mee meer mij mijn moet
        na naar niet niets nog nu of om omdat onder ons ook op over te tegen toch toen tot u uit uw van veel voor waar
        waarom wanneer want waren was wat we welke wie wij wil worden wordt zal ze zelf zich zij zijn zo zonder zou""",
}
STOP_WORDS: Final = {language: frozenset(listed.split()) for language, listed in _STOP_WORDS.items()}
_ALL_STOP_WORDS: Final = frozenset[str]().union(*STOP_WORDS.values())

_MONTH_NAMES: Final = frozenset(name for names in MONTHS for name in names)

_SELF_WORDS: Final = """i i'd i'll i'm i've me my mine myself we we'd we'll we're we've us our ours ourselves
    yo me mi mí mis mío mía míos mías conmigo nos nosotros nosotras nuestro nuestra nuestros nuestras
    soy estoy tengo puedo debo quiero voy hago he podemos tenemos vamos
    ich mir mich mein meine meinem meinen meiner meines wir uns unser unsere unserem unseren unserer
    je j'ai moi mon ma mes nous notre nos io mi mia mie mio miei noi nostra nostro posso devo ho
    eu meu meus minha minhas nós nossa nosso tenho ik mij mijn ons onze wij
    я мне меня мой моя мои мы нам нас наш 我 我们 私 僕"""
_SELF: Final = frozenset(_SELF_WORDS.split())
_POLITE: Final = re.compile(
    r"\b(?:tell|give|show|teach|write|let|help|remind|find|make|explain to|remember) (?:me|us)\b|\bexcuse me\b"
)
_OPENERS: Final = {
    "en": "and|but|or|so|then|also|what about|how about|same for",
    "es": "y|pero|o|entonces|qué tal",
    "de": "und|aber|oder|dann|wie wäre",
    "fr": "et|mais|ou|alors",
    "it": "e|ma|allora",
    "pt": "e|mas|então",
    "nl": "en|maar|of|dan",
}
_POINTERS: Final = {
    "en": """he he's she she's it it's they they're him her them his hers its their theirs there that that's those
        these this one then""",
    "es": "él ella ellos ellas eso esto esa ese ahí allí le les lo suyo",
    "de": "er sie es ihm ihn ihnen dort da das dieser diese dieses damit dafür",
    "fr": "lui elle ils elles ça cela là y celui celle",
    "it": "lui lei loro quello quella questo lì ci",
    "pt": "ele ela eles elas isso isto lá aquele aquela",
    "nl": "hij zij hem haar hen dat dit die daar er",
}
_PAST: Final = {
    "en": r"used to|did i use to|previous(?:ly)?|former(?:ly)?|before (?:that|then|we|i) (?:moved|changed|switched)"
    r"|(?:live|work|drive|pay|own|use)d? .{0,30}before|in the past|back then|at that time|no longer|not any ?more"
    r"|my (?:old|last|ex) ",
    "es": r"antes(?! de)|antiguamente|anterior(?:mente)?|antigu[oa]|en aquel entonces|solía",
    "de": r"früher|damals|vorher|ehemalig\w*|bisherig\w*",
    "fr": r"autrefois|avant(?! de)|ancien(?:ne)?|auparavant",
    "it": r"precedente|un tempo|prima(?! di)|in passato",
    "pt": r"antigamente|antes(?! de)|anterior",
    "nl": r"vroeger|destijds|voorheen|vorige",
}
_SHORT: Final = 2
_FEW_WORDS: Final = 5  # "What was our limit?" leans on what was said before,
_OWN_TERMS: Final = 2  # "Where does Ana live?" does not: with so many words to look up it stands by itself
_SOME_WORDS: Final = 9  # in longer messages "it" mostly stands for something in the message itself


def search_terms(text: str) -> tuple[str, ...]:
    """Return the words of `text` worth looking up, in order, without stop words and doubles."""
    return worth_searching(words(text))


def worth_searching(found: Sequence[str]) -> tuple[str, ...]:
    """Return those of the words of a text that are worth looking up."""
    kept = [word.removesuffix("'s") for word in found if word not in _ALL_STOP_WORDS]
    return tuple(
        dict.fromkeys(word for word in kept if word not in _ALL_STOP_WORDS and (len(word) > 1 or word.isdigit()))
    )


def search_groups(text: str, now: datetime) -> tuple[tuple[str, ...], ...]:
    """Return what to look up: for each word or time of `text` the words that may stand for it in a memory."""
    terms = [term for term in search_terms(text) if term not in _MONTH_NAMES]
    if len(terms) == 1 and len(terms[0]) <= _SHORT and terms[0].isascii():
        terms = []  # "hi" alone is no question, and to a stemmer it is "his"
    return (*((term,) for term in terms), *names_of_times(text, now))


def guess_language(text: str) -> str:
    """Return the language whose stop words `text` holds most of, "en" in doubt, "other" for other scripts."""
    found = words(text)
    counts = {language: sum(word in listed for word in found) for language, listed in STOP_WORDS.items()}
    best = max(counts, key=lambda language: (counts[language], language == "en"))
    if counts[best]:
        return best
    latin = sum(character.isascii() for character in "".join(found))
    return "en" if latin * 2 >= sum(map(len, found)) else "other"


def speaks_of_self(text: str) -> bool:
    """Tell whether `text` speaks of the person asking or of their people, beyond "tell me"."""
    spoken = _POLITE.sub("", text.casefold())
    return any(word in _SELF for word in words(spoken)) or any(sign in spoken for sign in ("我", "私", "僕"))


def needs_context(text: str) -> bool:
    """Tell whether `text` may lean on the message before it: "and there?", "what about her?", "is it ripe?"."""
    found, language = words(text), guess_language(text)
    asks = text.rstrip().endswith(("?", "？"))
    if asks and len(found) <= _FEW_WORDS and len(worth_searching(found)) < _OWN_TERMS:
        return True
    if re.match(rf"(?:{_OPENERS.get(language, '$')})\b", " ".join(found)):
        return True
    pointers = _POINTERS.get(language, "").split()
    return len(found) <= _SOME_WORDS and any(word in pointers for word in found)


def search_texts(text: str, previous: str | None) -> tuple[str, ...]:
    """Return what to search for: `text`, and where it may lean on the message before it, both together as well."""
    if not previous or not previous.strip() or not needs_context(text):
        return (text,)
    return (text, f"{previous.strip()} {text}")


def asks_about_past(text: str) -> bool:
    """Tell whether `text` asks how things used to be, so that memories no longer true may answer."""
    pattern = _PAST.get(guess_language(text))
    return pattern is not None and re.search(rf"\b(?:{pattern})(?!\w)", " ".join(words(text))) is not None

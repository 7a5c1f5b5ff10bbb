"""A long, mixed conversation with a model that answers at its worst: no junk, no repeats, every fact once."""

import random
from datetime import timedelta
from threading import Event

from memchat.learn import LearnOptions, learn_turn
from memchat.store import Store
from tests.learn_stage import NOW, WorstChat, next_queued, queue

NAMES = ["Oda", "Per", "Tilde", "Jonas", "Mirko", "Siobhra", "Anselmo", "Wiebke", "Ilir", "Besa", "Rasmus", "Ottilie"]
TOWNS = ["Tartu", "Ghent", "Varde", "Cork", "Graz", "Soria", "Quimper", "Recife", "Kiruna", "Bergen", "Pavia", "Turku"]
FOODS = ["olives", "coriander", "mushrooms", "oysters", "celery", "liver", "kale", "radishes", "tripe", "okra"]
FACTS = [
    *(f"I used to work in {town} as a tram driver." for town in TOWNS),
    *(f"My cousin {name} collects old maps." for name in NAMES),
    *(f"I can't stand {food}." for food in FOODS),
    *(f"I play chess with {name} every Sunday." for name in NAMES),
    *(f"I'm allergic to {food}." for food in FOODS[:5]),
]
CHATTER = [
    "hi",
    "ok thanks, that did it",
    "What is 17 * 23 + 4?",
    "Should I learn Rust or Go?",
    "I'm so tired today.",
    "Write a poem about a man from Perth who hates his job.",
    "Translate: 'Ich habe vier Brüder.'",
    "Suggest a hobby for me.",
    "I need a recipe for four people.",
    "my card is 4000 1234 5678 9017",
    "My neighbour was diagnosed with epilepsy.",
    "If I lived in Iceland, what would I pay?",
    "lol",
    "why does this fail?\n```\nCITY = 'Perth'\n```",
    "I don't understand the second step.",
    "meh, what else?",
]
REPLIES = ["You could try falconry in Madeira.", "I love hiking and I live in Oslo.", "Noted: you hate dogs.", "Sure."]


def test_a_thousand_turns_with_the_worst_model(tmp_path) -> None:
    die = random.Random(3)
    model = WorstChat(3)
    said = [*FACTS, *die.choices(FACTS, k=150), *die.choices(CHATTER, k=1000 - len(FACTS) - 150)]
    die.shuffle(said)
    with Store.open(tmp_path / "memory.db") as store:
        session = None
        for number, text in enumerate(said):
            at = NOW + timedelta(minutes=number)
            if number % 40 == 0:
                session = store.add_session(at).id
            model.reply_before = die.choice(REPLIES)
            queue(store, text, model.reply_before, session=session, at=at)
            learn_turn(store, model, None, next_queued(store), LearnOptions(), at, Event())
        kept = [memory.text for memory in store.list_memories()]
        history = store.list_memories(state=None)
    assert sorted(kept) == sorted(FACTS)
    assert len(history) == len(FACTS)

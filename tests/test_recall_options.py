"""The options of recall and the table of settings say the same."""

from dataclasses import fields

import pytest

from memchat.recall import RecallOptions
from memchat.settings import SETTINGS, Settings


def test_the_defaults_are_those_of_the_table():
    assert RecallOptions.of(Settings()) == RecallOptions()


def test_every_setting_of_recall_is_an_option():
    keys = {setting.key.removeprefix("recall.") for setting in SETTINGS if setting.key.startswith("recall.")}
    assert {field.name for field in fields(RecallOptions)} == keys


@pytest.mark.parametrize(
    ("key", "value"),
    [("recall.limit", 8), ("recall.floor", 0.4), ("recall.half_life_days", 30), ("recall.personal_weight", 0.0)],
)
def test_what_is_set_is_in_force(key, value):
    options = RecallOptions.of(Settings().with_values({key: value}, "test"))
    assert getattr(options, key.removeprefix("recall.")) == value

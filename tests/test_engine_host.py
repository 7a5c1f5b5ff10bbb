"""OLLAMA_HOST in every form that its server takes, and the hosts that are refused."""

import pytest

from memchat.engine.host import Host, check_host, host_of, is_loopback, parse_host
from memchat.errors import PrivacyRefusal, UsageError

READ = [
    (None, "http://127.0.0.1:11434"),
    ("", "http://127.0.0.1:11434"),
    ("  ", "http://127.0.0.1:11434"),
    ("''", "http://127.0.0.1:11434"),
    ("0.0.0.0", "http://127.0.0.1:11434"),
    ("0.0.0.0:8080", "http://127.0.0.1:8080"),
    ("[::]:11434", "http://[::1]:11434"),
    ("::", "http://[::1]:11434"),
    ("[::ffff:0.0.0.0]", "http://127.0.0.1:11434"),
    ("::1", "http://[::1]:11434"),
    ("[::1]", "http://[::1]:11434"),
    ("[::1]:99", "http://[::1]:99"),
    ("http://[::1]", "http://[::1]:80"),
    ("[::ffff:127.0.0.1]:99", "http://127.0.0.1:99"),
    ("localhost", "http://localhost:11434"),
    ("LocalHost:11434/", "http://localhost:11434"),
    (" http://localhost:11434 ", "http://localhost:11434"),
    ('"http://localhost:11434"', "http://localhost:11434"),
    (" '127.0.0.1:99' ", "http://127.0.0.1:99"),
    (":56", "http://127.0.0.1:56"),
    ("h:", "http://h:11434"),
    ("http://", "http://127.0.0.1:80"),
    ("http://h", "http://h:80"),
    ("https://h", "https://h:443"),
    ("HTTPS://H", "https://h:443"),
    ("https://h:8443/ollama/", "https://h:8443/ollama"),
    ("h/a/b/", "http://h:11434/a/b"),
    ("http://localhost:11434/?x=1#y", "http://localhost:11434"),
    ("ollama.com", "https://ollama.com:443"),
    ("my-box.lan:11434", "http://my-box.lan:11434"),
]


@pytest.mark.parametrize(("value", "url"), READ, ids=[repr(value) for value, _ in READ])
def test_a_host_is_read_as_ollamas_own_server_reads_it(value, url):
    assert parse_host(value).url == url


@pytest.mark.parametrize(("value", "url"), READ, ids=[repr(value) for value, _ in READ])
def test_a_base_url_read_again_stays_the_same(value, url):
    assert parse_host(url).url == url


@pytest.mark.parametrize(
    "value",
    [
        "host:abc",
        "h:99999",
        "h:0",
        "h:-1",
        "h:1_0",
        "h:٣",
        "http:/localhost:11434",
        "ftp://h",
        "unix:///run/ollama.sock",
        "a b",
        "h\nx",
        "[::1",
        "[::1]x",
        "::1::2",
        "fe80::1%eth0",
        "http://user:secret@h",
        "h/a b",
        "-h",
        "h" * 10_000 + "!",
    ],
)
def test_a_host_that_makes_no_sense_is_refused_in_one_line_naming_the_variable(value):
    with pytest.raises(UsageError) as caught:
        parse_host(value, "OLLAMA_HOST")
    sentence = caught.value.sentence
    assert sentence.startswith("OLLAMA_HOST is ")
    assert "\n" not in sentence
    assert "secret" not in sentence
    assert len(sentence) < 250


@pytest.mark.parametrize(
    ("name", "local"),
    [
        ("127.0.0.1", True),
        ("127.255.0.3", True),
        ("::1", True),
        ("0:0:0:0:0:0:0:1", True),
        ("::ffff:127.0.0.1", True),
        ("localhost", True),
        ("LOCALHOST.", True),
        ("0.0.0.0", False),
        ("127.1", False),
        ("128.0.0.1", False),
        ("192.168.0.2", False),
        ("::2", False),
        ("localhost.evil.example", False),
        ("evil-localhost", False),
        ("127.0.0.1.evil.example", False),
        ("", False),
    ],
)
def test_only_loopback_addresses_and_localhost_are_this_machine(name, local):
    assert is_loopback(name) is local


def test_a_host_elsewhere_is_refused_with_the_way_to_allow_it():
    with pytest.raises(PrivacyRefusal) as caught:
        check_host(parse_host("box.lan:11434", "--host"))
    assert caught.value.exit_status == 5
    assert caught.value.sentence.startswith("--host names box.lan, which is not this machine")
    assert "allow_remote" in caught.value.sentence


@pytest.mark.parametrize(
    "entry", ["box.lan", "BOX.LAN", "box.lan:11434", "http://box.lan:11434", "http://box.lan:11434/"]
)
def test_a_host_elsewhere_is_allowed_by_its_name_or_its_url(entry):
    check_host(parse_host("box.lan"), ["other", entry])


@pytest.mark.parametrize("entry", ["box", "lan", "box.lan:80", "https://box.lan", "*", ""])
def test_a_host_elsewhere_is_not_allowed_by_something_near(entry):
    with pytest.raises(PrivacyRefusal):
        check_host(parse_host("box.lan"), [entry])


@pytest.mark.parametrize("value", ["ollama.com", "https://ollama.com", "https://api.ollama.com:443", "ollama.com./x"])
def test_the_cloud_is_refused_even_when_it_is_allowed(value):
    host = parse_host(value)
    with pytest.raises(PrivacyRefusal, match="cloud"):
        check_host(host, [host.name, host.url])


@pytest.mark.parametrize(
    ("url", "name"),
    [("https://ollama.com:443", "ollama.com"), ("box:1", "box"), ("http://[::1", ""), ("", ""), ("[::1]:3", "::1")],
)
def test_the_host_of_what_a_server_tells_is_found(url, name):
    assert host_of(url) == name


def test_an_ipv6_host_is_written_in_brackets_and_compared_without():
    host = Host(name="fd00::1", port=11434)
    assert host.url == "http://[fd00::1]:11434"
    check_host(host, ["fd00::1"])
    check_host(host, ["[fd00::1]:11434"])

"""Secrets become masks, the same one the same mask, and quotes still stand where they stood."""

from __future__ import annotations

import pytest

from TokenOptEnv.errors import UnknownName
from TokenOptEnv.importing.secrets import KIND_NAMES, Masker


def masked(text: str, *keep: str) -> str:
    return Masker(keep).mask(text).text


_HEX = "0123456789abcdef"

SECRETS = {
    "ip": ["from 203.0.113.9 port", "peer [2001:db8::8a2e:370:7334]:443", "2001:0db8:85a3:0000:0000:8a2e:0370:7334"],
    "email": ["user jo.doe+x@mail.example.org logged in"],
    "key": ["id AKIA" + "ABCDEFGH12345678", "key=AIza" + "b" * 35, "sk_live_" + _HEX, "sk-proj-" + _HEX + _HEX],
    "token": ["ghp_" + _HEX + _HEX, "xoxb-" + _HEX, "Authorization: Bearer " + _HEX, "hf_" + _HEX + _HEX],
    "jwt": ["eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTYifQ.c2lnbmF0dXJl"],
    "password": ["password=hunter22", 'db_password: "s3cret!x"', "AWS_SECRET_ACCESS_KEY=abcd/efgh", "api_key=12ab34cd"],
    "credentials": ["postgres://admin:pa55word@db/orders"],
    "private-key": ["-----BEGIN RSA PRIVATE KEY-----\nMIIabc\nxyz\n-----END RSA PRIVATE KEY-----"],
}


@pytest.mark.parametrize(("kind", "text"), [(kind, text) for kind, texts in SECRETS.items() for text in texts])
def test_a_secret_of_each_kind_is_masked(kind: str, text: str) -> None:
    masker = Masker()
    assert f"<{kind}-1>" in masker.mask(text).text
    assert masker.counts == {kind: 1}


def test_the_table_of_kinds_is_covered_by_these_tests() -> None:
    assert set(SECRETS) == set(KIND_NAMES)


@pytest.mark.parametrize(
    "text",
    [
        "2026-03-12 09:14:02.117 request took 30012 ms",
        "at 10:31:33 and 10:31:34::end",
        "listening on 127.0.0.1:8080 and 0.0.0.0:80",
        "version 4.2.0 of build 1.2.3.4.5",
        "std::vector::push_back in a::b::c",
        "span 7f3a9c1e0b2d4f68 of trace 0af7651916cd43dd8448eb211c80319c",
        "secretary of state, token bucket, key 12",
        "user @mention and a@b",
    ],
)
def test_what_is_no_secret_is_left_as_it_is(text: str) -> None:
    assert masked(text) == text


def test_the_same_secret_gets_the_same_mask_and_another_another() -> None:
    masker = Masker()
    first = masker.mask("10.0.0.1 asks 10.0.0.2, 10.0.0.2 answers 10.0.0.1").text
    assert first == "<ip-1> asks <ip-2>, <ip-2> answers <ip-1>"
    assert masker.mask("later 10.0.0.2, then 10.9.9.9").text == "later <ip-2>, then <ip-3>"
    assert masker.counts == {"ip": 6}


def test_a_kind_can_be_kept_and_an_unknown_one_is_told() -> None:
    assert masked("10.0.0.1 a@b.org", "ip") == "10.0.0.1 <email-1>"
    with pytest.raises(UnknownName, match="did you mean 'email'"):
        Masker(("emial",))


def test_a_quote_is_followed_into_the_masked_text_and_never_cuts_a_mask() -> None:
    raw = "a 10.0.0.1 b 10.0.0.22 c 10.0.0.1 d"
    masked_text = Masker().mask(raw)

    def quote(text: str) -> str:
        at = raw.index(text)
        return masked_text.quote(at, at + len(text))

    assert quote("b 10.0.0.22 c") == "b <ip-2> c"
    assert quote("10.0.0.22") == "<ip-2>"
    assert quote("0.22 c") == "<ip-2> c"
    assert quote("b 10.0.") == "b <ip-2>"
    assert quote(" c ") == " c "
    assert quote("d") == "d"
    assert masked_text.quote(0, len(raw)) == masked_text.text

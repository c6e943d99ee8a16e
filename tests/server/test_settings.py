"""Settings come from the environment, and a wrong one is one clear line."""

from __future__ import annotations

import os
from dataclasses import replace

import pytest
import uvicorn

from TokenOptEnv.cli.serve import serve
from TokenOptEnv.errors import BadInput
from TokenOptEnv.server import launch
from TokenOptEnv.server.settings import Settings


def test_without_any_variable_it_listens_on_loopback_for_256_sessions() -> None:
    settings = Settings.from_environment({})
    assert settings == Settings()
    assert (settings.host, settings.capacity, settings.web) == ("127.0.0.1", 256, False)


def test_a_worker_comes_to_the_same_settings() -> None:
    settings = Settings("0.0.0.0", 9000, 4, 12, 2_048, 7, True, True, "a-token-of-sixteen", ("https://a.org", "*"), 50)
    assert Settings.from_environment(settings.to_environment()) == settings


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("CAMRE_CAPACITY", "many"),
        ("CAMRE_CAPACITY", "0"),
        ("CAMRE_CAPACITY", "-3"),
        ("CAMRE_CAPACITY", "٣"),
        ("CAMRE_CAPACITY", "9" * 5_000),
        ("CAMRE_PORT", "65536"),
        ("CAMRE_MAX_MESSAGE_BYTES", "12"),
        ("CAMRE_PING_SECONDS", "0"),
        ("ENABLE_WEB_INTERFACE", "perhaps"),
        ("CAMRE_TOKEN", "short"),
        ("CAMRE_TOKEN", "with a space in it"),
        ("CAMRE_TOKEN", "sixteen-letters-é"),
        ("CAMRE_TOKEN", "x" * 513),
        ("CAMRE_ORIGINS", "example.org"),
        ("CAMRE_ORIGINS", "https://example.org/path"),
        ("CAMRE_ORIGINS", "https://example.org file:///etc"),
        ("CAMRE_MESSAGES_PER_SECOND", "-1"),
    ],
)
def test_a_value_that_cannot_be_used_is_named_with_its_variable(name: str, value: str) -> None:
    with pytest.raises(BadInput, match=name) as caught:
        Settings.from_environment({name: value})
    assert len(str(caught.value)) < 200


def test_a_token_is_told_to_nobody() -> None:
    token = "a-token-of-sixteen"
    assert token not in repr(Settings(token=token))
    with pytest.raises(BadInput) as caught:
        Settings.from_environment({"CAMRE_TOKEN": f"{token}\n"})
    assert token not in str(caught.value)


def test_the_serve_command_takes_the_token_from_the_variable_that_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(uvicorn, "run", lambda application, **options: None)
    for name, value in Settings().to_environment().items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("MY_SECRET", "a-token-of-sixteen")
    serve(token_env="MY_SECRET")
    assert Settings.from_environment(os.environ).token == "a-token-of-sixteen"
    with pytest.raises(BadInput, match="NO_SUCH_SECRET holds no token"):
        serve(token_env="NO_SUCH_SECRET")


@pytest.mark.parametrize(
    ("host", "token", "warned"),
    [
        ("127.0.0.1", None, False),
        ("::1", None, False),
        ("0.0.0.0", None, True),
        ("0.0.0.0", "a-token-of-sixteen", False),
    ],
)
def test_a_server_that_is_open_to_a_network_without_a_token_says_so(
    host: str, token: str | None, warned: bool, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(uvicorn, "run", lambda application, **options: None)
    for name, value in Settings().to_environment().items():
        monkeypatch.setenv(name, value)
    launch.serve(Settings(host=host, token=token))
    assert ("without a token" in caplog.text) is warned


def test_the_serve_command_overrides_the_environment_and_leaves_frames_uncompressed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    told: dict[str, object] = {}
    monkeypatch.setattr(uvicorn, "run", lambda application, **options: told.update(options))
    for name, value in replace(Settings(), port=8_100, capacity=5).to_environment().items():
        monkeypatch.setenv(name, value)
    serve(capacity=9)
    assert (told["host"], told["port"], told["ws_per_message_deflate"]) == ("127.0.0.1", 8_100, False)
    assert Settings.from_environment(os.environ).capacity == 9

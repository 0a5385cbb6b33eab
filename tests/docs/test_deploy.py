"""What lies in `deploy/` fits the program: settings, metrics and commands that it names are there."""

from __future__ import annotations

import json
import re
import shutil
import subprocess

import pytest
from pages import ROOT

from bot.meters.meters import Meters
from bot.process.watch import LONGEST_BEAT_S
from bot.settings import Settings

DEPLOY = ROOT / "deploy"
LABEL = re.compile(r"(\w+)[=!]")
USED = re.compile(r"(continuity_[a-z_]+)(?:\{([^}]*)\})?")
GAUGE = re.compile(r'gauge\(\s*"(continuity_[a-z_]+)".*?(?:"(\w+)")?\)$', re.MULTILINE)
SUFFIXES = ("_total", "_bucket", "_count", "_sum")


def text(name: str) -> str:
    """Return one file of the folder."""
    return (DEPLOY / name).read_text(encoding="utf-8")


def known_metrics() -> dict[str, set[str]]:
    """Return the names that the program gives its meters, with their labels."""
    counted = {meter._name: {*meter._labelnames} for meter in Meters().registry._collector_to_names}
    source = (ROOT / "bot" / "http" / "metrics.py").read_text(encoding="utf-8")
    gauges = {name: {*label.split()} for name, label in GAUGE.findall(source)}
    boxes = {
        f"continuity_{box}_{what}": {"state"} for box in ("inbox", "outbox") for what in ("rows", "oldest_seconds")
    }
    return counted | gauges | boxes


def plain(name: str) -> str:
    """Return a meter's name without what the format adds."""
    suffix = next((suffix for suffix in SUFFIXES if name.endswith(suffix)), "")
    return name.removesuffix(suffix)


@pytest.mark.parametrize("name", ["alerts.yaml", "grafana.json"])
def test_every_metric_that_is_watched_exists(name):
    """An alert or a panel on a metric that nobody sets would be silent for ever."""
    known = known_metrics()
    used = [(plain(metric), labels.replace('\\"', '"')) for metric, labels in USED.findall(text(name))]
    watched = {metric for metric, _ in used}

    assert watched
    assert watched - set(known) == set()
    wrong = [
        (metric, label) for metric, labels in used for label in LABEL.findall(labels) if label not in known[metric]
    ]
    assert wrong == []


@pytest.mark.parametrize("name", ["Dockerfile", "compose.yaml", "continuity.service"])
def test_every_setting_that_is_named_exists(name):
    """A misspelt variable would be ignored without a word."""
    named = set(re.findall(r"\b(?:CONTINUITY|TELEGRAM)_[A-Z_]+\b", text(name)))

    assert {setting.lower() for setting in named} - set(Settings.model_fields) == set()


def test_every_alert_says_what_to_do():
    """Whoever is woken reads what happened and what to do about it."""
    rules = text("alerts.yaml")

    assert rules.count("- alert:") == rules.count("summary:") == rules.count("do:")


def test_the_dashboard_can_be_imported():
    """Panels have ids of their own, a place, and a data source that the import asks for."""
    board = json.loads(text("grafana.json"))

    assert len({panel["id"] for panel in board["panels"]}) == len(board["panels"])
    assert board["__inputs"][0]["name"] == "DS_PROMETHEUS"


@pytest.mark.skipif(shutil.which("promtool") is None, reason="promtool is not installed")
def test_prometheus_takes_the_rules():
    """Prometheus's own tool finds nothing wrong."""
    subprocess.run(["promtool", "check", "rules", str(DEPLOY / "alerts.yaml")], check=True, capture_output=True)


def test_the_unit_watches_a_bot_that_watches_itself():
    """Systemd's patience is longer than the bot's own, so that the log says where it hung; the bot speaks in time."""
    watchdog_s = float(re.search(r"^WatchdogSec=(\d+)$", text("continuity.service"), re.MULTILINE)[1])

    assert "Type=notify" in text("continuity.service")
    assert watchdog_s > Settings.model_fields["continuity_loop_limit_s"].default + 10 * LONGEST_BEAT_S


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="systemd is not installed")
def test_systemd_takes_the_unit():
    """Systemd's own tool knows every line of the unit; paths of another machine aside."""
    told = subprocess.run(
        ["systemd-analyze", "verify", str(DEPLOY / "continuity.service")], check=False, capture_output=True, text=True
    ).stderr

    assert "Unknown" not in told
    assert "Failed to parse" not in told

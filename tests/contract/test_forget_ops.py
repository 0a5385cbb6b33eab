"""`continuity-bot forget` and `export`: a conversation or a person, from the operator's side."""

import json

from ops_house import CHAT, GROUP, bot_at_work

from bot.ops.records.personal import is_private_with, requests


def readable(house, word):
    return [file.name for file in house.folder.rglob("*") if file.is_file() and word in file.read_bytes()]


def test_a_conversation_is_forgotten_and_the_other_stays(house):
    """By its chat's number; the report says what, and that no trace is left."""
    house.fill(3, 2)
    house.say(house.sessions[0], "The codeword is zebrafish")
    result = house.run("forget", "--conversation", "987654321", "--yes")

    assert result.exit_code == 0, result.output
    assert "the messages with my answers" in result.stdout
    assert "nothing of it is left" in result.stdout
    assert readable(house, b"zebrafish") == []
    assert house.turns(house.sessions[0]) == []
    assert len(house.turns(house.sessions[1])) == 2
    assert not house.checkpoint(0).exists()
    assert house.run("checkpoint", "verify").exit_code == 0


def test_a_person_is_forgotten_wherever_they_spoke(house):
    """In a group only what they said goes; nothing is left to forget the second time."""
    house.fill(3, 2)
    assert house.run("forget", "--user", "7", "--yes").exit_code == 0
    again = house.run("forget", "--user", "8", "--yes")

    assert house.turns(house.sessions[0]) == house.turns(house.sessions[1]) == []
    assert readable(house, b"height of tower") == []
    assert "Nothing is kept of user 8" in again.stdout


def test_nothing_is_forgotten_unasked_or_beside_a_running_bot(house):
    """Without --yes it asks; with the bot's lock taken it refuses; without a name it says what is missing."""
    house.fill(2)
    assert house.run("forget", "--conversation", CHAT).exit_code != 0
    assert house.run("forget", "--yes").exit_code == 2
    assert house.run("forget", "--yes", "--conversation", CHAT, "--user", "7").exit_code == 2
    assert house.run("forget", "--yes", "--conversation", "nowhere").exit_code == 1
    with bot_at_work(house, house.sessions[0], 3):
        refused = house.run("forget", "--conversation", CHAT, "--yes")

    assert refused.exit_code == 1
    assert "stop it first" in refused.stderr
    assert len(house.turns(house.sessions[0])) == 2


def test_export_writes_everything_of_one_or_of_a_person(house, tmp_path):
    """To standard output or to a private file that must be new."""
    house.fill(3, 2)
    one = json.loads(house.run("export", "--conversation", CHAT).stdout)
    target = tmp_path / "mine.json"
    assert house.run("export", str(target), "--user", "7").exit_code == 0
    person = json.loads(target.read_text(encoding="utf-8"))

    (here,) = one["conversations"]
    assert [turn["turn_id"] for turn in here["sessions"][0]["turns"]] == ["t_0_1", "t_0_2", "t_0_3"]
    assert {each["conversation_id"] for each in person["conversations"]} == {CHAT, GROUP}
    assert person["person"]["user_id"] == 7
    assert target.stat().st_mode & 0o777 == 0o600
    assert house.run("export", str(target), "--user", "7").exit_code == 1


def test_in_a_private_chat_everything_is_the_persons():
    """The chat's number is the person's; elsewhere only their own words are meant."""
    assert is_private_with("tg:5:7:0", 7)
    assert not is_private_with("tg:5:77:0", 7)
    assert [request.user_id for request in requests(["tg:5:7:0", "tg:5:-100:0"], 7)] == [None, 7]
    assert [request.user_id for request in requests(["tg:5:7:0"], None)] == [None]

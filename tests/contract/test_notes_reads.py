"""What a look at the notes costs: the states of the sessions are read once, not once for each question about them."""

from memory.testing import start_memory


async def test_a_view_reads_the_sessions_once(tmp_path, monkeypatch):
    """However much of the states is looked at, the database is asked for them one time."""
    memory = await start_memory(tmp_path)
    asked = []
    read = memory.db.read

    async def counted(name, /, **params):
        asked.append(name)
        return await read(name, **params)

    monkeypatch.setattr(memory.db, "read", counted)

    await memory.notes.view("tg:1:1:0", catch_up=False)
    await memory.close()

    assert asked.count("list_sessions") == 1

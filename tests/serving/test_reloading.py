"""Models that are replaced while the service answers."""

from __future__ import annotations

import asyncio
import gc
import json
import shutil
import threading
import weakref

import httpx
import pytest
import uvicorn
from asgi_client import Client

from splmll.serving import Limits, create_app
from splmll.serving.server import bind, run

ROW = {"body": "oil leak", "hours": 1.5, "site": "north"}


@pytest.fixture
def copies(places, tmp_path):
    """The models notes and plain in folders of our own."""
    for name in ("notes", "plain"):
        shutil.copytree(places[name], tmp_path / name)
    return {"first": tmp_path / "notes", "second": tmp_path / "plain"}


def replace(old, new) -> None:
    shutil.rmtree(old)
    shutil.copytree(new, old)
    # A copy keeps the time of its original; a model that is written gets a new one.
    (old / "manifest.json").touch()


def test_changed_models_are_read_again(copies, places) -> None:
    client = Client(create_app(copies))
    assert client.post("/reload").json() == {"reloaded": [], "unchanged": ["first", "second"]}
    replace(copies["first"], places["plain"])
    assert client.get("/models?model=first").json()["models"][0]["method"] == "SPL-MLL"
    assert client.post("/reload?model=second").json() == {"reloaded": [], "unchanged": ["second"]}
    assert client.post("/reload").json() == {"reloaded": ["first"], "unchanged": ["second"]}
    assert client.get("/models").json()["models"][0]["method"] == "BR"
    assert client.get("/health").json()["models"] == ["first", "second"]
    assert "Answers0" in client.get("/openapi.json").json()["components"]["schemas"]
    assert client.post("/explain", json={"rows": [ROW]}).status_code == 409


@pytest.mark.parametrize("damage", ["gone", "broken"])
def test_a_model_that_cannot_be_read_leaves_the_old_one(copies, damage) -> None:
    client = Client(create_app(copies))
    before = client.post("/predict", json={"rows": [ROW]}).json()
    if damage == "gone":
        shutil.rmtree(copies["first"])
    else:
        (copies["first"] / "manifest.json").write_text("{}")
    response = client.post("/reload")
    assert response.status_code == 409
    error = response.json()["error"]
    assert error["code"] == "reload_failed"
    assert "the earlier one stays in use" in error["message"]
    assert list(error["details"]["failed"]) == ["first"]
    assert client.post("/predict", json={"rows": [ROW]}).json() == before
    # It is tried again, not taken for unchanged.
    assert client.post("/reload").status_code == 409
    assert (
        'splmll_model_loads_total{model="first",result="failed"} 2.0' in client.get("/metrics").text
    )


def test_requests_that_began_are_finished_by_the_old_model(copies, places) -> None:
    app = create_app(copies, limits=Limits(batch_seconds=0.001))
    old = app.state.registry.get("first")
    go_on = threading.Event()
    usual = old.work
    old.batcher._work = lambda *job: go_on.wait(30) and usual(*job)

    async def ask() -> list[httpx.Response]:
        transport = httpx.ASGITransport(app)
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
            begun = [
                asyncio.create_task(client.post("/explain", json={"rows": [ROW]})) for _ in range(5)
            ]
            await asyncio.sleep(0.1)
            replace(copies["first"], places["plain"])
            assert (await client.post("/reload")).json()["reloaded"] == ["first"]
            after = await client.post("/explain", json={"rows": [ROW]})
            go_on.set()
            return [after, *await asyncio.gather(*begun)]

    after, *begun = asyncio.run(ask())
    assert after.status_code == 409  # the new model has no landmarks
    assert [response.status_code for response in begun] == [200] * 5
    assert json.loads(begun[0].content)["rows"][0]["labels"]


def test_a_replaced_model_goes_without_the_garbage_collector(copies, places) -> None:
    app = create_app(copies)
    model = app.state.registry.get("first")
    gone = [weakref.ref(model), weakref.ref(model.tagger)]
    threads = model.batcher._executor._threads
    del model
    client = Client(app)
    client.post("/predict", json={"rows": [ROW]})
    replace(copies["first"], places["plain"])
    gc.disable()
    try:
        client.post("/reload")
        assert [each() for each in gone] == [None, None]
        for thread in threads:
            thread.join(30)
            assert not thread.is_alive()
    finally:
        gc.enable()


def test_full_collections_pass_over_what_was_there_before(copies, monkeypatch) -> None:
    """A full collection stops all answers for as long as it looks at objects."""
    spared = []

    async def serve(self: uvicorn.Server, sockets: object) -> None:
        spared.append(gc.get_freeze_count())

    monkeypatch.setattr(uvicorn.Server, "serve", serve)
    app = create_app(copies)
    gc.collect()
    there = len(gc.get_objects())
    with bind("127.0.0.1", 0) as bound:
        try:
            run(app, bound)
        finally:
            gc.unfreeze()
    assert spared[0] > 0.9 * there


def test_a_service_needs_a_model(tmp_path) -> None:
    with pytest.raises(ValueError, match="There are no models to serve; give at least one"):
        create_app({})
    with pytest.raises(ValueError, match="there is no such file or folder"):
        create_app({"m": tmp_path / "nothing"})

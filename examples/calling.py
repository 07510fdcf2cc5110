"""A program that calls the service: it uploads a file, trains a model and predicts rows, blocking and asynchronously.

`python examples/calling.py` starts a service of its own on a temporary database.
"""

import asyncio
from pathlib import Path
from tempfile import TemporaryDirectory

from relevance_bayes.client import AsyncClient, Client, ClientError, connect, connect_async

Row = dict[str, float | str | bool | None]


def train(service: Client, file: Path, target: str, model: str) -> int:
    """Return the number of the version that a training makes."""
    dataset = service.upload(file)
    submitted = service.trainings.submit({"dataset_id": dataset.id, "target": target, "model": model})
    job = service.trainings.wait(submitted.id)
    if job.version is None:
        raise RuntimeError(f"The training {job.id} has ended as {job.state}.")
    return job.version.version


def means(service: Client, model: str, rows: list[Row]) -> list[float | None]:
    """Return the predicted means of rows; None for a row that has none."""
    response = service.predict(model, {"rows": rows}, interval=0.9)
    return [one.mean for one in response.predictions]


async def newest(service: AsyncClient, model: str) -> int | None:
    """Return the newest version of a model; None where there is no such model."""
    try:
        found = await service.model(model)
    except ClientError as error:
        if error.problem.status == 404:
            return None
        raise
    return found.latest


async def main() -> None:
    """Train and predict with a blocking client, and read the model with an asynchronous one."""
    file = Path(__file__).parent / "tour" / "kiosk.csv"
    row: Row = {"temperature": 29, "weather": "sunny", "holiday": True}
    with TemporaryDirectory() as folder:
        database = Path(folder) / "relevance.db"
        with connect(database) as service:
            print("version", train(service, file, "litres", "ice-cream"))
            print("litres", means(service, "ice-cream", [row]))
        async with connect_async(database) as other:
            print("newest", await newest(other, "ice-cream"), "and of an unknown model", await newest(other, "tea"))


if __name__ == "__main__":
    asyncio.run(main())

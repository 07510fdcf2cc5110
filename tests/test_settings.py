import pytest
from pydantic import ValidationError

from app.settings import Settings


def test_a_worker_may_miss_a_beat_before_it_is_taken_for_dead() -> None:
    Settings(heartbeat_seconds=2.0, silence_seconds=4.0)
    with pytest.raises(ValidationError, match="twice heartbeat_seconds"):
        Settings(heartbeat_seconds=2.0, silence_seconds=3.9)

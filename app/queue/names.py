"""What the engine's rows are called: workers and API processes of all versions have to agree on it."""

APPLICATION = "relevance"
VERSION = "1"
"""Not of our code, which the engine would else hash: a job begun before an upgrade would then wait for ever."""

QUEUE = "training"
WORKFLOW = "train"
PRIORITY = 100
"""Lower goes first within one owner; unset would be 0, before everybody."""

MOST_RECOVERIES = 100
"""How often the engine starts a job again, whatever became of the starts before; then it gives up.

Starts that died are counted by the job itself: the engine can't tell them from those that were handed back, as each
running job is whenever its worker is stopped in good order.
"""

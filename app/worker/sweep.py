"""The sweep: no job stays unfinished whose entry in the engine has ended."""

import logging

from app.domain.ports import OpenUnitOfWork, Recovery
from app.worker.problems import BY_ENDING

logger = logging.getLogger(__name__)


def sweep(open_uow: OpenUnitOfWork, recovery: Recovery) -> None:
    """End jobs that were started too often, ran out of time, were cancelled or met a fault; raises UnavailableError."""
    with open_uow() as uow:
        attempts = {job_id: attempt for job_id, _, attempt in uow.jobs.unfinished()}
    for job_id, ending in recovery.endings(list(attempts)).items():
        with open_uow() as uow:
            # Whoever ended it since was first: these two change nothing then.
            if uow.jobs.cancel_requested(job_id):
                ended = uow.jobs.cancelled(job_id, attempts[job_id])
            else:
                ended = uow.jobs.fail(job_id, attempts[job_id], BY_ENDING[ending])
        if ended:
            logger.warning("ended a job that was left unfinished", extra={"job": str(job_id), "ending": ending})

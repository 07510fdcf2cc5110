from tests.scoring_bench import bench

__all__ = ["bench"]

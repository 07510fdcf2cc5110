from relevance_bayes.cli.predictions import joined
from relevance_bayes.client.responses import Largest, Summary


def test_the_summary_of_pieces_is_that_of_all_rows() -> None:
    differences = [0.5, -2.0, 1.0, 0.0, -0.25]

    def of(values: list[float]) -> Summary:
        row = max(range(len(values)), key=lambda place: abs(values[place]))
        size = sum(map(abs, values)) / len(values)
        return Summary(len(values), Largest(row, values[row]), sum(values) / len(values), size)

    for cut in range(1, 5):
        assert joined([of(differences[:cut]), of(differences[cut:])]) == of(differences)


def test_the_summary_of_classes_counts_labels() -> None:
    pieces = [
        Summary(2, Largest(1, total_variation=0.5), labels_differ=1, mean_total_variation=0.25),
        Summary(1, Largest(0, total_variation=0.75), labels_differ=1, mean_total_variation=0.75),
    ]
    full = joined(pieces)
    assert full.largest == Largest(2, total_variation=0.75)
    assert (full.rows, full.labels_differ, full.mean_difference) == (3, 2, None)
    assert full.mean_total_variation == (2 * 0.25 + 0.75) / 3

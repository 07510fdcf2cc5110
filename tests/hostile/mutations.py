"""Files with bytes changed, cut, inserted and repeated, and lengths replaced, drawn by a seeded generator."""

from random import Random

LENGTHS = (0, 1, 7, 255, 2**15, 2**16 - 1, 2**31 - 1, 2**31, 2**32 - 1, 2**40, 2**62, 2**63 - 1, 2**63, 2**64 - 1)
"""Replacements of a length or an offset: none, one off, huge, and negative where it has a sign."""

WAYS = ("flip", "flip", "bit", "cut", "drop", "insert", "repeat", "move", "length", "length", "zero")


def mutated(random: Random, content: bytes) -> bytes:
    """Return a file with one to four things changed."""
    body = bytearray(content)
    for _ in range(random.choice((1, 1, 1, 2, 4))):
        change(random, body)
    return bytes(body)


def change(random: Random, body: bytearray) -> None:
    """Change one thing; an empty body stays."""
    if not body:
        return
    place = random.randrange(len(body))
    match random.choice(WAYS):
        case "flip":
            body[place] = random.randrange(256)
        case "bit":
            body[place] ^= 1 << random.randrange(8)
        case "cut":
            del body[place:]
        case "drop":
            del body[place : place + random.randint(1, 40)]
        case "insert":
            body[place:place] = random.randbytes(random.randint(1, 40))
        case "repeat":
            body[place:place] = body[place : place + random.randint(1, 400)] * random.randint(1, 5)
        case "move":
            piece = body[place : place + random.randint(1, 64)]
            del body[place : place + len(piece)]
            other = random.randint(0, len(body))
            body[other:other] = piece
        case "length":
            replace_length(random, body, place)
        case "zero":
            width = random.choice((1, 4, 8, 64))
            body[place : place + width] = bytes(len(body[place : place + width]))


def replace_length(random: Random, body: bytearray, place: int) -> None:
    """Write a length over the bytes at a place, half of the time where words are aligned."""
    width = random.choice((1, 2, 4, 8))
    first = place // width * width if random.random() < 0.5 else place
    value = random.choice(LENGTHS) % 2 ** (8 * width)
    body[first : first + width] = value.to_bytes(width, random.choice(("little", "big")))

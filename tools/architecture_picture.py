"""Draws docs/architecture.svg: the rooms by floor, in the order in which data passes them.

python tools/architecture_picture.py
"""

from __future__ import annotations

from pathlib import Path

# Floors from the top of the picture down, each with its rooms and what they hold.
FLOORS: tuple[tuple[str, str, tuple[tuple[str, str], ...]], ...] = (
    (
        "shows and checks",
        "#f4e9d8",
        (
            ("cli", "one file a command"),
            ("bench", "sections, peers"),
            ("report", "figures, SVG, PNG"),
            ("evidence", "the papers, run here"),
            ("export", "C++, GPU, RTL files"),
            ("verify", "textbook, differences"),
        ),
    ),
    (
        "uses kernels",
        "#e3efe0",
        (
            ("robot, loading", "the everyday face"),
            ("ik", "inverse kinematics"),
            ("accelerators", "studies of chips"),
        ),
    ),
    (
        "from the one to the other",
        "#dfe8f3",
        (("compiler", "request, specialise, recipe, program, fingerprint, partition, chip, units"),),
    ),
    (
        "knows robots",
        "#efe2f0",
        (
            ("model", "descriptions, joints, manifolds"),
            ("algorithms", "sweeps over a generic scalar"),
            ("spatial", "6-D vectors, scalars"),
            ("shapes", "skeletons, meshes"),
        ),
    ),
    (
        "knows numbers",
        "#e8e8e8",
        (
            ("targets", "cpu, cpp, gpu, rtl, interpreter"),
            ("passes", "Program to Program"),
            ("ir", "operations, programs"),
            ("runtime", "kernels, calls, cache"),
        ),
    ),
)
WIDTH, LABEL, HEIGHT, GAP = 980, 180, 62, 14


def picture() -> str:
    """The whole drawing."""
    parts = []
    y = GAP
    for name, colour, rooms in FLOORS:
        parts.append(f'<text x="{GAP}" y="{y + HEIGHT / 2 + 4:g}" font-style="italic">{name}</text>')
        each = (WIDTH - LABEL - GAP * (len(rooms) + 1)) / len(rooms)
        for k, (room, about) in enumerate(rooms):
            x = LABEL + GAP + k * (each + GAP)
            middle = x + each / 2
            parts.append(
                f'<rect x="{x:g}" y="{y}" width="{each:g}" height="{HEIGHT}" rx="6" '
                f'fill="{colour}" stroke="#666"/>'
            )
            parts.append(
                f'<text x="{middle:g}" y="{y + 26}" text-anchor="middle" font-weight="bold">{room}</text>'
            )
            parts.append(
                f'<text x="{middle:g}" y="{y + 46}" text-anchor="middle" font-size="11">{about}</text>'
            )
        y += HEIGHT + GAP
    body = "\n".join(parts)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {y + 24}" font-family="sans-serif" '
        f'font-size="13">\n<rect width="100%" height="100%" fill="white"/>\n{body}\n'
        f'<text x="{WIDTH / 2:g}" y="{y + 12}" text-anchor="middle" font-size="12">'
        "imports point downwards; native/ (C++) lies under runtime</text>\n</svg>\n"
    )


def main() -> None:
    (Path(__file__).parents[1] / "docs" / "architecture.svg").write_text(picture(), encoding="utf-8")


if __name__ == "__main__":
    main()

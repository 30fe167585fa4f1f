"""Plots the speed of each case below the roofs of memcpy and of the streaming copy."""

from math import ceil, floor, log10

from report import PEERS

WIDTH, LEFT, RIGHT, TOP, ROW = 760, 170, 20, 64, 18
COLOURS = {"layoutc": "#4477aa", "oneDNN": "#cc6677", "NumPy": "#ddaa33", "PyTorch": "#aa4499"}
ROOFS = {"memcpy": "#222222", "streaming": "#228833"}
LABELS = {"streaming": "streaming copy"}


def mark(name, x, y):
    """SVG of a mark: a line across the row for a roof, a large dot for layoutc, a small one for a peer."""
    if name in ROOFS:
        return f'<path d="M{x:.1f} {y - 8:.1f}V{y + 8:.1f}" stroke="{ROOFS[name]}" stroke-width="3"/>'
    return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{5 if name == "layoutc" else 3}" fill="{COLOURS[name]}"/>'


def legend(names):
    step = (WIDTH - 20) / len(names)
    for at, name in enumerate(names):
        x = 20 + at * step
        yield mark(name, x, 20)
        yield f'<text x="{x + 10:.1f}" y="24">{LABELS.get(name, name)}</text>'


def plot(results):
    """One row per case, GB/s to the right, logarithmic."""
    height = TOP + ROW * len(results) + 20
    names = [name for name in [*ROOFS, *PEERS, "layoutc"] if any(result.speeds(name) for result in results)]
    speeds = [{name: result.gb_per_second(name) for name in names if result.speeds(name)} for result in results]
    every = [speed for row in speeds for speed in row.values()]
    low, high = floor(log10(min(every))), ceil(log10(max(every)))
    x = lambda speed: LEFT + (log10(speed) - low) / max(high - low, 1) * (WIDTH - LEFT - RIGHT)

    svg = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" font-family="sans-serif" font-size="12">',
        "<title>Conversion speed, GB/s</title>",
        f'<rect width="{WIDTH}" height="{height}" fill="white"/>',
        *legend(names),
    ]
    for power in range(low, high + 1):
        for digit in [1, 2, 5] if power < high else [1]:
            speed = digit * 10.0**power
            at = x(speed)
            svg.append(f'<path d="M{at:.1f} {TOP - 8}V{height - 16}" stroke="#dddddd"/>')
            svg.append(f'<text x="{at:.1f}" y="{TOP - 14}" text-anchor="middle" fill="#555555">{speed:g}</text>')
    svg.append(f'<text x="{LEFT - 30}" y="{TOP - 14}" text-anchor="end" fill="#555555">GB/s</text>')
    for row, (result, found) in enumerate(zip(results, speeds)):
        y = TOP + ROW * (row + 0.5)
        end = x(found["layoutc"])
        svg.append(f'<text x="{LEFT - 10}" y="{y + 4:.1f}" text-anchor="end">{result.case.name}</text>')
        svg.append(f'<path d="M{LEFT} {y:.1f}H{end:.1f}" stroke="{COLOURS["layoutc"]}" stroke-width="6" stroke-opacity="0.35"/>')
        svg.extend(mark(name, x(speed), y) for name, speed in found.items())
    return "\n".join(svg + ["</svg>", ""])

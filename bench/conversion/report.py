"""The table of a measurement, and its numbers as JSON."""

import json
import statistics

# Additional references for cases within the L2 and beyond the caches.
COPIES = {"streaming": "the streaming copy", "vectors": "the vector copy"}
PEERS = ["oneDNN", "NumPy", "PyTorch"]
# Required share of the hand-written speed.
SHARE_OF_HAND = 0.9
# Speed of the streaming copy relative to memcpy on the machine of the hand-written code, which uses streaming stores
# beyond the caches.
HAND_STREAMING = 1.55
# Speed of the hand-written copy of copy_S relative to memcpy there. Elsewhere memcpy may be `rep movsb`, which no loop of
# loads and stores reaches.
HAND_VECTORS = 1.02


class Result:
    """Seconds per run of each contender and of memcpy in the same process, one value per round."""

    def __init__(self, case, seconds):
        self.case, self.seconds, self.versions = case, {}, {}
        for process, contenders in seconds.items():
            self.seconds[process] = {}
            for name, rounds in contenders.items():
                name, _, version = name.partition("/")
                self.seconds[process][name] = rounds
                if version:
                    self.versions[name] = version

    def rounds(self, name):
        """Seconds per round of a contender and of memcpy in its process; empty if it is missing."""
        for contenders in self.seconds.values():
            if name in contenders:
                return contenders[name], contenders["memcpy"]
        return [], []

    def speeds(self, name):
        """Speed relative to memcpy, one value per round."""
        return [memcpy / took for took, memcpy in zip(*self.rounds(name))]

    def speed(self, name):
        speeds = self.speeds(name)
        return statistics.median(speeds) if speeds else None

    def spread(self, name):
        """Lower and upper quartile of the speed."""
        lower, _, upper = statistics.quantiles(self.speeds(name), n=4, method="inclusive")
        return lower, upper

    def gb_per_second(self, name):
        took, _ = self.rounds(name)
        return self.case.moved_bytes / statistics.median(took) / 1e9 if took else None

    def verdict(self):
        """Checks that layoutc reaches its share of the hand-written speed and is faster than all peers: those of this run,
        and the best of the reference if it does not run here."""
        reached, case = self.speed("layoutc"), self.case
        peers = [(self.speed(name), name) for name in PEERS if self.speed(name) is not None]
        if case.reference_peer_name not in [name for _, name in peers]:
            peers.append((case.reference_peer, case.reference_peer_name))
        best, name = max(peers)
        short = []
        share, by = reached / case.reference_hand, ""
        copy, hand_copy = ("streaming", HAND_STREAMING) if case.is_large else ("vectors", HAND_VECTORS)
        copy_speed = self.speed(copy) if case.is_large or case.is_small else None
        if share < SHARE_OF_HAND and copy_speed is not None:
            share, by = max((share, by), (share * hand_copy / copy_speed, f" by {COPIES[copy]}"))
        if share < SHARE_OF_HAND:
            short.append(f"{share:.2f} of hand{by}")
        if reached <= best:
            short.append(f"below {name}")
        return ", ".join(short) or f"holds{by}"


def number(value):
    return "-" if value is None else f"{value:.2f}"


def table(results, threads):
    """The table; reference and verdict only with one thread."""
    peers = [name for name in PEERS if any(result.speeds(name) for result in results)]
    lines = [
        "| case | what | dims | memcpy, GB/s | layoutc, GB/s | layoutc | quartiles | streaming copy | vector copy | "
        + "".join(f"{name} | " for name in peers)
        + ("*hand* | *best peer* | verdict |" if threads == 1 else ""),
        "|---|---|---|--:|--:|--:|--:|--:|--:|" + "--:|" * len(peers) + ("--:|--:|---|" if threads == 1 else ""),
    ]
    for result in results:
        case = result.case
        lower, upper = result.spread("layoutc")
        measured = "".join(f"{number(result.speed(name))} | " for name in peers)
        reference = f"{case.reference_hand:.2f} | {case.reference_peer:.2f} {case.reference_peer_name} | {result.verdict()} |"
        lines.append(
            f"| {case.name} | {case.element} {case.what} | {case.dims} | {result.gb_per_second('memcpy'):.1f} | {result.gb_per_second('layoutc'):.1f} | {result.speed('layoutc'):.2f} "
            f"| {lower:.2f}–{upper:.2f} | {number(result.speed('streaming'))} | {number(result.speed('vectors'))} | {measured}"
            + (reference if threads == 1 else "")
        )
    return "\n".join(line.rstrip() for line in lines) + "\n"


def conditions(results, machine, args):
    versions = {name: version for result in results for name, version in result.versions.items()}
    missing = [name for name in PEERS if name not in versions]
    threads = "one thread, CPU time" if args.threads == 1 else f"{args.threads} threads (memcpy, the other copies and NumPy: one), wall time"
    flags = "-O2" if args.threads == 1 else "-O2 -fopenmp"
    return (
        f"{args.date}; {machine['processor']}, {machine['cores']} cores, {machine['caches']}; {machine['compiler']}, `{flags}`;\n"
        + "; ".join([threads, *(f"{name} {version}" for name, version in versions.items())])
        + f";\nmedians of {args.rounds} alternating rounds. Dims are the source's; columns without a unit are relative to memcpy."
        + (f" Missing: {', '.join(missing)}." if missing else "")
    )


def page(results, machine, args):
    """The page; the book includes the anchored parts."""
    verdicts = [result.verdict() for result in results]
    held = verdicts.count("holds")
    more = " and ".join(f"{verdicts.count(f'holds by {copy}')} by {copy}" for copy in COPIES.values())
    return (
        "# Conversion speed\n\n<!-- ANCHOR: table -->\n"
        + conditions(results, machine, args)
        + "\n\n"
        + table(results, args.threads)
        + (f"\n{held} of {len(results)} hold; in addition, {more}.\n" if args.threads == 1 else "")
        + "<!-- ANCHOR_END: table -->\n"
    )


def as_json(results, machine, args):
    """One line per case: seconds per run, one value per round."""
    head = {"date": args.date, **machine, "threads": args.threads, "rounds": args.rounds}
    cases = [
        {"name": result.case.name, "moved_bytes": result.case.moved_bytes, "versions": result.versions, "seconds": result.seconds}
        for result in results
    ]
    body = ",\n".join(json.dumps(case) for case in cases)
    return f'{{"measured": {json.dumps(head)},\n"cases": [\n{body}\n]}}\n'

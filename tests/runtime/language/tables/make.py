#!/usr/bin/env python3
"""Writes the tables of expected results that tables.test.ts compares the product with, one row a line: `python3 make.py`.

Nothing of the product is used. INT is Python's unbounded int with the 64-bit range checked, decimal text is decimal.Decimal,
REAL is the IEEE 754 binary64 of Python's float, timers are computed from the whole history of their input and not scan by
scan. Decisions 4.1, 4.3, 4.4, 5.2; IEC 61131-3:2013, Tables 29, 33, 43 to 46. The same script always writes the same tables.
"""

import json
import math
import os
import random
from decimal import ROUND_HALF_EVEN, ROUND_HALF_UP, Context, Decimal

HERE = os.path.dirname(os.path.abspath(__file__))
LOW, HIGH = -(2**63), 2**63 - 1
NETWORK_HIGH = 2**53 - 1  # a network keeps INT in a double: exact up to here, a block error beyond
rng = random.Random(61131)

EDGES = [0, 1, -1, 2, -2, 3, 7, -7, 10, 2**31 - 1, -(2**31), 2**32, 2**53 - 1, 2**53, 2**53 + 1, -(2**53) - 1, 3037000499, 3037000500, 2**62, -(2**62), HIGH - 1, HIGH, LOW + 1, LOW]


def save(name, rows):
    with open(os.path.join(HERE, name), "w", encoding="utf-8") as file:
        file.writelines(json.dumps(row, ensure_ascii=True) + "\n" for row in rows)


# ---------------------------------------------------------------- texts of values


def js_number(value):
    """Decimal text of a double as ECMAScript writes it: plain between 1e-7 and 1e21."""
    if value == 0:
        return "0"
    sign, digits, exponent = Decimal(repr(value)).normalize().as_tuple()
    text = "".join(map(str, digits))
    point = len(text) + exponent
    if 0 < point <= 21:
        body = text + "0" * (point - len(text)) if point >= len(text) else text[:point] + "." + text[point:]
    elif -6 < point <= 0:
        body = "0." + "0" * -point + text
    else:
        body = text[0] + ("." + text[1:] if len(text) > 1 else "") + "e" + ("+" if point > 0 else "-") + str(abs(point - 1))
    return ("-" if sign else "") + body


def beside_text(value):
    """REAL beside a STRING: seven significant digits of the exact value."""
    return js_number(float(Context(prec=7, rounding=ROUND_HALF_UP).create_decimal(Decimal(value))))


def time_text(ms):
    if ms == 0:
        return "T#0s"
    text, rest = ("T#-" if ms < 0 else "T#"), abs(ms)
    for unit, size in (("d", 86400000), ("h", 3600000), ("m", 60000), ("s", 1000), ("ms", 1)):
        count, rest = divmod(rest, size)
        text += f"{count}{unit}" if count else ""
    return text


def int_literal(value):
    return str(value)


def real_literal(value):
    text = js_number(value)
    return text if "." in text or "e" in text else text + ".0"


def string_literal(text):
    out = ""
    for character in text:
        if character in "$'":
            out += "$" + character
        elif ord(character) < 0x20 or ord(character) > 0x7E:
            units = character.encode("utf-16-be")
            out += "".join(f"${units[at]:02X}{units[at + 1]:02X}" for at in range(0, len(units), 2))
        else:
            out += character
    return f"'{out}'"


# ---------------------------------------------------------------- expressions


def of_int(value):
    return {"type": "INT", "value": str(value)} if LOW <= value <= HIGH else {"error": "overflow"}


def of_real(value):
    return {"type": "REAL", "value": value} if math.isfinite(value) else {"error": "overflow"}


def of_time(ms):
    return {"type": "TIME", "value": ms} if abs(ms) <= NETWORK_HIGH else {"error": "overflow"}


def truncated(a, b):
    quotient = abs(a) // abs(b)
    return quotient if (a < 0) == (b < 0) else -quotient


def int_result(operator, a, b):
    if operator in ("/", "MOD"):
        if b == 0:
            return {"error": "division-by-zero"}
        return of_int(truncated(a, b) if operator == "/" else a - truncated(a, b) * b)
    return of_int(a + b if operator == "+" else a - b if operator == "-" else a * b)


def real_result(operator, a, b):
    if operator == "/" and b == 0:
        return {"error": "division-by-zero"}
    try:
        return of_real(a + b if operator == "+" else a - b if operator == "-" else a * b if operator == "*" else a / b)
    except OverflowError:
        return {"error": "overflow"}


def half_up(value):
    """Whole milliseconds of a Decimal, halves away from zero."""
    return int(value.quantize(Decimal(1), rounding=ROUND_HALF_UP))


COMPARE = {
    "<": lambda a, b: a < b,
    ">": lambda a, b: a > b,
    "<=": lambda a, b: a <= b,
    ">=": lambda a, b: a >= b,
    "=": lambda a, b: a == b,
    "<>": lambda a, b: a != b,
}


def integers():
    pairs = [(a, b) for a in (-7, -6, -1, 0, 1, 6, 7) for b in (-3, -2, -1, 0, 1, 2, 3)]
    pairs += [(rng.choice(EDGES), rng.choice(EDGES)) for _ in range(120)]
    pairs += [(rng.randint(LOW, HIGH), rng.choice([1, -1, 3, -10, 2**31, rng.randint(LOW, HIGH)])) for _ in range(60)]
    for a, b in pairs:
        for operator in ("/", "MOD") if abs(a) < 10 else rng.sample(["+", "-", "*", "/", "MOD"], 3):
            yield {"about": "integers", "text": f"{int_literal(a)} {operator} {int_literal(b)}", **int_result(operator, a, b)}
    for a in EDGES:
        yield {"about": "integers", "text": f"-({int_literal(a)})", **of_int(-a)}
        yield {"about": "integers", "text": f"ABS({int_literal(a)})", **of_int(abs(a))}
    for text, value in (("16#FF", 255), ("2#1010_1010", 170), ("8#777", 511), ("1_000_000", 10**6), ("16#7FFF_FFFF_FFFF_FFFF", HIGH)):
        yield {"about": "integers", "text": f"{text} + 0", **of_int(value)}


REALS = [0.0, 0.1, 0.2, 0.3, -2.5, 1.5, 7.0, 1e16, 9007199254740993.0, 1e300, -1e300, 1.7976931348623157e308, 2.2250738585072014e-308, 5e-324, 3.141592653589793]


def reals():
    for _ in range(160):
        a, b = rng.choice(REALS), rng.choice(REALS + [rng.uniform(-1000, 1000)])
        operator = rng.choice("+-*/")
        yield {"about": "reals", "text": f"{real_literal(a)} {operator} {real_literal(b)}", **real_result(operator, a, b)}
    for _ in range(60):
        a, b = rng.choice(EDGES), rng.choice(REALS)
        operator = rng.choice("+-*/")
        yield {"about": "reals", "text": f"{int_literal(a)} {operator} {real_literal(b)}", **real_result(operator, float(a), b)}
        if a != 0:
            yield {"about": "reals", "text": f"{real_literal(b)} {operator} {int_literal(a)}", **real_result(operator, b, float(a))}


def comparisons():
    for _ in range(80):
        a, b, operator = rng.choice(EDGES), rng.choice(EDGES), rng.choice(list(COMPARE))
        yield {"about": "comparisons", "text": f"{a} {operator} {b}", "type": "BOOL", "value": COMPARE[operator](a, b)}
    for _ in range(80):
        # an INT beside a REAL is compared as REAL (Q-ST-06), so beyond 2^53 neighbours are equal
        a, b, operator = rng.choice(EDGES), rng.choice(REALS + [float(rng.choice(EDGES))]), rng.choice(list(COMPARE))
        yield {"about": "comparisons", "text": f"{a} {operator} {real_literal(b)}", "type": "BOOL", "value": COMPARE[operator](float(a), b)}
    words = ["", "a", "A", "aa", "b", "z", "\u00e4", "\uffee", "\U0001f600", "\ue000", "a\U0001f600", "a\uffee"]
    for _ in range(90):
        a, b, operator = rng.choice(words), rng.choice(words), rng.choice(list(COMPARE))
        ordered = COMPARE[operator]([ord(c) for c in a], [ord(c) for c in b])
        yield {"about": "comparisons", "text": f"{string_literal(a)} {operator} {string_literal(b)}", "type": "BOOL", "value": ordered}
    for a in (True, False):
        for b in (True, False):
            for operator in ("=", "<>"):
                yield {"about": "comparisons", "text": f"{str(a).upper()} {operator} {str(b).upper()}", "type": "BOOL", "value": COMPARE[operator](a, b)}
            for word, value in (("AND", a and b), ("OR", a or b), ("XOR", a != b)):
                yield {"about": "comparisons", "text": f"{str(a).upper()} {word} {str(b).upper()}", "type": "BOOL", "value": value}


UNITS = {"d": 86400000, "h": 3600000, "m": 60000, "s": 1000, "ms": 1}


def times():
    for _ in range(150):
        chosen = sorted(rng.sample(list(UNITS), rng.randint(1, 3)), key=list(UNITS).index)
        text, exact = "", Decimal(0)
        for unit in chosen:
            number = str(rng.randint(0, 70)) + (f".{rng.randint(0, 9999)}" if rng.random() < 0.5 else "")
            text += number + unit
            exact += Decimal(number) * UNITS[unit]
        sign = rng.choice(["", "-"])
        yield {"about": "times", "text": f"T#{sign}{text} + T#0s", **of_time(half_up(-exact if sign else exact))}
    for text, exact in (("1.0005s", "1000.5"), ("0.0005s", "0.5"), ("0.0015s", "1.5"), ("2.0005s", "2000.5"), ("8.0005s", "8000.5"), ("0.00025m", "15"), ("1.1h", "3960000")):
        yield {"about": "times", "text": f"T#{text} + T#0s", **of_time(half_up(Decimal(exact)))}
    moments = [0, 1, -1, 999, 1000, 60000, 90061001, -86400000, NETWORK_HIGH, -NETWORK_HIGH, 2500, 333]
    for _ in range(120):
        a, b = rng.choice(moments), rng.choice(moments)
        operator = rng.choice(["+", "-", "/", "<", ">=", "="])
        text = f"{time_text(a)} {operator} {time_text(b)}"
        if operator in COMPARE:
            yield {"about": "times", "text": text, "type": "BOOL", "value": COMPARE[operator](a, b)}
        elif operator == "/":
            yield {"about": "times", "text": text, **({"error": "division-by-zero"} if b == 0 else of_real(a / b))}
        else:
            yield {"about": "times", "text": text, **of_time(a + b if operator == "+" else a - b)}
    for _ in range(60):
        a, n, operator = rng.choice(moments), rng.choice([0, 1, -1, 2, 3, -7, 1000]), rng.choice("*/")
        result = {"error": "division-by-zero"} if operator == "/" and n == 0 else of_time(half_up(Decimal(a) * n if operator == "*" else Decimal(a) / n))
        if abs(a) < 10**12:
            yield {"about": "times", "text": f"{time_text(a)} {operator} {n}", **result}
    for a, factor in ((1000, "2.5"), (1, "0.5"), (-1, "0.5"), (333, "0.25"), (2500, "1.5")):
        yield {"about": "times", "text": f"{time_text(a)} * {factor}", **of_time(half_up(Decimal(a) * Decimal(factor)))}
        yield {"about": "times", "text": f"{factor} * {time_text(a)}", **of_time(half_up(Decimal(a) * Decimal(factor)))}
        yield {"about": "times", "text": f"{time_text(a)} / {factor}", **of_time(half_up(Decimal(a) / Decimal(factor)))}


def strings():
    def row(text, value):
        return {"about": "strings", "text": text, "type": "STRING", "value": value}

    for value in EDGES:
        yield row(f"'n=' + {value}", f"n={value}")
    for value in REALS + [rng.uniform(-1, 1) * 10 ** rng.randint(-12, 24) for _ in range(60)] + [1000000.5, 1234567.5, 12345678.0, 0.000001, 1e-7, 1e21, 1e20]:
        yield row(f"'x=' + {real_literal(value)}", f"x={beside_text(value)}")
    for ms in (0, 1, 90000, -1500, 86400000, 90061001, 3600000):
        yield row(f"'' + {time_text(ms)}", time_text(ms))
    yield row("TRUE + ''", "TRUE")
    yield row("'a' + FALSE", "aFALSE")
    yield row("1 + 2 + 'a' + 1 + 2", "3a12")
    yield row("'$$$'$L$T$00e4' + ''", "$'\n\t\u00e4")
    yield row("'' + ''", "")


def expressions():
    for make in (integers, reals, comparisons, times, strings):
        yield from make()


# ---------------------------------------------------------------- blocks


def block(name, inputs, out=None):
    """`inputs`: port to [type, text]; without `out` the block is in error."""
    return {"block": name, "in": inputs, **({"error": True} if out is None else {"out": out})}


def whole(value):
    return value if abs(value) <= NETWORK_HIGH else None


def blocks():
    def pair(a, b):
        return {"IN1": ["INT", str(a)], "IN2": ["INT", str(b)]}

    small = [value for value in EDGES if abs(value) <= NETWORK_HIGH]
    pairs = [(a, b) for a in (-7, -6, -1, 0, 1, 6, 7) for b in (-3, -2, 0, 2, 3)] + [(rng.choice(small), rng.choice(small)) for _ in range(80)]
    for a, b in pairs:
        yield block("DIV", pair(a, b), whole(truncated(a, b)) if b else None)
        yield block("MOD", pair(a, b), whole(a - truncated(a, b) * b) if b else None)
    for a, b in pairs[-80:]:
        yield block("ADD", pair(a, b), whole(a + b))
        yield block("SUB", pair(a, b), whole(a - b))
        yield block("MUL", pair(a, b), whole(a * b))
        for name, word in (("GT", ">"), ("GE", ">="), ("LT", "<"), ("LE", "<="), ("EQ", "="), ("NE", "<>")):
            yield block(name, pair(a, b), COMPARE[word](a, b))
    top = NETWORK_HIGH
    for terms in ([top, 2, -3], [top, -top, 5], [-top, -1, 1], [1, 2, 3], [top, 1, -1, 0]):
        sums = [sum(terms[: n + 1]) for n in range(len(terms))]
        ports = {f"IN{n + 1}": ["INT", str(term)] for n, term in enumerate(terms)}
        yield block("ADD", ports, sums[-1] if all(abs(value) <= top for value in sums) else None)
    for a in small:
        yield block("NEG", {"IN": ["INT", str(a)]}, -a)
        yield block("ABS", {"IN": ["INT", str(a)]}, abs(a))
    fractions = [0.5, 1.5, 2.5, -0.5, -1.5, -2.5, 0.49999999999999994, 2.4, 2.6, -2.4, -2.6, 1e15 + 0.5, 4503599627370495.5, 9007199254740991.0, 9007199254740992.0, 1e17, -1e300, 3.0, -0.0]
    fractions += [rng.uniform(-100, 100) for _ in range(40)] + [rng.randint(-1000, 1000) + 0.5 for _ in range(20)]
    for value in fractions:
        even = int(Decimal(value).quantize(Decimal(1), rounding=ROUND_HALF_EVEN)) if abs(value) < 1e17 else int(value)
        port = {"IN": ["REAL", real_literal(value)]}
        yield block("ROUND", port, whole(even))
        yield block("TO_INT", port, whole(even))
        yield block("TRUNC", port, whole(int(value)))
        yield block("TO_BOOL", port, value != 0)
    for ms in (0, 1, 999, 1000, 90061001, -1500):
        port = {"IN": ["TIME", time_text(ms)]}
        yield block("TO_REAL", port, ms / 1000)
        yield block("TO_INT", port, ms)
    for text in ("12", "-7", "+3", "1.5", "", "abc", "1e3", "9007199254740991", "9007199254740993", "0x10", " 5", "TRUE", "false", "-0"):
        port = {"IN": ["STRING", text]}
        yield block("TO_INT", port, whole(int(text)) if text.lstrip("+-").isdigit() else None)
        decimal = text.lstrip("+-").replace(".", "", 1).replace("e", "", 1).isdigit() and text[0] != "e"
        yield block("TO_REAL", port, float(text) if decimal else None)
        yield block("TO_BOOL", port, text.upper() == "TRUE" if text.upper() in ("TRUE", "FALSE") else None)
    words = ["", "a", "A", "aa", "\uffee", "\U0001f600", "\ue000"]
    for a in words:
        for b in words:
            for name, word in (("GT", ">"), ("LE", "<="), ("EQ", "=")):
                yield block(name, {"IN1": ["STRING", a], "IN2": ["STRING", b]}, COMPARE[word]([ord(c) for c in a], [ord(c) for c in b]))
    for low, value, high in ((0, 5, 10), (0, -5, 10), (0, 15, 10), (10, 5, 0), (3, 3, 3)):
        yield block("LIMIT", {"MN": ["INT", str(low)], "IN": ["INT", str(value)], "MX": ["INT", str(high)]}, min(max(value, low), high) if low <= high else None)
    for key in (-5, 0, 1, 2, 3, 99):
        ports = {"K": ["INT", str(key)], **{f"IN{n}": ["INT", str(10 * n)] for n in range(3)}}
        yield block("MUX", ports, 10 * min(max(key, 0), 2))
    for value in (0.25, 2.0, -1.0, 0.0, 1e300):
        yield block("SQRT", {"IN": ["REAL", real_literal(value)]}, math.sqrt(value) if value >= 0 else None)
        yield block("DIV", {"IN1": ["REAL", "7.5"], "IN2": ["REAL", real_literal(value)]}, 7.5 / value if value else None)


# ---------------------------------------------------------------- timers, counters, edges


def signal(count, likely):
    state, out = rng.random() < 0.5, []
    while len(out) < count:
        out += [state] * rng.randint(1, likely)
        state = not state
    return out[:count]


def run_start(history, at):
    """First scan of the run of equal values that scan `at` belongs to."""
    while at > 0 and history[at - 1] == history[at]:
        at -= 1
    return at


def edges_of(history):
    return [at for at in range(1, len(history)) if history[at] and not history[at - 1]]


def ton(history, pt, dt):
    for at, on in enumerate(history):
        elapsed = min((at - run_start(history, at)) * dt, pt) if on else 0
        yield {"Q": on and elapsed >= pt, "ET": elapsed}


def tof(history, pt, dt):
    for at, on in enumerate(history):
        start = run_start(history, at)
        elapsed = 0 if on else pt if start == 0 else min((at - start) * dt, pt)
        yield {"Q": on or elapsed < pt, "ET": elapsed}


def tp(history, pt, dt):
    length = -(-pt // dt)
    pulses, free = [], 0
    for edge in edges_of(history):
        if edge >= free and pt > 0:
            pulses.append(edge)
            free = edge + length + 1
    for at, on in enumerate(history):
        last = max((pulse for pulse in pulses if pulse <= at), default=None)
        elapsed = 0 if last is None else min((at - last) * dt, pt)
        done = last is not None and elapsed >= pt
        if done and not all(history[last + length : at + 1]):
            elapsed = 0
        yield {"Q": last is not None and not done, "ET": elapsed}


def up(clock, reset, preset):
    for at in range(len(clock)):
        since = max((scan for scan in range(at + 1) if reset[scan]), default=-1)
        count = sum(1 for edge in edges_of(clock) if since < edge <= at)
        yield {"Q": count >= preset, "CV": count}


def down(clock, load, preset):
    for at in range(len(clock)):
        since = max((scan for scan in range(at + 1) if load[scan]), default=-1)
        count = (preset if since >= 0 else 0) - sum(1 for edge in edges_of(clock) if since < edge <= at)
        yield {"Q": count <= 0, "CV": count}


def up_down(ups, downs, reset, load, preset):
    """Both edges in one scan cancel, as does an edge under R or LD."""
    for at in range(len(ups)):
        since = max((scan for scan in range(at + 1) if reset[scan] or load[scan]), default=-1)
        start = 0 if since < 0 or reset[since] else preset
        count = start + sum(1 for edge in edges_of(ups) if since < edge <= at) - sum(1 for edge in edges_of(downs) if since < edge <= at)
        yield {"QU": count >= preset, "QD": count <= 0, "CV": count}


def latch(sets, resets, set_dominant):
    """The last scan in which set or reset was TRUE decides; where both were, the dominant one."""
    for at in range(len(sets)):
        last = max((scan for scan in range(at + 1) if sets[scan] or resets[scan]), default=None)
        yield {"Q1": last is not None and sets[last] and (set_dominant or not resets[last])}


def timers():
    def row(name, params, dt, inputs, outputs):
        outputs = list(outputs)
        return {
            "block": name,
            "params": params,
            "dt": dt,
            "in": {port: [int(value) for value in values] for port, values in inputs.items()},
            "out": {port: [int(scan[port]) for scan in outputs] for port in outputs[0]},
        }

    for name, compute in (("TON", ton), ("TOF", tof), ("TP", tp)):
        for pt in (0, 50, 100, 250, 300, 1000):
            for dt in (50, 100, 70):
                history = signal(60, 8)
                yield row(name, {"PT": time_text(pt)}, dt, {"IN": history}, compute(history, pt, dt))
    for preset in (0, 1, 3, -2):
        for _ in range(4):
            clock, other = signal(60, 3), [rng.random() < 0.06 for _ in range(60)]
            yield row("CTU", {"PV": preset}, 100, {"CU": clock, "R": other}, up(clock, other, preset))
            yield row("CTD", {"PV": preset}, 100, {"CD": clock, "LD": other}, down(clock, other, preset))
        ups, downs = signal(60, 3), signal(60, 3)
        reset, load = ([rng.random() < 0.05 for _ in range(60)] for _ in range(2))
        yield row("CTUD", {"PV": preset}, 100, {"CU": ups, "CD": downs, "R": reset, "LD": load}, up_down(ups, downs, reset, load, preset))
    for _ in range(6):
        one, other = signal(60, 4), signal(60, 4)
        yield row("SR", {}, 100, {"S1": one, "R": other}, latch(one, other, True))
        yield row("RS", {}, 100, {"S": one, "R1": other}, latch(one, other, False))
    for _ in range(4):
        clock = signal(60, 4)
        rises = [{"Q": at in edges_of(clock)} for at in range(60)]
        falls = [{"Q": at > 0 and clock[at - 1] and not clock[at]} for at in range(60)]
        yield row("R_TRIG", {}, 100, {"CLK": clock}, rises)
        yield row("F_TRIG", {}, 100, {"CLK": clock}, falls)


save("expressions.jsonl", expressions())
save("blocks.jsonl", blocks())
save("timers.jsonl", timers())

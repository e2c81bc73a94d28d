# COMTRADE records (recordings of electric networks) by comtrade-pysharp, whose parser is in C#: text and binary data,
# chosen channels, every n-th sample, and files that are wrong.
import hashlib
import math
import struct
import sys
from pathlib import Path

import numpy as np
from comtrade_pysharp import read_comtrade

SAMPLES, RATE = 4000, 4000.0


def write(place, kind, year):
    lines = [f"Station,Device,{year}", "6,4A,2D"]
    for n, name in enumerate(["VA", "VB", "VC", "IN"], 1):
        lines.append(f"{n},{name},{name[-1]},line,V,{0.01 * n},{-0.5 * n},0,-32767,32767,100,1,P")
    for n, name in enumerate(["TRIP", "CLOSE"], 1):
        lines.append(f"{n},{name},,line,0")
    lines += ["50", "1", f"{RATE},{SAMPLES}", "21/03/2024,10:11:12.000250", "21/03/2024,10:11:12.250000", kind, "1"]
    Path(place + ".cfg").write_text("\r\n".join(lines) + "\r\n")
    rows = []
    for i in range(SAMPLES):
        analog = [round(20000 * math.sin(2 * math.pi * (50 * i / RATE + n / 3))) for n in range(3)] + [i % 97 - 40]
        rows.append((i + 1, round(i * 1e6 / RATE), analog, [int(i > 1000), int(i % 50 < 7)]))
    if kind == "ASCII":
        text = "".join(",".join(map(str, [n, time, *analog, *digital])) + "\r\n" for n, time, analog, digital in rows)
        Path(place + ".dat").write_text(text)
    else:
        code = {"BINARY": "h", "BINARY32": "i", "FLOAT32": "f"}[kind]
        data = b"".join(struct.pack(f"<II4{code}H", n, time, *analog, digital[0] | digital[1] << 1)
                        for n, time, analog, digital in rows)
        Path(place + ".dat").write_bytes(data)


def show(title, record):
    times = record.timestamps
    print(title, len(times), times[0].minute, times[0].second, times[0].microsecond, times[-1].microsecond)
    for kind in (record.analog, record.digital):
        for name, values in kind.items():
            digest = hashlib.sha256(np.ascontiguousarray(values).tobytes()).hexdigest()[:16]
            print(" ", name, values.dtype, len(values), values[0], values[-1], float(np.sum(values)), digest)


def attempt(title, action):
    try:
        show(title, action())
    except Exception as error:
        print(title, type(error).__name__, str(error).split("\n")[0])


for kind, year in [("ASCII", 1991), ("ASCII", 1999), ("BINARY", 1999), ("BINARY32", 2013), ("FLOAT32", 2013)]:
    place = f"{kind.lower()}-{year}"
    write(place, kind, year)
    attempt(place, lambda: read_comtrade(place + ".cfg"))
attempt("chosen", lambda: read_comtrade("binary-1999.cfg", ["VB", "IN"], ["CLOSE"]))
attempt("every seventh", lambda: read_comtrade("ascii-1999.cfg", None, None, 7))
attempt("missing", lambda: read_comtrade("missing.cfg"))
Path("bad.cfg").write_text("Station,Device,1999\r\nmany,4A,2D\r\n")
attempt("bad", lambda: read_comtrade("bad.cfg"))

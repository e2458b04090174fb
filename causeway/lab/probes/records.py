"""Write a file record by record, each synced, and say how long each took: a job that must not lose what it was told.

Runs on a node, by its own Python (standard library alone), with the file's name, how many records of 1 MiB, and the
seconds between the beginnings of two as arguments. Prints JSON: when each call began (seconds after the first), how
long it took, and the error that ended it, or "".
"""

import json
import os
import sys
import time

SIZE = 2**20


def record(number: int) -> bytes:
    """What a record has."""
    return number.to_bytes(4, "big") * (SIZE // 4)


def main() -> None:
    name, count, each_s = sys.argv[1], int(sys.argv[2]), float(sys.argv[3])
    begin, calls, error = time.monotonic(), list[tuple[float, float]](), ""
    file = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    try:
        for number in range(count):
            time.sleep(max(0.0, begin + number * each_s - time.monotonic()))
            at = time.monotonic()
            os.write(file, record(number))
            os.fsync(file)
            calls.append((round(at - begin, 3), round(time.monotonic() - at, 3)))
        os.close(file)
    except OSError as end:
        error = os.strerror(end.errno or 0)
    print(json.dumps({"calls": calls, "error": error}))


if __name__ == "__main__":
    main()

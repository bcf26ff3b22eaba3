"""Records what Python makes of the case of every code point.

    python3.11 tests/parity/casefold.py > tests/parity/vectors/casefold.json

Python 3.11 has Unicode 14.0.0. Code points that it does not assign are listed as ranges: a newer
Unicode may fold letters among them.
"""

import json
import sys
import unicodedata

SURROGATES = range(0xD800, 0xE000)

assert sys.version_info[:2] == (3, 11), "record with Python 3.11"
folds, unassigned = [], []
for code in range(sys.maxunicode + 1):
    if code in SURROGATES:
        continue
    character = chr(code)
    folded = character.casefold()
    if folded != character:
        folds.append([character, folded])
    if unicodedata.category(character) == "Cn":
        if unassigned and unassigned[-1][1] == code - 1:
            unassigned[-1][1] = code
        else:
            unassigned.append([code, code])
vectors = {"unicode": unicodedata.unidata_version, "unassigned": unassigned, "folds": folds}
json.dump(vectors, sys.stdout, ensure_ascii=True, separators=(",", ":"))
print()

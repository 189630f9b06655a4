"""How a person reads a name: neither marks that nobody sees nor letters that look alike make it another one."""

import unicodedata
from functools import lru_cache
from typing import Final

_LOOK_ALIKE: Final = str.maketrans(
    "\u0410\u0412\u0415\u041a\u041c\u041d\u041e\u0420\u0421\u0422\u0425\u0430\u0435\u043e\u0440\u0441\u0443\u0445\u0456\u0458\u0455\u0501"
    "\u0391\u0392\u0395\u0396\u0397\u0399\u039a\u039c\u039d\u039f\u03a1\u03a4\u03a5\u03a7\u03bf\u03bd\u03b9\u0131",
    "ABEKMHOPCTXaeopcyxijsdABEZHIKMNOPTYXovii",
)


@lru_cache(maxsize=4096)
def readings(name: str) -> tuple[str, ...]:
    """What a name can be read as, white space folded: itself, without what cannot be seen, and in Latin letters."""
    folded = " ".join(name.split())
    if folded.isascii():
        return (folded,)
    plain = "".join(char for char in unicodedata.normalize("NFKC", folded) if unicodedata.category(char) != "Cf")
    return tuple(dict.fromkeys((folded, " ".join(plain.split()), " ".join(plain.translate(_LOOK_ALIKE).split()))))

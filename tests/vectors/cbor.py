"""The little CBOR (RFC 8949) that the protocol uses: unsigned and negative integers, byte strings, booleans,
definite arrays. The writer is canonical. The reader is lenient about long forms; the caller writes again what
it has read and compares, which is what decision C1 asks for."""


class Malformed(Exception):
    """The bytes are not the item that was expected."""


def head(major, value):
    major <<= 5
    if value < 24:
        return bytes([major | value])
    for info, size in ((24, 1), (25, 2), (26, 4), (27, 8)):
        if value < 1 << (8 * size):
            return bytes([major | info]) + value.to_bytes(size, "big")
    raise ValueError(f"{value} does not fit 64 bits")


def dumps(items):
    """An array of ints, bools, byte strings and such arrays."""
    out = head(4, len(items))
    for item in items:
        if isinstance(item, list):
            out += dumps(item)
        elif isinstance(item, bool):
            out += b"\xf5" if item else b"\xf4"
        elif isinstance(item, int):
            out += head(0, item) if item >= 0 else head(1, -1 - item)
        else:
            out += head(2, len(item)) + item
    return out


class Reader:
    def __init__(self, data):
        self.data, self.at = data, 0

    def take(self, length):
        end = self.at + length
        if end > len(self.data):
            raise Malformed
        piece, self.at = self.data[self.at : end], end
        return piece

    def _head(self):
        first = self.take(1)[0]
        major, info = first >> 5, first & 31
        if info < 24:
            return major, info
        if info > 27:
            raise Malformed
        return major, int.from_bytes(self.take(1 << (info - 24)), "big")

    def array(self, length=None):
        major, found = self._head()
        if major != 4 or length not in (None, found):
            raise Malformed
        return found

    def uint(self, bits):
        major, value = self._head()
        if major != 0 or value >> bits:
            raise Malformed
        return value

    def int8(self):
        major, value = self._head()
        if major > 1 or value > 127:
            raise Malformed
        return value if major == 0 else -1 - value

    def bool(self):
        byte = self.take(1)
        if byte not in (b"\xf4", b"\xf5"):
            raise Malformed
        return byte == b"\xf5"

    def bytes(self, length=None):
        major, size = self._head()
        if major != 2:
            raise Malformed
        data = self.take(size)
        if length is not None and size != length:
            raise Malformed
        return data

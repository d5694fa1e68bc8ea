"""The symbols that every vocabulary begins with.

Each name holds a space inside. No kind of tokenizer makes a token with a space inside,
so a text that contains such a name is still only text.
"""

__all__ = ["BEGIN", "END", "PAD", "SPECIAL", "UNKNOWN"]

SPECIAL = ("< pad >", "< begin >", "< end >", "< unknown >")
PAD, BEGIN, END, UNKNOWN = range(len(SPECIAL))

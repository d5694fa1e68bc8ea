"""How objects show themselves in a notebook."""

from html import escape

__all__ = ["Printed"]


class Printed:
    """Shows in a notebook what it prints elsewhere."""

    def _repr_html_(self) -> str:
        return f"<pre>{escape(repr(self))}</pre>"

"""Lower-cased, normalised and tokenised text as machine translation is scored on: LANGUAGE IN.gz OUT."""

import gzip
import sys
from pathlib import Path

from sacremoses import MosesPunctNormalizer, MosesTokenizer


def main() -> None:
    """Cut each line; whatever space is left inside becomes a plain one."""
    language, packed, out = sys.argv[1:]
    normalizer, tokenizer = MosesPunctNormalizer(language), MosesTokenizer(language)
    lines = gzip.decompress(Path(packed).read_bytes()).decode().removesuffix("\n").split("\n")
    cut = (tokenizer.tokenize(normalizer.normalize(line.lower())) for line in lines)
    Path(out).write_text("".join(" ".join(" ".join(tokens).split()) + "\n" for tokens in cut))


if __name__ == "__main__":
    main()

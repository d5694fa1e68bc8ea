"""Makes `old_run/`, the run of version 0.1.0 that every later version must still load. Not run by tests."""

import json
import shutil
from pathlib import Path

import seq2see

HERE = Path(__file__).parent
WORDS = ("bam", "dost", "feir", "gulm")


def main() -> None:
    """Train a very small model and keep what it says."""
    words = [f"{a}{b}{c}" for a in "bdfgk" for b in ("a", "ei", "o", "ul") for c in ("m", "st", "r")]
    data = HERE / "pairs.tsv"
    data.write_text("".join(f"{word}\t{' '.join(word[::-1])}\tN;{word[0]}\n" for word in words))
    shutil.rmtree(HERE / "old_run", ignore_errors=True)
    settings = [
        *("model.width=8", "model.encoder.layers=1", "model.decoder.layers=1", "model.encoder.heads=2"),
        *("model.decoder.heads=2", "model.encoder.feedforward=16", "model.decoder.feedforward=16"),
        *(
            "training.batch_pairs=8",
            "training.learning_rate=0.03",
            "training.evaluate_every=100",
            "model.dropout=0",
        ),
    ]
    run = HERE / "old_run"
    model = seq2see.train(data, out=str(run), settings=settings, max_steps=200, features="3")
    features = [f"N;{word[0]}" for word in WORDS]
    said = {
        "outputs": model(WORDS, features),
        "scores": list(model.score((w, " ".join(w[::-1]), f) for w, f in zip(WORDS, features, strict=True))),
    }
    (run / "said.json").write_text(json.dumps(said, indent=1) + "\n")
    for extra in ("state", "tensorboard"):
        shutil.rmtree(run / extra)
    (run / "metrics.jsonl").unlink()
    data.unlink()


if __name__ == "__main__":
    main()

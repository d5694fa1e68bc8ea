"""Makes the runs of version 0.1.0 that every later version must still load. Not run by tests."""

import json
import shutil
import tempfile
from pathlib import Path

import seq2see
from seq2see.training.log import read_log

HERE = Path(__file__).parent
WORDS = ("bam", "dost", "feir", "gulm")
COMMON = ("training.batch_pairs=8", "training.learning_rate=0.03", "training.evaluate_every=40")
SMALL = (
    *("model.width=8", "model.encoder.layers=1", "model.decoder.layers=1", "model.encoder.heads=2"),
    *("model.decoder.heads=2", "model.encoder.feedforward=16", "model.decoder.feedforward=16"),
)
RECURRENT = ("model.width=8", "model.encoder.kind=recurrent", "model.decoder.kind=recurrent")
CHARACTERS = ("text.target.kind=characters", "text.shared=true", "model.share_embeddings=true")
KINDS: dict[str, tuple[str, ...]] = {
    "features": (*SMALL, "model.dropout=0"),
    "recurrent": (*RECURRENT, "model.decoder.output=luong", "model.decoder.input_feeding=true"),
    "pointer": (*RECURRENT, *CHARACTERS, "model.pointer=true"),
    "convolution": (
        *("model.width=8", "model.encoder.kind=convolution", "model.encoder.positions=learned"),
        *("model.decoder.layers=1", "model.decoder.heads=2", "model.decoder.feedforward=16"),
        "model.max_length=512",
    ),
    "shared": (*SMALL, *CHARACTERS, "model.encoder.norm=after", "model.encoder.positions=sinusoidal"),
    "hybrid": (
        *("model.width=8", "model.encoder.layers=1", "model.encoder.heads=2", "model.encoder.feedforward=16"),
        *("model.decoder.kind=recurrent", "model.decoder.self_attention=dot", "model.tie_output=false"),
    ),
}
"""Every kind of encoder and decoder, of positions on the source, of embedding and of output."""


def main() -> None:
    """Train a very small model of each kind, and keep what it says; each can be resumed."""
    folder = HERE / "old_runs"
    folder.mkdir(exist_ok=True)
    words = [f"{a}{b}{c}" for a in "bdfgk" for b in ("a", "ei", "o", "ul") for c in ("m", "st", "r")]
    data = folder / "pairs.tsv"
    data.write_text("".join(f"{word}\t{' '.join(word[::-1])}\tN;{word[0]}\n" for word in words))
    features = [f"N;{word[0]}" for word in WORDS]
    for name, settings in KINDS.items():
        run = folder / name
        shutil.rmtree(run, ignore_errors=True)
        options = {"features": "3"} if name == "features" else {}
        model = seq2see.train(data, out=str(run), settings=[*COMMON, *settings], max_steps=80, **options)
        tags = features if options else [""] * len(WORDS)
        said = {
            "outputs": model(WORDS, tags),
            "scores": list(model.score((w, " ".join(w[::-1]), t) for w, t in zip(WORDS, tags, strict=True))),
        }
        shutil.rmtree(run / "tensorboard")
        (run / "said.json").write_text(
            json.dumps(said | {"losses": losses_after(run, data)}, indent=1) + "\n"
        )


def losses_after(run: Path, data: Path) -> list[float]:
    """The losses of ten further steps, taken by a copy of a run."""
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "run"
        shutil.copytree(run, copy)
        seq2see.train(data, out=str(copy), max_steps=90, resume=True)
        records = read_log(copy / "metrics.jsonl")
    return [record["loss"] for record in records if "loss" in record and record["step"] > 80]


if __name__ == "__main__":
    main()

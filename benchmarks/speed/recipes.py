"""The same work in each tool's own words: settings for training, with looks and saves past the end."""

from pathlib import Path
from typing import Any

from benchmarks.speed.tasks import Text

__all__ = ["eole", "joeynmt", "marian", "seq2see", "yoyodyne"]

_RATE = 0.002


def seq2see(text: Text, **training: Any) -> dict[str, Any]:
    """A recipe of seq2see with the arithmetic of Marian, so that others can take the weights over."""
    task = text.task
    part = {
        "kind": "transformer",
        "layers": task.layers,
        "heads": task.heads,
        "feedforward": task.feedforward,
        "activation": "relu",
        "norm": "after",
        "positions": "sinusoidal",
    }
    symbols = {"kind": "symbols", "size": 1_000_000}
    return {
        "text": {"source": symbols, "target": symbols, "shared": True},
        "model": {
            "width": task.width,
            "dropout": task.dropout,
            "attention_dropout": 0.0,
            "share_embeddings": True,
            "tie_output": True,
            "encoder": part,
            "decoder": part,
        },
        "training": {
            "batch_tokens": task.batch_tokens or 1_000_000,
            "batch_pairs": task.batch_pairs,
            "learning_rate": _RATE,
            "label_smoothing": task.smoothing,
            "device": "cpu",
            **training,
        },
    }


def marian(text: Text, steps: int, folder: Path) -> dict[str, Any]:
    """What `marian_train.py` reads."""
    task = text.task
    return {
        "model": {
            "layers": task.layers,
            "width": task.width,
            "feedforward": task.feedforward,
            "heads": task.heads,
            "dropout": task.dropout,
        },
        "types": str(text.file("types.txt")),
        "source": str(text.file("train.src")),
        "target": str(text.file("train.tgt")),
        "pairs": text.batch_pairs,
        "steps": steps,
        "rate": _RATE,
        "smoothing": task.smoothing,
        "folder": str(folder),
    }


def eole(text: Text, steps: int, window: int, folder: Path) -> dict[str, Any]:
    """A configuration of eole that tells its speed after every `window` updates."""
    task, types = text.task, str(text.file("types.txt"))
    files = {
        name: {"path_src": str(text.file(f"{part}.src")), "path_tgt": str(text.file(f"{part}.tgt"))}
        for name, part in (("corpus", "train"), ("valid", "dev"))
    }
    return {
        "save_data": str(folder / "data"),
        "overwrite": True,
        "seed": 1,
        "report_every": window,
        "src_vocab": types,
        "tgt_vocab": types,
        "share_vocab": True,
        "vocab_size_multiple": 1,
        "n_sample": 0,
        "data": files,
        "transforms": [],
        "training": {
            "model_path": str(folder / "model"),
            "save_checkpoint_steps": steps,
            "train_steps": steps,
            "valid_steps": steps + 1,
            "world_size": 1,
            "gpu_ranks": [],
            "batch_type": "tokens" if task.batch_tokens else "sents",
            "batch_size": task.batch_tokens or task.batch_pairs,
            "batch_size_multiple": 1,
            "accum_count": [1],
            "compute_dtype": "fp32",
            "use_amp": False,
            "optim": "adam",
            "adam_beta2": 0.98,
            "learning_rate": _RATE,
            "decay_method": "none",
            "bucket_size": 30_000,
            "num_workers": 0,
            "dropout": [task.dropout],
            "attention_dropout": [0.0],
            "max_grad_norm": 0,
            "label_smoothing": task.smoothing,
            "param_init_method": "xavier_uniform",
            "normalization": "tokens",
        },
        "model": {
            "architecture": "transformer",
            "hidden_size": task.width,
            "layers": task.layers,
            "heads": task.heads,
            "transformer_ff": task.feedforward,
            "share_embeddings": True,
            "share_decoder_embeddings": True,
            "add_qkvbias": True,
            "add_ffnbias": True,
            "embeddings": {
                "word_vec_size": task.width,
                "position_encoding_type": "SinusoidalInterleaved",
            },
        },
    }


def joeynmt(text: Text, steps: int, window: int, folder: Path) -> dict[str, Any]:
    """A configuration of JoeyNMT that tells its speed after every `window` updates."""
    task = text.task
    side = {
        "max_length": 100,
        "lowercase": False,
        "normalize": False,
        "level": "word",
        "voc_file": str(text.file("types.txt")),
    }
    part = {
        "type": "transformer",
        "num_layers": task.layers,
        "num_heads": task.heads,
        "embeddings": {"embedding_dim": task.width, "scale": True, "dropout": task.dropout},
        "hidden_size": task.width,
        "ff_size": task.feedforward,
        "dropout": task.dropout,
        "layer_norm": "post",
    }
    return {
        "name": "speed",
        "joeynmt_version": "2.3.0",
        "model_dir": str(folder / "model"),
        "use_cuda": False,
        "fp16": False,
        "random_seed": 1,
        "data": {
            **{part: str(text.file(part)) for part in ("train", "dev", "test")},
            "dataset_type": "plain",
            "src": {"lang": "src", **side},
            "trg": {"lang": "tgt", **side},
        },
        "testing": {"batch_size": 32, "batch_type": "sentence", "beam_size": 1, "eval_metrics": []},
        "training": {
            "overwrite": True,
            "optimizer": "adam",
            "adam_betas": [0.9, 0.98],
            "learning_rate": _RATE,
            "scheduling": "warmupinversesquareroot",
            "learning_rate_warmup": 100,
            "normalization": "tokens",
            "loss": "crossentropy",
            "label_smoothing": task.smoothing,
            "batch_type": "token" if task.batch_tokens else "sentence",
            "batch_size": task.batch_tokens or task.batch_pairs,
            "early_stopping_metric": "loss",
            "epochs": 100,
            "updates": steps,
            "validation_freq": 100_000,
            "logging_freq": window,
            "shuffle": True,
            "print_valid_sents": [0],
            "keep_best_ckpts": 1,
        },
        "model": {
            "initializer": "xavier_uniform",
            "init_gain": 1.0,
            "bias_initializer": "zeros",
            "embed_initializer": "xavier_uniform",
            "embed_init_gain": 1.0,
            "tied_embeddings": True,
            "tied_softmax": True,
            "encoder": part,
            "decoder": part,
        },
    }


def yoyodyne(text: Text, steps: int, folder: Path) -> dict[str, Any]:
    """A configuration of yoyodyne whose callback notes every update."""
    task = text.task
    return {
        "seed_everything": 1,
        "trainer": {
            "accelerator": "cpu",
            "max_steps": steps,
            "limit_val_batches": 0,
            "num_sanity_val_steps": 0,
            "enable_progress_bar": False,
            "logger": {
                "class_path": "lightning.pytorch.loggers.CSVLogger",
                "init_args": {"save_dir": str(folder)},
            },
            "callbacks": [
                {"class_path": "yoyodyne_speed.Speed", "init_args": {"path": str(folder / "speed.json")}}
            ],
        },
        "checkpoint": {"every_n_epochs": steps},
        "data": {
            "model_dir": str(folder),
            "train": str(text.file("train.tsv")),
            "val": str(text.file("dev.tsv")),
            "source_sep": " ",
            "target_sep": " ",
            "batch_size": text.batch_pairs,
        },
        "model": {
            "class_path": "yoyodyne.models.TransformerModel",
            "init_args": {
                "source_encoder": {
                    "class_path": "yoyodyne.models.modules.TransformerEncoder",
                    "init_args": {
                        "embedding_size": task.width,
                        "hidden_size": task.feedforward,
                        "layers": task.layers,
                        "attention_heads": task.heads,
                        "dropout": task.dropout,
                    },
                },
                "embedding_size": task.width,
                "decoder_hidden_size": task.feedforward,
                "decoder_layers": task.layers,
                "decoder_attention_heads": task.heads,
                "decoder_dropout": task.dropout,
                "label_smoothing": task.smoothing,
                "optimizer": {"class_path": "torch.optim.Adam", "init_args": {"lr": _RATE}},
            },
        },
    }

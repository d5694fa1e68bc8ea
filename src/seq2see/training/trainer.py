"""The training loop. Knows a model, batches and a way to validate; nothing of text."""

import math
import time
from collections.abc import Callable, Collection, Iterator
from contextlib import AbstractContextManager, nullcontext
from itertools import islice
from typing import Any

import torch

from seq2see.data.batches import Batch, Stream
from seq2see.errors import TrainingError
from seq2see.evaluation import METRICS
from seq2see.models import Network
from seq2see.models.weights import load_weights, read_tensors, weights_of
from seq2see.training.checkpoint import Checkpoints, Progress
from seq2see.training.depths import Depths
from seq2see.training.log import Log
from seq2see.training.optimizer import make_optimizer
from seq2see.training.report import Look, Report, Step
from seq2see.training.schedule import learning_rate
from seq2see.training.settings import TrainingSettings
from seq2see.training.signals import Interruption

__all__ = ["Trainer"]

Validate = Callable[[Network], dict[str, float]]


class Trainer:
    """Trains a model on batches, looking at the dev set now and then, until the steps are done."""

    def __init__(
        self,
        model: Network,
        batches: Stream,
        validate: Validate,
        settings: TrainingSettings,
        checkpoints: Checkpoints,
        report: Report,
        data_name: str = "the data",
        dev_sources: int = 1,
        taken: Collection[str] | None = None,
    ) -> None:
        """`taken` names the weights that came from another run, if there was one."""
        self.model = model
        self.batches = batches
        self.validate = validate
        self.settings = settings
        self.checkpoints = checkpoints
        self.report = report
        self.data_name = data_name
        self.dev_sources = dev_sources
        self.device = next(model.parameters()).device
        self.depths = Depths(model, settings, taken)
        self.optimizer = make_optimizer(model, settings, self.depths.scales)
        self.progress = Progress()
        self.interrupted: int | None = None
        """The signal that ended the run early, if one did."""

    def resume(self) -> None:
        """Go on from the saved state."""
        self.progress = self.checkpoints.restore(self.model, self.optimizer)
        self.batches.restore(self.progress.data)
        self.progress.finished = self.progress.finished and self._done()

    def run(self) -> Progress:
        """Train to the end; an interruption saves the state and ends early with `finished` unset."""
        if self.progress.step == 0:
            self.checkpoints.save(self.model, self.optimizer, self.progress)
        if not self.progress.finished:
            with (
                Log(self.checkpoints.folder, self.progress.step) as log,
                Interruption(self.report.note) as interruption,
            ):
                self._train(log, interruption)
                self.interrupted = interruption.asked
                if self._done():
                    self._finish(log)
        if self.progress.finished:
            self._take_best()
        return self.progress

    def _train(self, log: Log, interruption: Interruption) -> None:
        stream = iter(self.batches)
        start = time.perf_counter() - self.progress.seconds
        while not self._done() and interruption.asked is None:
            record = self._step(stream, start)
            log.write(record.numbers())
            self.report.step(record)
            due = self.progress.step % self.settings.evaluate_every == 0 or self._done()
            if due:
                self._look(log)
                self.progress.seconds = time.perf_counter() - start
            if due or interruption.asked or self.progress.step % self.settings.save_every == 0:
                log.flush()
                self.checkpoints.save(self.model, self.optimizer, self.progress)

    def _step(self, stream: Iterator[Batch], start: float) -> Step:
        """One update of the weights, from one or more batches; training began at `start` on the clock."""
        self.model.train()
        began = time.perf_counter()
        parts = [batch.to(self.device) for batch in islice(stream, self.settings.accumulate)]
        # Where time or tokens run out before the steps do, the schedule keeps pace with them.
        rate = learning_rate(max(self.progress.step + 1, self._share() * self.settings.steps), self.settings)
        for group in self.optimizer.param_groups:
            group["lr"] = rate * group["scale"]
        self.depths.set(self.progress.step)
        self.optimizer.zero_grad(set_to_none=True)
        try:
            total, count = self._gradients(parts)
        except (RuntimeError, MemoryError) as error:
            if not _memory_is_full(error):
                raise
            raise TrainingError(
                f"the memory of {self.device} is full; start a new run with a lower training.batch_tokens "
                f"(now {self.settings.batch_tokens}) and a higher training.accumulate"
            ) from None
        norm = torch.nn.utils.clip_grad_norm_(self.model.parameters(), self.settings.clip or math.inf).item()
        if not (math.isfinite(total) and math.isfinite(norm)):
            raise TrainingError(self._not_finite(parts, total, norm))
        self.optimizer.step()
        self.progress.step += 1
        tokens = round(count)
        self.progress.tokens += tokens
        self.progress.data = self.batches.state()
        now = time.perf_counter()
        self.progress.seconds = now - start
        return Step(
            self.progress.step,
            self.settings.steps,
            self.batches.epoch,
            total,
            rate,
            norm,
            tokens,
            tokens / (now - began),
            self.progress.seconds,
            self._share(),
            "examples" if tokens == sum(len(part.lines) for part in parts) else "tokens",
        )

    def _gradients(self, parts: list[Batch]) -> tuple[float, float]:
        """Add up the gradients of batches; gives the loss of each token or example, and their number."""
        losses = []
        for batch in parts:
            with self._precision():
                loss = self.model(batch)
            # One batch is divided by its own count; several have a common one, known after the last of them.
            (loss.total / (loss.count if len(parts) == 1 else 1)).backward()
            losses.append((loss.total.detach(), loss.count))
        count = sum(float(count) for _, count in losses)
        if len(parts) > 1:
            for parameter in self.model.parameters():
                if parameter.grad is not None:
                    parameter.grad /= count
        return sum(float(total) for total, _ in losses) / count, count

    def _look(self, log: Log) -> None:
        """Score the dev set; keep the weights if they are the best so far, and for the average."""
        progress, metric = self.progress, self.settings.metric
        scores = progress.last = self._scores()
        best = self._is_best(scores)
        if best:
            progress.best = scores
            progress.looks_without_best = 0
            self.checkpoints.save_best(weights_of(self.model), {"step": progress.step, **scores})
        else:
            progress.looks_without_best += 1
        if self.settings.average:
            progress.averaged = [*progress.averaged, progress.step][-self.settings.average :]
            self.checkpoints.keep_for_average(self.model, progress.step)
        log.write({"step": progress.step, "dev": scores, "best": best})
        self.report.look(Look(progress.step, scores, metric, best))

    def _finish(self, log: Log) -> None:
        """Try the average of the last looks, and keep it if it is as good."""
        progress = self.progress
        # Where looks are few, early ones are among the last, and would pull the average back.
        looks = [step for step in progress.averaged if 3 * step >= 2 * progress.step]
        if len(looks) > 1:
            last = {name: tensor.clone() for name, tensor in weights_of(self.model).items()}
            average = self.checkpoints.average(looks)
            load_weights(self.model, average, "the average")
            scores = self._scores()
            kept = self._as_good(scores) and not self._pulls_back(scores)
            log.write({"step": progress.step, "average": scores, "best": kept})
            if kept:
                progress.best = scores
                self.checkpoints.save_best(average, {"step": progress.step, "average": True, **scores})
            load_weights(self.model, last, "the last weights")
            verdict = "kept" if kept else "worse than the best single one, which is kept"
            self.report.note(f"average of the last {len(looks)} looks: {verdict}")
        progress.finished = True
        log.flush()
        self.checkpoints.save(self.model, self.optimizer, progress)

    def _take_best(self) -> None:
        load_weights(self.model, read_tensors(self.checkpoints.weights)[0], str(self.checkpoints.weights))

    def _is_best(self, scores: dict[str, float]) -> bool:
        """Whether scores beat the best so far; of equal ones, the lower loss decides."""

        def rank(scores: dict[str, float]) -> tuple[float, float]:
            metric = METRICS[self.settings.metric]
            return scores[metric.name] * metric.direction, -scores["loss"]

        return self.progress.best is None or rank(scores) > rank(self.progress.best)

    def _as_good(self, scores: dict[str, float]) -> bool:
        """Whether the average may stand for the best look.

        The best of many looks at a small dev set is best in part by luck. Where the metric is a share of
        the dev sources, it has to beat the average by more than two standard errors of such a share. Other
        metrics have no such measure of luck; there a lower loss, which luck moves less, is enough.
        """
        best, metric = self.progress.best, METRICS[self.settings.metric]
        if best is None:
            return True
        if not metric.share:
            return self._is_best(scores) or scores["loss"] < best["loss"]
        share = min(best[metric.name], 100)  # an error rate can pass 100
        margin = 2 * math.sqrt(share * (100 - share) / self.dev_sources)
        return (best[metric.name] - scores[metric.name]) * metric.direction <= margin

    def _pulls_back(self, scores: dict[str, float]) -> bool:
        """Whether the average is worse than the last look by the metric and by the loss.

        While the learning rate falls to zero, the first of the looks can be so far behind the last one that
        their mean is behind it too.
        """
        last, metric = self.progress.last, METRICS[self.settings.metric]
        if last is None:  # a run that was begun before last scores were kept
            return False
        behind = (last[metric.name] - scores[metric.name]) * metric.direction
        return behind > 0 and last["loss"] < scores["loss"]

    def _scores(self) -> dict[str, float]:
        self.model.eval()
        with torch.inference_mode(), self._precision():
            return self.validate(self.model)

    def _done(self) -> bool:
        patience = self.settings.patience
        tired = patience is not None and self.progress.looks_without_best >= patience
        return self._share() >= 1 or tired

    def _share(self) -> float:
        """How much of the budget is spent: of steps, time or tokens, whichever ends first."""
        progress, settings = self.progress, self.settings
        return max(
            progress.step / settings.steps,
            progress.seconds / (60 * settings.minutes) if settings.minutes is not None else 0.0,
            progress.tokens / settings.tokens if settings.tokens is not None else 0.0,
        )

    def _precision(self) -> AbstractContextManager[Any]:
        if self.settings.precision == "float32":
            return nullcontext()
        return torch.autocast(self.device.type, dtype=torch.bfloat16)

    def _not_finite(self, parts: list[Batch], loss: float, norm: float) -> str:
        lines = sorted(int(line) for batch in parts for line in batch.lines)
        shown = ", ".join(map(str, lines[:12])) + (f" and {len(lines) - 12} more" if len(lines) > 12 else "")
        what = f"the loss became {loss}" if not math.isfinite(loss) else f"the gradient's norm became {norm}"
        return (
            f"{what} at step {self.progress.step + 1}, on lines {shown} of {self.data_name}\n"
            "look at those lines, or start a new run with a lower training.learning_rate or a longer "
            "training.warmup; the best weights so far are kept"
        )


def _memory_is_full(error: RuntimeError | MemoryError) -> bool:
    """Whether an error says that memory is full; for that of the CPU torch has no error of its own."""
    return isinstance(error, torch.OutOfMemoryError | MemoryError) or "can't allocate memory" in str(error)

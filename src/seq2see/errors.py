"""What can go wrong, and who can mend it.

Seq2seeError
├── SettingsError   a recipe, a preset or an option says something that cannot be
├── DataError       a file of pairs cannot be used as it is
├── RunError        a run directory is missing, broken or newer than this version
└── TrainingError   training cannot go on (loss is not finite, disk is full)
"""

__all__ = ["DataError", "RunError", "Seq2seeError", "SettingsError", "TrainingError"]


class Seq2seeError(Exception):
    """An error whose message is written for the user: the thing, the value, the way out."""

    exit_code = 2


class SettingsError(Seq2seeError):
    """A recipe, preset or option asks for something impossible."""


class DataError(Seq2seeError):
    """A data file cannot be used as it is."""


class RunError(Seq2seeError):
    """A run directory cannot be used."""


class TrainingError(Seq2seeError):
    """Training had to stop."""

    exit_code = 1

"""Whatever is asked, the explorer answers as its description says."""

import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from schemathesis import GenerationMode
from schemathesis.specs.openapi.checks import positive_data_acceptance

from seq2see.serving.app import explorer
from seq2see.serving.desk import Desk

PATHS = {
    "GET /",
    "GET /web/{name}",
    "GET /api/models",
    "POST /api/image",
    "POST /api/view",
    "GET /api/map/{name}/{address}/{head}",
    "GET /api/thumbnails/{name}/{address}",
    "GET /api/summary/{name}/{kind}",
}


@pytest.fixture(scope="module")
def described(runs, models):
    """The operations of the description that the explorer gives of itself."""
    desk = Desk({"a": (runs["transformer"], models["transformer"])}, "dost")
    schema = schemathesis.openapi.from_asgi("/openapi.json", explorer(desk, ["testserver"]))
    return {operation.label: operation for operation in (found.ok() for found in schema.get_all_operations())}


def test_everything_is_described(described):
    assert set(described) == PATHS


@pytest.mark.parametrize("label", sorted(PATHS))
@pytest.mark.parametrize("mode", GenerationMode)
def test_answers_are_as_described(described, label, mode):
    """Good and bad requests alike: never an answer that is not described, and never a failure inside."""
    if mode is GenerationMode.NEGATIVE and label in ("GET /", "GET /api/models"):
        pytest.skip("nothing is asked, so nothing can be asked wrongly")

    @settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)
    @given(case=described[label].as_strategy(generation_mode=mode))
    def check(case):
        # What is well formed may still name an attention or a view that is not there.
        case.call_and_validate(excluded_checks=[positive_data_acceptance])

    check()


@pytest.mark.parametrize("name", ["classes", "number", "tags", "counts"])
@pytest.mark.parametrize("mode", GenerationMode)
def test_views_of_models_that_read_are_as_described(reader_runs, readers, name, mode):
    desk = Desk({"a": (reader_runs[name], readers[name])}, "red")
    schema = schemathesis.openapi.from_asgi("/openapi.json", explorer(desk, ["testserver"]))

    @settings(max_examples=20, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)
    @given(case=schema["/api/view"]["POST"].as_strategy(generation_mode=mode))
    def check(case):
        case.call_and_validate(excluded_checks=[positive_data_acceptance])

    check()
